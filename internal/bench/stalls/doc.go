// Stalls measures the time between two polls of a worker: of `photon switch`
// while its metrics are scraped and its configuration is changed, with and
// without Go's own way of collecting garbage, and of an equal loop in C, one
// after the other, several times. `make bench-stalls` runs it.
//
// The files, in the order in which they build on each other:
//
//	main.go             flags, rounds, the table
//	contestants.go      what is measured: a switch in three states, and the loop
//	loop.go, noloop.go  the loop in C, and where it is missing
//	gaps.go             times between polls, in buckets
package main
