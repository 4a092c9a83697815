// Package neighbour is what a router knows of a next hop of which only the IP address is configured: whether it is
// resolved, by ARP (RFC 826) or neighbour discovery (RFC 4861), and when it is to be asked. It is asked at the start,
// again before an answer is too old, and repeatedly if there is no answer. Frames are the router's matter.
//
//	neighbour.go   states, and what changes them
//
// What is known is one word, which any worker reads and writes. The timer is one worker's.
package neighbour
