package dataplane

import (
	"encoding/binary"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// The third stage: what an action says of a frame's headers is done to them. A tag is put on, taken
// off or changed; one of several equal paths is chosen; a packet for the router is routed. Most frames are left as
// they are.

// rewrite does so to frames of a vector, from one on and before another. Those that go another way are
// taken out of it: it returns where the others begin and end. What came before one of which something is said leaves
// before that.
func (s *Switch) rewrite(now units.Time, p *switchPort, v *vector, burst []fabric.Frame, from, end int) (begin, left int) {
	acts := v.acts[:len(burst)]
	begin, left = from, from
	for i := from; i < end; i++ {
		f, a := &burst[i], acts[i]
		if s.back(p, a) {
			s.drop(now, p, f, a, fabric.DropNoPort)
			continue
		}
		if a&(actKind|tagOp) != 0 {
			var ok bool
			a, ok = s.rewriteOne(now, p, f, a)
			if p.worker.pending.in != nil {
				x := p.worker.takePending()
				s.enqueue(now, p, v, burst, begin, left)
				s.sendOwn(now, p, x)
				begin, left = i, i
			}
			if !ok {
				continue
			}
		}
		if f.Len > s.narrow && s.tooWide(p, f, a) {
			s.drop(now, p, f, a, fabric.DropOversize)
			continue
		}
		if acts[left] = a; left != i {
			burst[left].Copy(f)
		}
		left++
	}
	return begin, left
}

// rewriteOne does so to one frame, and returns an action that only names a port. It reports false if the
// frame has gone another way.
func (s *Switch) rewriteOne(now units.Time, p *switchPort, f *fabric.Frame, a action) (action, bool) {
	switch a & actKind {
	case actGroup:
		if a = s.choose(now, p, f, a); int(a.out()) == p.number {
			s.drop(now, p, f, a, fabric.DropNoPort)
			return a, false
		}
	case actRoute:
		var ok bool
		if a, ok = p.worker.cache.routed(p.env.Start(f), int(f.Len), a); ok {
			f.Words()[1] = 0 // its header was written to: it has no digest
			p.stats.Routed++
		} else if a, ok = s.route(now, p, f, a); !ok {
			return a, false
		}
	}
	if a&tagOp != 0 {
		point := s.tags[a.out()][a.prio()]
		own := s.ports[a.out()].config.PCPOut
		if own != nil {
			point = uint16(own[a.prio()]) << 13
		}
		if !p.retag(f, a, point|a.vlan()) {
			s.drop(now, p, f, a, fabric.DropNoMemory)
			return a, false
		}
		if own != nil && a&tagOp == tagSet {
			wire.SetPCP(p.env.Start(f)[:], own[a.prio()])
		}
	}
	return s.owned(p, a&^(actKind|tagOp)), true
}

// owned is an action that only names a port, and whether that is another worker's.
func (s *Switch) owned(p *switchPort, a action) action {
	if a &^= actAway; int(s.owner[a.out()]) != p.worker.number {
		a |= actAway
	}
	return a
}

// choose takes one of the ports of equal cost of a group.
func (s *Switch) choose(now units.Time, p *switchPort, f *fabric.Frame, a action) action {
	return a.to(s.portOf(now, p, f, a.prio(), s.lans.groups[a.out()]))
}

// retag does to a frame's tag what its action says; tci is what a new one says. It reports false if there is
// no memory for it.
func (p *switchPort) retag(f *fabric.Frame, a action, tci uint16) bool {
	b := p.env.Start(f)
	switch a & tagOp {
	case tagSet:
		to := binary.BigEndian.Uint16(b[14:16])&^wire.VLANID | a.vlan()
		binary.BigEndian.PutUint16(b[14:16], to)
	case tagPop:
		wire.PopVLANTag(b[:])
		shift(f, wire.VLANLen)
		if f.Len < wire.MinFrameLen { // IEEE 802.1Q clause 6.7: bridges pad
			short := f.Len
			f.Len = wire.MinFrameLen
			clear(p.env.Bytes(f)[short:])
		}
	case tagPush:
		if f.Off < wire.VLANLen {
			g, ok := p.env.Clone(*f)
			if !ok {
				return false
			}
			p.env.Free(*f)
			*f = g
		}
		shift(f, -wire.VLANLen)
		wire.PushVLANTag(p.env.Start(f)[:], tci)
	}
	f.Digest = 0
	return true
}

// shift moves the beginning of a frame.
func shift(f *fabric.Frame, by int) {
	f.Words()[0] += uint64(by)<<48 - uint64(by)<<32
}
