package dataplane

import (
	"unsafe"

	"photon/fabric"
	"photon/wire"
)

// What only the assembly goes by.
const (
	cacheLineShift = 6 // bits that number the bytes of a line of the cache
	keyTagLen      = wire.VLANLen
	refUnitShift   = fabric.UnitShift
	refPieceShift  = fabric.PieceShift
	refPieceMask   = fabric.PieceMask
)

// known finds the actions of frames, or of those before the first whose action the cache does not know, and counts
// these.
// It leaves the key of that one in m.
func (s *Switch) known(p *switchPort, m *match, frames []fabric.Frame, acts []action) int {
	c := &p.worker.cache
	pieces, last := p.env.Pieces()
	m.bases, m.pieces, m.last = unsafe.Pointer(unsafe.SliceData(pieces)), uint64(len(pieces)), uint64(last)
	m.lines, m.shift = unsafe.Pointer(unsafe.SliceData(c.lines)), uint64(c.shift())
	m.port, m.in, m.most = s.keyPort(p)|c.epoch<<epochShift, s.through(p), uint64(p.longest)-leastLen
	m.mixSecond, m.mixAll, m.one = mixSecond, mixAll, uint64(tallyOf(1, 0))
	if m.plain, m.hide = keyIPv4, !s.learn; m.hide {
		m.plain = 1 << 16
	}
	if len(frames) == 0 {
		return 0
	}
	return matchKnown(m, &frames[0], &acts[0], len(frames))
}

// matchKnown is knownOneByOne of at least one frame.
//
//go:noescape
func matchKnown(m *match, frames *fabric.Frame, acts *action, n int) (known int)

// This does not compile if a line has another length.
var _ [1 << cacheLineShift]byte = [unsafe.Sizeof(cacheLine{})]byte{}
