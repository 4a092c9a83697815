// Command agent measures how well, and at what cost, a host paces many flows:
// `make bench-agent` runs it, docs/performance/agent.md says what it found.
//
// A host sends 10 to 100 000 flows of equal rates, together 8 Gbit/s of frames of
// 1000 bytes (FCS included; rates count 20 more on the wire), which begin at
// random within the first gap. The pacing error of a frame is when it left less
// when it should have: start + k gaps for the k-th frame of a flow, so that an
// error that accumulates shows.
//
//   - before contention: in virtual time, every frame leaves when it is due;
//   - after: in virtual time, through a port of 10 Gbit/s, one frame at a time;
//   - wall: as after, polled by one core, by the machine's clock without the times
//     for which the core was given to others (polls more than 5 us apart).
//
// The cost of a frame is processor time of everything a host does for it: the
// wheel, the queue, the reaction point (PCN's), the headers. All counts take
// turns, so that what disturbs the machine disturbs all; medians. Bytes per flow
// are all that a host allocates for one more flow: slot, timer, table, reaction
// point.
//
// The flow table is laid beside Go's map and DPDK's rte_hash: keys as a host has
// them (address and queue pair, 20 bytes, made of numbers), values of 32 bits, tables
// with room for all keys from the start, lookups of keys that are there in random order,
// one by one and 64 a call. rte_hash runs in a loop of its own in C, so that it pays for
// no crossing.
//
// The files, in the order in which they build on each other:
//
//	main.go                   flags, the result file
//	pacing.go                 errors and costs of pacing
//	tables.go                 flow tables
//	rtehash.go, nortehash.go  DPDK's, and where it is missing
package main
