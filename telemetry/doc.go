// Package telemetry serves what a running switch or agent knows of itself:
// /metrics for Prometheus, /healthz, and the runtime's profiles under
// /debug/pprof. It listens on the loopback address unless it is told otherwise,
// since nothing of it asks who is there.
//
// A scrape takes one snapshot of the counters, between two polls of the
// workers; what it costs them is the copy.
package telemetry
