package dataplane

import (
	"errors"
	"fmt"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// FloodLimits bound what a port may have sent to all others ("storm control").
type FloodLimits struct {
	Broadcast FloodLimit
	Multicast FloodLimit // other group addresses
	Unknown   FloodLimit // unknown addresses
}

// FloodLimit is a token bucket, in frames or in bits on the wire; zero: no limit.
type FloodLimit struct {
	Frames int        // per second
	Rate   units.Rate // in place of it
	Burst  units.Size // what may come at once: frames, or bytes on the wire; at least one frame
}

// check says what is wrong with the limits of a port.
func (l *FloodLimits) check(mtu int) error {
	kinds := [...]string{"broadcast", "multicast", "unknown unicast"}
	for i, one := range [...]FloodLimit{l.Broadcast, l.Multicast, l.Unknown} {
		if err := one.check(mtu + wire.EthernetLen + wire.VLANLen); err != nil {
			return fmt.Errorf("storm control of %s: %w", kinds[i], err)
		}
	}
	return nil
}

// check says what is wrong with a limit for frames of at most so many bytes.
func (l FloodLimit) check(longest int) error {
	const most = 1000 // seconds of the rate that a burst may be worth: the arithmetic holds
	switch {
	case l == FloodLimit{}:
		return nil
	case l.Frames < 0 || l.Rate < 0 || (l.Frames == 0) == (l.Rate == 0):
		return errors.New("it has a positive rate, in frames or in bits per second")
	case l.Frames > 0 && (l.Burst < 1 || l.Burst > most*units.Size(l.Frames)):
		return fmt.Errorf("a burst is from 1 frame to %d seconds of the rate, not %d", most, l.Burst)
	case l.Rate > 0 && (l.Burst < units.Size(longest+wire.Overhead) || l.Rate.Serialize(l.Burst) > most*units.Second):
		return fmt.Errorf("a burst is from the longest frame, %d bytes on the wire, to %d seconds of the rate, not %v", longest+wire.Overhead, most, l.Burst)
	}
	return nil
}

// bucket is a token bucket as the generic cell rate algorithm has it (ITU-T
// I.371 annex A): what a frame costs is time, and no fractions are carried along.
type bucket struct {
	frame units.Time // that a frame costs; 0: that its bytes cost at the rate
	rate  units.Rate
	depth units.Time // of the bucket; 0: no limit
	full  units.Time // when it is full again
}

// set changes the limit; what was taken stays taken, but no more than all that the bucket holds.
func (b *bucket) set(now units.Time, l FloodLimit) {
	full := b.full
	*b = bucket{}
	switch {
	case l.Frames > 0:
		b.frame = (units.Second-1)/units.Time(l.Frames) + 1
		b.depth = b.frame * units.Time(l.Burst)
	case l.Rate > 0:
		b.rate, b.depth = l.Rate, l.Rate.Serialize(l.Burst)
	}
	b.full = min(full, now+b.depth)
}

// take reports whether a frame of so many bytes on the wire may pass, and takes its tokens.
func (b *bucket) take(now units.Time, bytes int) bool {
	if b.depth == 0 {
		return true
	}
	cost := b.frame
	if cost == 0 {
		cost = b.rate.Serialize(units.Size(bytes))
	}
	full := max(b.full, now) + cost
	if full-now > b.depth {
		return false
	}
	b.full = full
	return true
}

// buckets of a port, by what is flooded; and of the ICMP errors that are sent there.
type buckets struct{ broadcast, multicast, unknown, errors bucket }

func (b *buckets) set(now units.Time, l FloodLimits, errors FloodLimit) {
	b.broadcast.set(now, l.Broadcast)
	b.multicast.set(now, l.Multicast)
	b.unknown.set(now, l.Unknown)
	b.errors.set(now, errors)
}

// flood sends a frame of unknown or group destination to every other port of its LAN that has a link,
// as far as its kind's limit lets it.
func (s *Switch) flood(now units.Time, p *switchPort, in *lan, f *fabric.Frame, h *wire.Header) {
	limit, never, why := &p.buckets.unknown, s.config.NoUnknown, fabric.DropUnicast
	switch {
	case h.Dst == wire.Broadcast:
		limit, never, why = &p.buckets.broadcast, s.config.NoBroadcast, fabric.DropFlood
	case h.Dst.Multicast():
		limit, never, why = &p.buckets.multicast, s.config.NoMulticast, fabric.DropFlood
	}
	if never {
		s.discard(now, p, f, why)
		return
	}
	if !limit.take(now, p.config.Link.WireBytes(int(f.Len))) {
		s.discard(now, p, f, fabric.DropFlood)
		return
	}
	last := noPort
	for _, port := range in.ports {
		if int(port) == p.number || s.ports[port].down {
			continue
		}
		if last != noPort {
			s.forwardCopy(now, p, in, uint16(last), f)
		}
		last = int(port)
	}
	if last == noPort {
		s.discard(now, p, f, fabric.DropNoPort)
		return
	}
	s.forward(now, p, in, uint16(last), f)
}

func (s *Switch) forwardCopy(now units.Time, p *switchPort, in *lan, port uint16, f *fabric.Frame) {
	p.copied[f.Prio&7]++
	c, ok := p.env.Clone(*f)
	if !ok {
		p.countLoss(now, f, fabric.DropNoMemory)
		return
	}
	s.forward(now, p, in, port, &c)
}
