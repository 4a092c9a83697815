package dataplane_test

import (
	"sync"

	"photon/fabric"
)

// slots is memory for frames that several workers share: each has a pool over it, and free places go through
// a common list.
type slots struct {
	bytes []byte
	shift uint8
	mu    sync.Mutex
	free  []uint32
	pools []*fabric.Pool
}

// memories are kept: every trial needs one, and all of it is written before it is read.
var memories = map[int][]byte{}

// newSlots returns memory for so many frames of 1<<shift bytes, less the 128 before each.
func newSlots(n int, shift uint8) *slots {
	size := n << shift
	if memories[size] == nil {
		memories[size] = make([]byte, size)
	}
	m := &slots{bytes: memories[size], shift: shift}
	for s := range uint32(n) {
		m.free = append(m.free, s<<(shift-6))
	}
	return m
}

func (m *slots) pool(before uint16) *fabric.Pool {
	p := fabric.NewPool(m.bytes, 1<<m.shift, before, func(p *fabric.Pool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		n := max(0, len(m.free)-64)
		p.SetSlots(append(p.Slots(), m.free[n:]...))
		m.free = m.free[:n]
	})
	m.pools = append(m.pools, p)
	return p
}

// giveBack returns what a worker has too much of.
func (m *slots) giveBack(p *fabric.Pool) {
	if free := p.Slots(); len(free) > 256 {
		m.mu.Lock()
		m.free = append(m.free, free[64:]...)
		m.mu.Unlock()
		p.SetSlots(free[:64])
	}
}

// left is how many places are free, while no worker runs. None is free twice.
func (m *slots) left() (n int) {
	seen := make([]bool, len(m.bytes)>>6)
	for _, list := range append([][]uint32{m.free}, slots2(m.pools)...) {
		for _, s := range list {
			if seen[s] {
				return -1
			}
			seen[s] = true
		}
		n += len(list)
	}
	return n
}

func slots2(pools []*fabric.Pool) (all [][]uint32) {
	for _, p := range pools {
		all = append(all, p.Slots())
	}
	return all
}
