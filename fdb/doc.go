// Package fdb is a forwarding database: which port of a switch leads to which Ethernet address (IEEE 802.1Q clause
// 8.8, with independent learning: one table per virtual LAN).
//
//	table.go   learning, looking up, ageing
//
// Any worker looks up: an entry is one word, read and written atomically. Any worker learns, too: who finds a place
// changed between a look and the write looks again, and nobody waits. If two learn one address at once it may get two
// places; the first is the one that counts, and the second is the older. Learned entries age lazily; an old one is as
// good as none, and its place is taken when a new one needs it.
package fdb
