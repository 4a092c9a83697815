// Package telemetry is what a running switch or agent tells of itself: a snapshot of
// its counters, and a survey of its flows. Rooms below it make something of them:
// show (tables), live (what a view that moves needs, and a page), metrics (Prometheus),
// top (a terminal); admin answers for them on a socket, to which client is the other end.
package telemetry
