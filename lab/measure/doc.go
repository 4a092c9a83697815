// Package measure turns a network at work into numbers: probes are sampled, and
// metrics are computed from the samples and from the flows that ended.
//
// The files, in the order in which a run passes them:
//
//	watch.go                           everything is sampled
//	probe.go                           probes
//	dynamics.go, deadlock.go, loop.go  the bundle `dynamics`; cycles of queues; the phase margin of a loop
//	series.go                          what was sampled
//	metric.go, lasting.go              metrics of that, and which of them the end of a run cut off
//	fct.go, slowdown.go, steps.go      of flows that ended: completion times, slowdowns, steps of collectives
package measure
