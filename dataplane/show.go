package dataplane

import (
	"net/netip"

	"photon/pfc"
	"photon/units"
)

// BufferState is how a switch's buffer is divided, and what of it is taken.
type BufferState struct {
	Size       units.Size                    // of the whole buffer
	Reserved   units.Size                    // XOFF and headroom of the lossless priorities, all ports, and the minimums of queues
	Headroom   units.Size                    // of it: all headroom
	Headrooms  units.Size                    // what all ports and lossless priorities may have of that together: more, where they share it
	HeadUsed   units.Size                    // of Headroom, now
	HeadPeak   units.Size                    // the most that was
	Minimums   units.Size                    // of Reserved: set aside for egress queues
	MinUsed    units.Size                    // of it, now
	Lossy      units.Size                    // the rest, which is shared
	LossyUsed  units.Size                    // of it, now
	LossyPeak  units.Size                    // the most that was
	Tail       units.Size                    // an egress queue of a lossy priority drops beyond it
	Share      float64                       // and beyond this part of what is free of the rest; 0: no such limit
	Lossless   uint8                         // priorities, of any port
	Judged     uint8                         // priorities with a congestion point, of any port
	Ports      []uint8                       // by port, its lossless priorities; where it sends PAUSE, 1: all frames have one account
	PFC        []uint8                       // by port, its priorities with PFC: the watchdog and the search for deadlocks are theirs
	Thresholds [][pfc.Classes]pfc.Thresholds // by port; of the lossless priorities
	Queues     []*[pfc.Classes]QueueConfig   // by port; never changed
	Shapers    []Shaper                      // of ports
	Limits     []LossyLimit                  // by port
	Weights    [pfc.Classes]int              // of the scheduler
}

// LossyLimit is what lossy frames that came through a port may take of the buffer.
type LossyLimit struct {
	Limit units.Size // 0: none
	Alpha float64    // of what is free for them; 0: no such limit
	Now   units.Size // both, as it is now; all that there is for lossy frames without a limit
	Used  units.Size
}

// NewBufferState returns room for the state of a buffer of so many ports.
func NewBufferState(ports int) *BufferState {
	return &BufferState{
		Thresholds: make([][pfc.Classes]pfc.Thresholds, ports), Queues: make([]*[pfc.Classes]QueueConfig, ports), Ports: make([]uint8, ports),
		PFC: make([]uint8, ports), Shapers: make([]Shaper, ports), Limits: make([]LossyLimit, ports),
	}
}

// Buffer returns the state of the buffer. It is called between bursts.
func (s *Switch) Buffer() BufferState {
	b := NewBufferState(len(s.ports))
	s.CopyBuffer(b)
	return *b
}

// CopyBuffer is Buffer into memory that the caller has made, for as many ports.
func (s *Switch) CopyBuffer(b *BufferState) {
	c := &s.config
	size, used := s.pool.State()
	lossyPeak, headPeak := s.peaks()
	*b = BufferState{
		Size: c.Buffer, Reserved: s.reserved(), Lossy: size, LossyUsed: used, LossyPeak: lossyPeak,
		Headroom: s.headroom(), Headrooms: s.headrooms(), HeadUsed: units.Size(s.heads.Used()), HeadPeak: headPeak, Minimums: c.Minimums(),
		Tail: c.Tail, Share: c.Share, Lossless: s.lossless, Thresholds: b.Thresholds, Queues: b.Queues, Ports: b.Ports, PFC: b.PFC, Shapers: b.Shapers, Limits: b.Limits, Weights: c.Weights,
	}
	for i := range s.mins {
		b.MinUsed += units.Size(min(s.mins[i].used, s.mins[i].size))
	}
	for i := range b.Thresholds {
		b.Queues[i], b.Ports[i], b.Shapers[i] = &c.Ports[i].Queues, c.Accounts(i), c.Ports[i].Shaper
		b.PFC[i] = c.LosslessAt(i)
		b.Limits[i] = s.ports[i].lossyLimit(s.pool)
		b.Judged |= s.ports[i].judged()
		b.Thresholds[i] = [pfc.Classes]pfc.Thresholds{}
		for prio := range pfc.Classes {
			if c.Accounts(i)>>prio&1 != 0 {
				b.Thresholds[i][prio] = s.thresholds(i, prio)
			}
		}
	}
}

// Forwarding is how a switch forwards, without learned addresses. It is never changed.
type Forwarding struct {
	VLANs  []VLAN
	Router Router
	Down   []bool // by port

	Addresses  []netip.Addr // all of the router
	Neighbours []Neighbour  // that are asked
}

// Paths is how the switch chooses among equal paths. It is called between bursts.
func (s *Switch) Paths() Paths { return s.config.Paths }

// Forwarding is called between bursts.
func (s *Switch) Forwarding() Forwarding {
	f := Forwarding{VLANs: s.config.VLANs, Router: s.config.Router, Down: make([]bool, len(s.ports)), Neighbours: s.Neighbours()}
	for i := range s.ports {
		f.Down[i] = s.ports[i].down
	}
	for _, l := range s.config.locals() {
		f.Addresses = append(f.Addresses, l.addr)
	}
	return f
}
