// Stalls measures the time between two polls of a worker: of `photon switch`
// while its metrics are scraped and its configuration is changed, with and
// without Go's own way of collecting garbage, and of an equal loop in C, one
// after the other, several times. `make bench-stalls` runs it.
package main
