// Package flowtable maps flows to small integers: slots from 0 to a fixed
// capacity, in which the rest of a node keeps what it knows of a flow. It
// allocates nothing after construction, is bounded, and forgets flows that have
// been silent for long when it is asked to. An elastic one makes its places as they
// are needed.
//
// The files, in the order in which they build on each other:
//
//	table.go   the table
//	burst.go   look-ups of many keys
//	rebase.go  the clock is set back
package flowtable
