// Package sweep runs an experiment many times: a grid of schemes, seeds and
// settings becomes tasks that know nothing of each other. A task has an id that
// is a hash of all it depends on, and one file for its result, which is there
// whole or not at all. So tasks may run anywhere and in any order, those that
// were killed run again, and those that are done do not.
//
// There is no scheduler here: tasks run on the cores of one machine, or are
// dealt out to the elements of a Slurm job array or of a Kubernetes Indexed Job,
// which share nothing but a folder.
//
// The files, in the order in which a sweep passes them:
//
//	spec.go, grid.go, set.go         its file; its tasks; a value is put into an experiment
//	folder.go                        where tasks and results lie
//	run.go, slurm.go, kubernetes.go  tasks run, on one machine or on a cluster
//	collect.go                       results become a table
//	means.go, claims.go              means over seeds; claims judged
//	quantity.go, curves.go, page.go  settings as numbers; curves; a page of them
package sweep
