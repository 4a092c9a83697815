// Package topology lays out networks before they are built in a world: nodes,
// cables, addresses, shortest paths. Its generators are the shapes that the
// papers use; anything else is a free list of nodes and links.
//
// The files, in the order in which they build on each other:
//
//	plan.go             nodes, cables, addresses and paths
//	routes.go           the ports of each switch that lead to each host
//	kinds.go, rails.go  the shapes
//	ways.go             all shortest paths, and which of them takes least or most
//	alike.go            nodes that are alike, and what is worked out once for all of them
//	nics.go             hosts with several NICs
//	weights.go          paths by what they can carry
package topology
