// Package impair damages traffic on purpose: it loses, duplicates, delays, reorders, corrupts or marks what
// comes in through a port, or pauses the port as a peer would. Endpoints, and what they rely on, are tested
// with it. A Node stands between another node and its world, be that the simulator or DPDK, and is not
// there where nothing is to be impaired.
//
// The files, in the order in which they build on each other:
//
//	rule.go  what is done to which frames
//	set.go   the rules of a node's ports, which may change
//	node.go  the node that does it
package impair
