// Package cnp is the notification point (NP): what a receiver does with the
// marks that switches left on the frames of a flow, and the congestion
// notification packet (CNP) that it sends to the sender.
//
// An NP counts per flow, in slots that the host's flow table hands out, and
// emits Notices; the host encodes them. Nothing allocates after construction.
//
//	np.go      what a notification point is
//	dcqcn.go, ticks.go, dcqcnplus.go, pcn.go, tcd.go, becn.go, silent.go
//	           one scheme's each; ticks.go is DCQCN's by a clock, silent.go sends none
//	fifo.go    flows with a CNP to come, in their order
//	packet.go  the CNP on the wire
//	name.go    the flow that it is about, where its queue pair does not say so
//	cnm.go     QCN's message, which the switch sends
//	carry.go   what else a scheme needs of hosts: what data and acknowledgements carry
package cnp
