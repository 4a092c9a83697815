// Package topology lays out networks before they are built in a world: nodes,
// cables, addresses, shortest paths. Its generators are the shapes that the
// papers use; anything else is a free list of nodes and links.
package topology
