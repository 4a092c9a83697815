// Package marking holds the congestion points (CP): what a switch does to the
// frames of one egress queue so that their senders learn of congestion.
//
// A CP is called when a frame leaves its queue and when the queue resumes after
// a pause, and returns a Mark. It does not touch frames: the switch marks
// only ECN-capable frames of priorities with ECN enabled, and never a CNP.
package marking
