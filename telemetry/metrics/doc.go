// Package metrics serves /metrics for Prometheus and /healthz, and at another address the runtime's
// profiles under /debug/pprof. It listens on the loopback address unless it is told
// otherwise, since nothing of it asks who is there. It is apart from telemetry so
// that what only asks a node does not carry Prometheus' client with it; its tests
// lie there, beside the nodes that they show.
//
// A scrape takes one snapshot of the counters, between two polls of the
// workers; what it costs them is the copy.
//
// The files, in the order in which they build on each other:
//
//	table.go, owner.go    all metrics; which node has which
//	collector.go, nic.go  they are made of a snapshot
//	server.go             HTTP
//	document.go           docs/metrics.md
package metrics
