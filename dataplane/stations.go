package dataplane

import (
	"sync/atomic"

	"photon/wire"
)

// stations is a filter of the addresses that neighbours were found at: of others it mostly says so at once, so that a
// flood of unknown addresses costs the same whether a router has ten next hops or a thousand. Nothing is taken out of
// it. All workers use it.
type stations [256]atomic.Uint64

// place is where an address has its bit.
func (s *stations) place(mac wire.MAC) (word *atomic.Uint64, bit uint64) {
	h := uint64(mac) * 0x9E3779B97F4A7C15 >> (64 - 14) // 2^14 bits
	return &s[h>>6], 1 << (h & 63)
}

func (s *stations) add(mac wire.MAC) {
	word, bit := s.place(mac)
	word.Or(bit)
}

// mayHave is false only if the address was never added.
func (s *stations) mayHave(mac wire.MAC) bool {
	word, bit := s.place(mac)
	return word.Load()&bit != 0
}
