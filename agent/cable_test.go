package agent

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"photon/cnp"
	"photon/dataplane"
	"photon/fabric"
	"photon/pfc"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// cable joins two hosts in a test's hand. It loses, repeats, delays and breaks frames, and hosts
// can be started again at any time. The frames are whole: a broken one can be told by its ICRC.
//
// It is also the oracle. It knows of each data packet which flow sent it and which of its packets
// it is, of which a receiver sees the PSN only, and keeps the packets that each receiver took, in
// their order. A flow may be called done only if its packets, all of them, once, one after the
// other, are among what one receiver took. With selective repeat they are in any order.
type cable struct {
	fatal   func(format string, args ...any)
	random  *rand.Rand
	now     units.Time
	hosts   [2]*station
	flight  []inFlight
	flows   []*sentFlow
	trouble trouble
	shared  bool // flows are messages on a connection
	config  func(i int) Config
	lost    func(b []byte) bool      // whether a frame is lost; nil: none is, but by trouble
	ended   func(from int, r Result) // takes results in place of the oracle, which knows no queue pairs of the specification
	frames  int
}

// trouble is how many of a thousand frames meet with what.
type trouble struct {
	lost, repeated, broken, delayed, marked int
	upTo                                    units.Time // later by
	paused                                  int        // comes behind an XOFF of data, for up to twice the timeout
}

// station is a host at an end of the cable.
type station struct {
	h    *Host
	env  *fabric.Env
	free units.Time                 // when its port has sent what it took
	took map[uint32][][]takenPacket // by queue pair, of each start of the host
}

type takenPacket struct {
	flow  *sentFlow
	epoch uint32
	index uint64
}

// sentFlow is what the oracle knows of a flow.
type sentFlow struct {
	from, slot  int
	qp          uint32
	packets     int // 0: no end
	done, ended bool
	why         error
}

type inFlight struct {
	at    units.Time
	to    int
	bytes []byte
	what  takenPacket // of data
}

const (
	cableRate    = 10 * units.Gbps
	cableDelay   = 5 * units.Microsecond
	cableTimeout = 200 * units.Microsecond
	cablePayload = 100
)

func cableAddress(i int) wire.IP { return wire.IPv4(10, 0, 0, byte(i+1)) }

func cableMAC(i int) wire.MAC { return 0x0200_0000_0001 + wire.MAC(i) }

// cableConfig is a host of the cable.
func cableConfig(i int) Config {
	return Config{
		MAC: cableMAC(i), IP: cableAddress(i), Link: fabric.Link{Rate: cableRate}, Lossless: 1 << 3,
		DSCP: dataplane.DefaultDSCP(), DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48,
		Carry: cnp.Carry{ECT: wire.ECT0}, Payload: cablePayload, AckTimeout: cableTimeout,
		Senders: 32, Receivers: 32, Age: units.Second, NP: cnp.NewDCQCN(cnp.DCQCNParams{Interval: 20 * units.Microsecond}, 32),
		NewRP: func(*ratelimit.Port) ratelimit.RP { return ratelimit.Unlimited{Line: cableRate} },
	}
}

// counted is a reaction point that looks at the numbers of what is acknowledged: those of a host's connections together
// never go back.
type counted struct {
	ratelimit.Unlimited
	next uint64
	bad  string
}

func (r *counted) Start(units.Time) { r.next = 0 }

func (r *counted) Ack(_ units.Time, a *ratelimit.Ack) {
	if a.Next < r.next || a.Packet >= a.Next {
		r.bad = fmt.Sprintf("packet %d is acknowledged and %d the next, which was %d", a.Packet, a.Next, r.next)
	}
	r.next = a.Next
}

func newCable(fatal func(string, ...any), random *rand.Rand, config func(i int) Config) *cable {
	c := &cable{fatal: fatal, random: random, config: config}
	for i := range c.hosts {
		c.hosts[i] = &station{took: map[uint32][][]takenPacket{}}
		c.restart(i)
	}
	return c
}

// restart ends a host and starts it again: what it knew is gone, and what it sent is on its way still.
func (c *cable) restart(i int) {
	s := c.hosts[i]
	s.env = fabric.NewEnv(fabric.NewHeaderPoolOf(512), 1)
	config := c.config(i)
	config.Seed = c.random.Uint64()
	var err error
	if s.h, err = New(config, s.env); err != nil {
		c.fatal("%v", err)
	}
	for qp := range s.took {
		s.took[qp] = append(s.took[qp], nil)
	}
	for _, f := range c.flows {
		if f.from == i && !f.ended {
			f.ended = true
			f.why = fmt.Errorf("its sender was started again")
		}
	}
}

// send begins a flow.
func (c *cable) send(from int, qp uint32, packets int) *sentFlow {
	f := &sentFlow{from: from, qp: qp, packets: packets}
	spec := FlowSpec{Peer: cableAddress(1 - from), PeerMAC: cableMAC(1 - from), QP: qp, Size: units.Size(packets * cablePayload)}
	if c.shared {
		spec.Shared = 1
	}
	var err error
	if f.slot, err = c.hosts[from].h.AddFlow(c.now, spec); err != nil {
		c.fatal("queue pair %d: %v", qp, err)
	}
	c.flows = append(c.flows, f)
	return f
}

// run goes on until a time, or until nothing will happen.
func (c *cable) run(until units.Time) {
	for {
		next, port := units.Never, -1
		if len(c.flight) > 0 {
			next = c.flight[0].at
		}
		for i, s := range c.hosts {
			if due := max(s.env.Due(0), s.free, c.now); s.env.Due(0) < units.Never && due < next {
				next, port = due, i
			}
		}
		if next > until || next == units.Never {
			c.now = until
			return
		}
		c.now = max(c.now, next)
		if port >= 0 {
			c.serve(port)
		} else {
			c.arrive()
		}
		c.results()
	}
}

// serve lets a host send a frame.
func (c *cable) serve(i int) {
	s := c.hosts[i]
	var frame [1]fabric.Frame
	s.env.SetDue(0, units.Never)
	sent := s.h.Transmit(c.now, 0, frame[:]) == 1
	s.env.SetDue(0, s.h.Next(c.now, 0))
	s.env.Woken()
	if !sent {
		return
	}
	c.frames++
	b := slices.Clone(s.env.Bytes(&frame[0]))
	s.env.Free(frame[0])
	s.free = c.now + cableRate.Serialize(units.Size(len(b)+wire.Overhead))
	f := inFlight{at: s.free + cableDelay, to: 1 - i, bytes: b, what: c.identify(i, b)}
	t := c.trouble
	hit := func(of int) bool { return c.random.IntN(1000) < of }
	if f.what.flow != nil && hit(t.marked) {
		wire.SetECN(b[wire.EthernetLen:], wire.CE)
	}
	if hit(t.repeated) {
		again := f
		again.at += units.Time(c.random.Int64N(int64(t.upTo) + 1))
		again.bytes = slices.Clone(b)
		c.put(again)
	}
	if hit(t.lost) || c.lost != nil && c.lost(b) {
		return
	}
	if hit(t.broken) {
		b[wire.EthernetLen+c.random.IntN(len(b)-wire.EthernetLen)] ^= 1 << c.random.IntN(8)
	}
	if hit(t.delayed) {
		f.at += units.Time(c.random.Int64N(int64(t.upTo) + 1))
	}
	c.put(f)
}

func (c *cable) put(f inFlight) {
	byTime := func(g inFlight, at units.Time) int { return cmp.Compare(g.at, at) }
	at, _ := slices.BinarySearchFunc(c.flight, f.at+1, byTime)
	c.flight = slices.Insert(c.flight, at, f)
}

// identify says which packet of which flow a frame is.
func (c *cable) identify(from int, b []byte) (p takenPacket) {
	var h wire.Header
	if wire.Parse(b, &h); h.BTH == 0 || c.ended != nil {
		return p
	}
	bth := wire.BTH(b[h.BTH:])
	if bth.Opcode() > wire.OpSendOnly {
		return p
	}
	for _, f := range c.flows {
		if f.from == from && f.qp == bth.DestQP() && !f.ended {
			first := c.hosts[from].h.flows[f.slot].first
			return takenPacket{f, first, uint64((bth.PSN() - first) & psnMask)}
		}
	}
	c.fatal("a packet of no flow: % x", b)
	return p
}

// arrive hands the next frame over, and looks whether it was taken.
func (c *cable) arrive() {
	f := c.flight[0]
	c.flight = c.flight[1:]
	s := c.hosts[f.to]
	if c.random.IntN(1000) < c.trouble.paused {
		x := pfc.Frame{Enable: 1 << 3}
		x.Quanta[3] = uint16(c.random.Int64N(int64(2 * cableTimeout / pfc.Duration(1, cableRate))))
		frame, _ := s.env.Alloc(pfc.FrameLen)
		x.Encode(s.env.Bytes(&frame), 9)
		s.h.Receive(c.now, 0, []fabric.Frame{frame})
	}
	frame, _ := s.env.Alloc(len(f.bytes))
	copy(s.env.Bytes(&frame), f.bytes)
	var before uint64
	if f.what.flow != nil {
		before = s.h.Received(cableAddress(1-f.to), f.what.flow.qp).Frames
	}
	s.h.Receive(c.now, 0, []fabric.Frame{frame})
	s.env.Woken()
	if f.what.flow == nil {
		return
	}
	if after := s.h.Received(cableAddress(1-f.to), f.what.flow.qp).Frames; after == before+1 {
		c.take(s, f.what)
	}
}

// take notes that a receiver took a packet: the first of a flow, or the one behind the one before.
func (c *cable) take(s *station, p takenPacket) {
	all := s.took[p.flow.qp]
	if len(all) == 0 {
		all = append(all, nil)
	}
	log := all[len(all)-1]
	if s.h.config.Selective != nil {
		if slices.Contains(log, p) {
			c.fatal("queue pair %d: packet %d was taken twice", p.flow.qp, p.index)
		}
	} else if p.index > 0 {
		if len(log) == 0 || log[len(log)-1] != (takenPacket{p.flow, p.epoch, p.index - 1}) {
			c.fatal("queue pair %d: packet %d was taken out of order", p.flow.qp, p.index)
		}
	}
	all[len(all)-1] = append(log, p)
	s.took[p.flow.qp] = all
}

// results notes which flows ended, and holds hosts to what they call done.
func (c *cable) results() {
	for i, s := range c.hosts {
		for _, r := range s.h.TakeResults() {
			if c.ended != nil {
				c.ended(i, r)
				continue
			}
			at := slices.IndexFunc(c.flows, func(f *sentFlow) bool { return f.from == i && f.qp == r.QP && !f.ended })
			f := c.flows[at]
			f.ended, f.done, f.why = true, r.Why == nil, r.Why
			if n := c.whole(f); f.done && n == 0 {
				c.fatal("queue pair %d: the flow is called done, and has not arrived", f.qp)
			}
		}
	}
}

// whole is how often a flow has arrived: all packets in one epoch.
func (c *cable) whole(f *sentFlow) (times int) {
	for _, log := range c.hosts[1-f.from].took[f.qp] {
		if c.hosts[1-f.from].h.config.Selective != nil {
			of := map[uint32]int{} // packets, none of them twice
			for _, p := range log {
				if p.flow == f {
					of[p.epoch]++
				}
			}
			for _, n := range of {
				if n == f.packets {
					times++
				}
			}
			continue
		}
		for i, p := range log {
			first := i + 1 - f.packets
			if p.flow == f && p.index == uint64(f.packets-1) && first >= 0 && log[first] == (takenPacket{f, p.epoch, 0}) {
				times++
			}
		}
	}
	return times
}

// stop ends a flow before its time.
func (c *cable) stop(f *sentFlow) {
	c.hosts[f.from].h.StopFlow(c.now, f.slot)
	f.ended, f.why = true, fmt.Errorf("it was stopped")
}

// busy reports whether a flow of a host uses a queue pair.
func (c *cable) busy(from int, qp uint32) bool {
	return slices.ContainsFunc(c.flows, func(f *sentFlow) bool { return f.from == from && f.qp == qp && !f.ended })
}
