// Package hpccfiles reads and writes the files of the HPCC authors' simulator,
// which others of this field exchange: a topology, a list of flows and a
// configuration go in; flow completion times, pauses and queue lengths come out,
// in the columns that scripts for that simulator expect. docs/hpcc-files.md says
// what is understood, and where this simulator differs.
//
// The files, in the order in which a run passes them:
//
//	words.go                          words between white space, and where they stand
//	topology.go, flows.go, config.go  the three files
//	modes.go                          congestion control by its number
//	prepare.go                        an experiment is made of them
//	run.go                            it runs
//	queues.go, output.go              what is written of queues, flows and pauses
package hpccfiles
