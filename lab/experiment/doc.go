// Package experiment says what is asked: an experiment is a data file with its
// topology, flows, schemes, parameters each with its source, what is measured, and
// what the paper claims. This room reads such files and finds what is wrong with
// them; it builds and runs nothing.
//
// The files, in the order in which an experiment passes them:
//
//	read.go                             a file is read
//	experiment.go                       what is in it
//	parameters.go, paths.go, impair.go  its parameters; paths and recovery; damage on purpose
//	hosts.go, names.go                  names of hosts; what is suggested for those that do not exist
//	flows.go, groups.go, workloads.go   flows, one by one, in groups and of workloads
//	flowlist.go                         all of them by their numbers, those of workloads drawn as they are asked for
//	traffic.go, known.go                those of an agent; what schemes may know of a network
//	after.go, wait.go, collectives.go   flows that wait for others; collectives
//	measurement.go, unit.go, panels.go  what is measured, in which unit, and how it is drawn
//	claim.go                            what the paper claims
//	check.go, missing.go, unused.go     what is wrong with it; keys that are missing, or change nothing
//	credits.go, pauses.go               flow control: what does not go with pauses, or with credits
//	plan.go, layout.go                  its topology is laid out, by its kind
//	describe.go                         what it will do, in words
package experiment
