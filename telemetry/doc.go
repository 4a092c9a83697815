// Package telemetry is what a running switch or agent tells of itself and lets
// itself be told: a snapshot of its counters, the admin socket and its client, and a
// page for browsers. Metrics for Prometheus are made of the same snapshot in
// telemetry/metrics.
package telemetry
