// Package marking holds the congestion points (CP): what a switch does to the
// frames of one egress queue so that their senders learn of congestion.
//
// A CP is called when a frame leaves its queue and when the queue resumes after
// a pause, and returns a Mark. It does not touch frames: the switch marks
// only ECN-capable frames of priorities with ECN enabled, and never a CNP.
//
//	cp.go         what a congestion point is, and what it may be besides
//	red.go, npecn.go, tcd.go, ib.go
//	              those that mark: DCQCN's, PCN's, TCD's around another, InfiniBand's
//	qcn.go, afqcn.go, pacc.go
//	              those that notify senders themselves; AF-QCN's is QCN's with fairness
//	shares.go     what AF-QCN grants flows
//	telemetry.go  HPCC's and PowerTCP's, which writes into frames
//	none.go       one that does nothing
//	wred.go       RED on a lossy queue, where it also drops
package marking
