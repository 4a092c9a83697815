package dataplane

import (
	"unsafe"

	"photon/fabric"
	"photon/units"
)

// For a burst the first two stages are one loop: each frame's key is read, and its action looked up. On amd64 that loop is
// assembly (match_amd64.s), because Go runs out of registers in it. Elsewhere it calls the stages of single frames, which
// are also what the assembly is tested against. What that brings is in docs/notes/switch-speed.md.

// match is the input of that loop, and its result.
type match struct {
	bases     unsafe.Pointer // of the pool's pieces
	pieces    uint64         // their number
	last      uint64         // where a frame may begin in its buffer at the latest
	lines     unsafe.Pointer // of the cache
	shift     uint64         // of hashes
	port      uint64         // where of the keys of frames without a tag
	in        action         // the ingress port, if actions do not name it
	most      uint64         // bytes that a frame may have beyond leastLen
	mixSecond uint64         // constants that are too long for an instruction
	mixAll    uint64
	one       uint64 // a tally of one frame
	plain     uint32 // the EtherType whose keys need no further work; none of 16 bits if the source is hidden
	hide      bool   // the source is left out of keys, because addresses are not learned

	key     key      // of the frame whose action is not known
	sums    [8]tally // of each priority
	all     action   // the bits of all actions that were found
	longest uint64   // of their frames
}

// special reports that to some of the frames more is to be done than to send them.
func (m *match) special() bool { return m.all&(actKind|tagOp) != 0 }

// knownOneByOne is known, by the stages of single frames.
func (s *Switch) knownOneByOne(p *switchPort, m *match, frames []fabric.Frame, acts []action) (known int) {
	m.all, m.longest = 0, 0
	for i := range frames {
		f := &frames[i]
		m.key = s.parseOne(p, f)
		a, ok := p.worker.cache.find(m.key)
		if !ok {
			return i
		}
		acts[i] = a | s.through(p)
		m.all |= a
		m.longest = max(m.longest, uint64(f.Len))
		m.sums[a.prio()] += tallyOf(1, units.Size(f.Len))
	}
	return len(frames)
}
