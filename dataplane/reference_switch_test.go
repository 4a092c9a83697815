package dataplane_test

import (
	"slices"

	"photon/dataplane"
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// reference is a switch as the standards and docs have it, one frame at a time, with maps and slices: slow
// and obvious. It shares no code with the one in package dataplane, which the tests hold to it; what both
// take from elsewhere has tests of its own: congestion points, and the formats of PFC frames, notices and
// telemetry. Its files: reference_bridge_test.go and reference_route_test.go find where a frame goes,
// reference_buffer_test.go whether there is room, reference_egress_test.go what leaves, reference_pauses_test.go
// who is stopped, reference_reload_test.go what a change does.
type reference struct {
	config dataplane.SwitchConfig
	ports  []*refPort
	known  map[station]whereabouts
	used   int // of the pool
	most   int // the most that was
	heads  int // the same of headroom

	// choose says which of several equal ways a frame takes. All are right, if a flow keeps its own.
	choose func(in int, b []byte, flow string, ways []dataplane.NextHop) dataplane.NextHop

	// early are priorities whose XOFF is sent although headroom is not in use: a threshold fell below
	// what is there. A switch may do that.
	early uint8
}

// station is an address in a VLAN; 0: there are none.
type station struct {
	vlan int
	mac  wire.MAC
}

type whereabouts struct {
	port int
	seen units.Time // whole seconds
}

// refFrame is a frame in a queue, as it will be on the wire.
type refFrame struct {
	bytes    []byte
	in       int // through which port it came; made: the switch made it
	prio     int
	lossless bool
	head     refHead // as it was read when it came, moved as tags came and went
}

const made = -1

type refPort struct {
	number int
	config dataplane.PortConfig
	rate   units.Rate
	room   units.Size // headroom of the link; 0: the configuration's
	down   bool
	shut   bool

	queues       [8][]refFrame
	points       [8]marking.CP
	wred         [8]*marking.WRED
	deficit      [8]int
	nextPriority int

	accounts [8]refAccount // of what came in here
	pauses   [8]refPause   // what the peer wants
	buckets  [3]refBucket
	tokens   [9]refTokens // of queues, and the last of the port
	errors   refBucket    // of ICMP
	sent     int          // on the wire
	stats    fabric.PortStats
	lossy    [8]int        // that lossy frames take of the buffer, by queue
	least    [8]units.Size // as the peak of what came in: without frames that their queues did not take
}

// refAccount is what one priority of an ingress port holds.
type refAccount struct {
	base, head int
	refused    bool // a frame was, since the last XOFF
	promised   int  // how much head may be
	peerPaused bool
	since      units.Time // when the peer was paused
	refresh    units.Time
}

// refPause is one priority's, by the peer.
type refPause struct {
	paused              bool
	since, until, ended units.Time
	storm               bool
	began               units.Time
}

func newReference(c dataplane.SwitchConfig) *reference {
	r := &reference{config: c, known: map[station]whereabouts{}}
	for i, pc := range c.Ports {
		p := &refPort{number: i, config: pc, rate: pc.Link.Rate}
		for prio := range 8 {
			p.stats.LostAt[prio] = units.Never
		}
		r.ports = append(r.ports, p)
		r.setPoints(p)
		p.setWRED(nil)
		for prio := range 8 {
			if r.accountable(p, prio) {
				p.accounts[prio].promised = int(r.thresholds(p, prio).Headroom)
			}
		}
		for kind, l := range p.limits() {
			p.buckets[kind].tokens = depth(l)
		}
		for i, x := range p.shapers() {
			p.tokens[i].fill(x)
		}
	}
	return r
}

func (r *reference) setPoints(p *refPort) {
	for prio := range 8 {
		p.points[prio] = nil
		if (r.anywhere(prio) || r.config.Judged>>prio&1 != 0) && r.config.CP != nil {
			p.points[prio] = r.config.CP(marking.Place{Port: p.number, Prio: prio, Rate: p.rate})
		}
	}
}

// setWRED gives queues the WRED of the configuration; one that is as it was goes on.
func (p *refPort) setWRED(was *dataplane.PortConfig) {
	for prio, q := range p.config.Queues {
		switch {
		case q.WRED == marking.WREDParams{}:
			p.wred[prio] = nil
		case was == nil || was.Queues[prio].WRED != q.WRED:
			p.wred[prio] = marking.NewWRED(q.WRED, uint64(8*p.number+prio))
		}
	}
}

// pfc reports whether a port has PFC for a priority.
func (r *reference) pfc(p *refPort, prio int) bool {
	set := r.config.Lossless
	if p.config.Lossless != nil {
		set = *p.config.Lossless
	}
	return set>>prio&1 != 0
}

// anywhere reports whether any port has.
func (r *reference) anywhere(prio int) bool {
	some := r.config.Lossless>>prio&1 != 0
	for _, c := range r.config.Ports {
		some = some || c.Lossless != nil && *c.Lossless>>prio&1 != 0
	}
	return some
}

// mtuOf is a port's.
func (r *reference) mtuOf(p *refPort) int {
	if p.config.MTU > 0 {
		return p.config.MTU
	}
	return r.config.MTU
}

// tooWide reports whether a frame is longer than a port takes.
func (r *reference) tooWide(p *refPort, b []byte) bool {
	longest := r.mtuOf(p) + 14
	if readHead(b).payload > 14 {
		longest += 4 // for a tag of any kind
	}
	return len(b) > longest
}

// lose counts a frame that ends here, at a port.
func (r *reference) lose(now units.Time, p *refPort, prio int, why fabric.Reason) {
	r.loseOf(now, p, prio, r.anywhere(prio) || p.config.Pause, why)
}

// loseFrame is lose for a frame that was admitted.
func (r *reference) loseFrame(now units.Time, p *refPort, f refFrame, why fabric.Reason) {
	r.loseOf(now, p, f.prio, f.lossless || r.anywhere(f.prio) || p.config.Pause, why)
}

func (r *reference) loseOf(now units.Time, p *refPort, prio int, lossless bool, why fabric.Reason) {
	p.stats.Discards[why][prio]++
	if lossless && (why == fabric.DropHeadroom || why == fabric.DropNoMemory || why == fabric.DropStorm || why == fabric.DropLink) {
		p.stats.LostAt[prio] = min(p.stats.LostAt[prio], now)
	}
}

// receive does to a frame what is to be done: it is consumed, discarded, answered, or queued elsewhere.
func (r *reference) receive(now units.Time, in int, b []byte) {
	p := r.ports[in]
	r.attend(now, p)
	if len(b) < 14 {
		p.stats.RxFrames[0]++
		p.stats.RxBytes[0] += uint64(len(b))
		r.lose(now, p, 0, fabric.DropMalformed)
		return
	}
	h := readHead(b)
	if p.shut {
		prio := r.priority(p, h)
		p.stats.RxFrames[prio]++
		p.stats.RxBytes[prio] += uint64(len(b))
		r.lose(now, p, prio, fabric.DropLink)
		return
	}
	if r.control(now, p, h, b) {
		return
	}
	prio := r.priority(p, h)
	p.stats.RxFrames[prio]++
	p.stats.RxBytes[prio] += uint64(len(b))
	if p.pauses[prio].storm && r.config.Watchdog.Action == pfc.DropBoth && h.etherType != 0x8808 && h.dst>>4 != 0x0180_C200_0000>>4 {
		r.lose(now, p, prio, fabric.DropStorm)
		return
	}
	vlan, member := r.vlanOf(in, h)
	switch {
	case r.tooWide(p, b):
		r.complainOfLength(now, p, h, refFrame{bytes: b, in: in, prio: prio})
		r.lose(now, p, prio, fabric.DropOversize)
		return
	case h.dst>>4 == 0x0180_C200_0000>>4 || h.etherType == 0x8808:
		r.lose(now, p, prio, fabric.DropReserved)
		return
	case h.src.Multicast() || h.src == 0:
		r.lose(now, p, prio, fabric.DropSource)
		return
	case !member:
		r.lose(now, p, prio, fabric.DropVLAN)
		return
	}
	r.learn(now, station{vlan, h.src}, in)
	f := refFrame{bytes: slices.Clone(b), in: in, prio: prio, lossless: r.taken(p, prio), head: *h}
	if m := r.config.Router.MAC; m != 0 && (h.dst == m || h.dst.Multicast()) && r.answered(now, p, vlan, h, f) {
		return
	}
	r.forward(now, p, vlan, h, f)
}

const tokensPerByte = 8e12

// count is the port's statistics at an instant.
func (r *reference) count(now units.Time, p *refPort) fabric.PortStats {
	st := p.stats
	for prio := range 8 {
		st.QueueBytes[prio], st.QueueFrames[prio] = units.Size(p.bytes(prio)), uint64(len(p.queues[prio]))
		a, x := p.accounts[prio], p.pauses[prio]
		st.Buffered[prio] += units.Size(a.base + a.head)
		st.Ingress.Headroom[prio] = units.Size(a.head)
		if a.peerPaused {
			st.Ingress.PausedNow |= 1 << prio
			st.Ingress.Paused[prio] += now - a.since
		}
		switch {
		case x.paused && x.until > now:
			st.Egress.PausedNow |= 1 << prio
			st.Egress.Paused[prio] += now - x.since
		case x.paused: // its time is over
			st.Egress.Transitions[prio]++
			st.Egress.Paused[prio] += x.until - x.since
		}
		if x.storm {
			st.Watchdog.Storm |= 1 << prio
			st.Watchdog.Time[prio] += now - x.began
		}
	}
	return st
}
