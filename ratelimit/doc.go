// Package ratelimit holds the reaction points (RP), which turn notifications
// into the rate of one flow, and the pacer, which turns the rates of thousands
// of flows into departure times.
//
// Rates count the bits that a frame occupies on the wire, preamble and
// inter-frame gap included, so that the fair share of N flows on a link of rate
// C is C/N whatever the frame size.
//
// A reaction point's own timers (rate increase, alpha) only change its state.
// They are evaluated lazily, in order, whenever it is touched; no world has to
// wake it up.
//
//	rp.go      what a reaction point is, what it may be besides, and what it may know of its port
//	pcn.go, qcn.go, dcqcn.go, dcqcnplus.go, mlx.go, timely.go, hpcc.go, swift.go, powertcp.go, ibcc.go, none.go
//	           one scheme's reaction point each
//	tcd.go     DCQCN's behind TCD's switches
//	silence.go what timers did while nobody looked
//
// The pacer, in the order in which a flow passes it:
//
//	pacer.go      when flows may send, and which is next
//	wheel.go      until then: one timer per flow, in a timing wheel
//	timer.go      of a timer, half a cache line
//	shortlist.go  a few timers, in place of the wheel
//	slots.go      where timers lie in the wheel, and which slot is next
//	prefetch.go   asking for the memory of many flows before it is needed
//	queue.go      flows that are ready, by class, in turn by weight
//	tenant.go     groups of flows that share a cap and their turns
package ratelimit
