// Package accept is the acceptance run of network cards: what photon relies on in a card, asserted and measured
// on cables that lead from ports of one server to other ports of it.
//
// A run has stages, each a process of its own, since DPDK is begun once a process:
//
//	cards            stations, nodes of this package, on every port: link, wiring, flow control, line rate
//	switch           `photon switch` on one end of each cable, stations on the others: XOFF, headroom, marking
//	switch-exchanged the same with the ends exchanged, if both are ports of the switch's file
//	pacing           `photon agent` on both ends of the first cable: when frames of a flow come
//	figure11         `photon replay pcn/fig11` on a testbed, if the plan names one
//
// A station sends given streams and counts what arrives. It shares no code with the switch but DPDK's world and
// the formats of frames, so that what it says of the switch is a second opinion.
//
// The files, in the order in which a run passes them:
//
//	plan.go, describe.go              the plan of a run; what it says to the reader
//	switchfile.go, way.go             the switch's file; the ways through the switch that follow from it
//	run.go, step.go                   its stages; assertions and verdicts
//	bench.go, station.go, frames.go   the ports of a stage; streams; their frames
//	cards.go                          the stage without a switch
//	child.go                          photons that are run
//	switch.go, through.go, pauses.go, marking.go
//	                                  the stage of the switch
//	pacing.go                         the stage of agents
package accept
