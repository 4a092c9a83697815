// Package sim is the world in virtual time: it carries frames between nodes by
// an event queue, deterministically, in one goroutine or a few (split.go). A run is a function
// of its nodes and links; its trace hash says whether two runs were the same.
//
// Events are the arrivals of frames and, of each port, the next call of its node's
// Transmit. Those at one instant happen in a fixed order: arrivals before
// transmissions, ports in the order in which they were made. So no event's place
// depends on when it was scheduled. A port that an arrival wakes sends without an
// event of its own if nothing else happens at that instant: it would have been the
// next.
package sim
