// Package top is `photon top`: what moves in a switch or agent, as a table that
// is drawn anew every second, or once. It asks the node's admin socket, compares
// what it says with what it said before, and shows the difference.
//
// Rates are bits on the wire: preamble, FCS and gap, 24 bytes a frame, are part
// of them, so that a full link shows its line rate. MAC control frames are not.
//
// The files, in the order in which they build on each other:
//
//	view.go            two snapshots compared
//	model.go, once.go  on a terminal; once
//	text.go            how it looks
package top
