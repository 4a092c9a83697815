// Package run runs an experiment: every scheme, every value of its sweep, every seed,
// side by side as far as there are processors, and puts together what they measured.
//
// The files, in the order in which a replay passes them:
//
//	options.go     which schemes, values and seeds run
//	replay.go      the jobs of a replay, and one result of all of them
//	parallel.go    jobs side by side, with their progress
//	checkpoint.go  jobs that ended in an earlier replay, and are not run again
//	buffers.go     how many frame buffers an experiment needs on DPDK
//	single.go      one job in a world of its own (outcome.go: for other packages)
//	result.go      what a result says and how it is written (slowdowns.go: what several pictures show of it)
package run
