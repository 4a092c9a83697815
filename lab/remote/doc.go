// Package remote runs an experiment on nodes that are processes elsewhere: it requests
// flows and recordings, waits, and builds a network that plays the recordings back, so
// that it is measured like a network that runs here.
//
// The files, in the order in which an experiment passes them:
//
//	check.go     what a testbed cannot do, and how nodes contradict the experiment
//	config.go    the files of nodes that are started for it
//	remarks.go   what running nodes do otherwise, for the report
//	ways.go      where switches have the hosts, and where agents send what is for them
//	run.go       nodes are reached, flows and recordings ordered, and results fetched
//	losses.go    what nodes counted until all frames had arrived, and what was lost
//	recorded.go  what was recorded, as a network
package remote
