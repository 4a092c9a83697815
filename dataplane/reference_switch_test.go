package dataplane_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"

	"photon/cnp"
	"photon/dataplane"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// reference is a switch as the standards and docs have it, one frame at a time, with maps and slices: slow
// and obvious. It shares no code with the one in package dataplane, which the tests hold to it; what both
// take from elsewhere has tests of its own: congestion points, and the formats of PFC frames, notices and
// telemetry. The order of its functions is a frame's way.
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

	queues  [8][]refFrame
	points  [8]marking.CP
	wred    [8]*marking.WRED
	deficit [8]int
	turn    int

	accounts [8]refAccount // of what came in here
	pauses   [8]refPause   // what the peer wants
	buckets  [3]refBucket
	tokens   [9]refTokens // of queues, and the last of the port
	errors   refBucket    // of ICMP
	sent     int          // on the wire
	stats    dataplane.PortStats
	lossy    [8]int        // that lossy frames take of the buffer, by queue
	least    [8]units.Size // as the peak of what came in: without frames that their queues did not take
}

// refAccount is what one priority of an ingress port holds.
type refAccount struct {
	base, head int
	refused    bool // a frame was, since the last XOFF
	promised   int  // how much head may be
	held       bool
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

// refBucket is a token bucket for what is flooded, counted in time that fills it.
type refBucket struct{ held, at units.Time }

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
			p.buckets[kind].held = depth(l)
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
		if r.anywhere(prio) && r.config.CP != nil {
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

// taken reports whether what comes through a port with a priority is lossless.
func (r *reference) taken(p *refPort, prio int) bool { return p.config.Pause || r.pfc(p, prio) }

// accountable reports whether a port has an account with thresholds of that number, and accountOf which is a priority's.
func (r *reference) accountable(p *refPort, prio int) bool {
	return p.config.Pause && prio == 0 || r.pfc(p, prio)
}

func (p *refPort) accountOf(prio int) int {
	if p.config.Pause {
		return 0
	}
	return prio
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

func dropping(a pfc.Action) bool { return a == pfc.Drop || a == pfc.DropBoth }

func (r *reference) thresholds(p *refPort, prio int) pfc.Thresholds {
	t := r.config.PFC[prio]
	if p.config.Headroom > 0 {
		t.Headroom = p.config.Headroom
	}
	if p.config.Alpha > 0 {
		t.Alpha = p.config.Alpha
	}
	if p.room > 0 {
		t.Headroom = p.room
	}
	return t
}

// free is what nobody has of the buffer that is set aside for nobody.
func (r *reference) free() int {
	size := int(r.config.Buffer)
	for _, p := range r.ports {
		for prio := range 8 {
			if r.accountable(p, prio) {
				t := r.thresholds(p, prio)
				size -= int(t.XOFF)
				if r.config.Headroom == 0 {
					size -= int(t.Headroom)
				}
			}
			size -= int(p.config.Queues[prio].Min)
		}
	}
	return max(0, size-int(r.config.Headroom)-r.used)
}

// headed is how much of what all ports have as headroom is used. What was promised beyond a priority's is the pool's.
func (r *reference) headed() (sum int) {
	for _, p := range r.ports {
		for prio := range 8 {
			if r.accountable(p, prio) {
				sum += min(p.accounts[prio].head, int(r.thresholds(p, prio).Headroom))
			}
		}
	}
	return sum
}

// cost is what a frame takes of the buffer.
func (r *reference) cost(length int) int {
	if c := int(r.config.Cell); c > 0 {
		return (length + c - 1) / c * c
	}
	return length
}

// lose counts a frame that ends here, at a port.
func (r *reference) lose(now units.Time, p *refPort, prio int, why dataplane.Reason) {
	p.stats.Discards[why][prio]++
	if (r.anywhere(prio) || p.config.Pause) && (why == dataplane.DropHeadroom || why == dataplane.DropNoMemory || why == dataplane.DropStorm || why == dataplane.DropLink) {
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
		r.lose(now, p, 0, dataplane.DropMalformed)
		return
	}
	h := readHead(b)
	if p.shut {
		prio := r.priority(p, h)
		p.stats.RxFrames[prio]++
		p.stats.RxBytes[prio] += uint64(len(b))
		r.lose(now, p, prio, dataplane.DropLink)
		return
	}
	if r.control(now, p, h, b) {
		return
	}
	prio := r.priority(p, h)
	p.stats.RxFrames[prio]++
	p.stats.RxBytes[prio] += uint64(len(b))
	if p.pauses[prio].storm && r.config.Watchdog.Action == pfc.DropBoth && h.etherType != 0x8808 && h.etherType != pfc.ProbeType {
		r.lose(now, p, prio, dataplane.DropStorm)
		return
	}
	vlan, member := r.vlanOf(in, h)
	switch {
	case r.tooWide(p, b):
		r.complainOfLength(now, p, h, refFrame{bytes: b, in: in, prio: prio})
		r.lose(now, p, prio, dataplane.DropOversize)
		return
	case h.dst>>4 == 0x0180_C200_0000>>4 || h.etherType == 0x8808:
		r.lose(now, p, prio, dataplane.DropReserved)
		return
	case h.src.Multicast() || h.src == 0:
		r.lose(now, p, prio, dataplane.DropSource)
		return
	case !member:
		r.lose(now, p, prio, dataplane.DropVLAN)
		return
	}
	r.learn(now, station{vlan, h.src}, in)
	f := refFrame{bytes: slices.Clone(b), in: in, prio: prio, lossless: r.taken(p, prio), head: *h}
	if m := r.config.Router.MAC; m != 0 && (h.dst == m || h.dst.Multicast()) && r.answered(now, p, vlan, h, f) {
		return
	}
	r.forward(now, p, vlan, h, f)
}

// control consumes MAC control frames for the port itself, and probes for deadlocks.
func (r *reference) control(now units.Time, p *refPort, h *refHead, b []byte) bool {
	if len(h.tags) > 0 || h.payload != 14 {
		return false
	}
	switch {
	case h.etherType == 0x8808 && h.dst == 0x0180_C200_0001 && !h.src.Multicast():
		p.stats.RxControl++
		var f pfc.Frame
		if f.Decode(b) != nil {
			p.stats.BadControl++
			return true
		}
		r.attend(now, p)
		r.obey(now, p, &f)
		r.attend(now, p)
		return true
	case h.etherType == pfc.ProbeType && h.dst == pfc.ProbeDestination && r.config.Deadlock > 0:
		p.stats.RxControl++
		if !new(pfc.Probe).Decode(b) {
			p.stats.BadControl++
		}
		return true
	}
	return false
}

// obey does what a PFC or PAUSE frame says.
func (r *reference) obey(now units.Time, p *refPort, f *pfc.Frame) {
	e := &p.stats.Egress
	some := p.config.Asymmetric
	for prio := range 8 {
		some = some || r.pfc(p, prio)
	}
	obeyed := uint8(0)
	for prio := range 8 {
		if f.Enable>>prio&1 != 0 && (f.Global && !some || !f.Global && (p.config.Asymmetric || r.pfc(p, prio))) { // PFC and PAUSE exclude each other
			obeyed |= 1 << prio
		}
	}
	if obeyed == 0 {
		e.Ignored++
	}
	for prio := range p.pauses {
		x := &p.pauses[prio]
		switch {
		case obeyed>>prio&1 == 0:
			if f.Enable>>prio&1 != 0 && !f.Global {
				e.Unheeded[prio]++
			}
		case f.Quanta[prio] == 0:
			e.Resumes[prio]++
			r.resume(now, now, p, prio)
		default:
			e.Pauses[prio]++
			if !x.paused {
				x.paused, x.since = true, now
			}
			x.until = now + p.rate.Serialize(units.Size(f.Quanta[prio])*64) // quanta of 512 bits
		}
	}
}

// resume ends a pause at an instant, which may be before now.
func (r *reference) resume(now, at units.Time, p *refPort, prio int) {
	x := &p.pauses[prio]
	if !x.paused {
		return
	}
	x.paused, x.ended = false, at
	p.stats.Egress.Transitions[prio]++
	p.stats.Egress.Paused[prio] += at - x.since
	r.tellResumed(now, p, prio)
}

func (r *reference) tellResumed(now units.Time, p *refPort, prio int) {
	if cp := p.points[prio]; cp != nil {
		q := p.state(prio)
		for _, f := range p.queues[prio] {
			if !f.lossless { // the switch's own, which no congestion point sees leave: none is to wait for it
				q.Frames--
			}
		}
		cp.Resume(now, q)
	}
}

// state is what a congestion point may know of a queue.
func (p *refPort) state(prio int) (q marking.Queue) {
	q.Bytes, q.Frames, q.Sent = units.Size(p.bytes(prio)), len(p.queues[prio]), units.Size(p.sent)
	for other := range p.queues {
		q.Port += units.Size(p.bytes(other))
	}
	return q
}

func (p *refPort) bytes(prio int) (n int) {
	for _, f := range p.queues[prio] {
		n += len(f.bytes)
	}
	return n
}

// attend does what time has done to a port's pauses and storms.
func (r *reference) attend(now units.Time, p *refPort) {
	for prio := range p.pauses {
		if x := &p.pauses[prio]; x.paused && x.until <= now {
			r.resume(now, x.until, p, prio)
		}
	}
	w := r.config.Watchdog
	for prio := range p.pauses {
		x := &p.pauses[prio]
		switch {
		case !r.pfc(p, prio):
		case !x.storm && w.Detect > 0 && x.paused && now-x.since >= w.Detect:
			x.storm, x.began = true, now
			p.stats.Watchdog.Storms[prio]++
			if dropping(w.Action) {
				r.flush(now, p, prio, dataplane.DropStorm)
			}
			if w.Action == pfc.Forward {
				r.tellResumed(now, p, prio)
			}
		case x.storm && (w.Detect == 0 || !x.paused && now-x.ended >= w.Restore):
			x.storm = false
			p.stats.Watchdog.Restored[prio]++
			p.stats.Watchdog.Time[prio] += now - x.began
		}
	}
}

func (r *reference) flush(now units.Time, p *refPort, prio int, why dataplane.Reason) {
	for _, f := range p.queues[prio] {
		r.release(p, f)
		r.lose(now, p, f.prio, why)
	}
	p.queues[prio], p.deficit[prio] = nil, 0
}

// priority is a frame's class.
func (r *reference) priority(p *refPort, h *refHead) int {
	trustPCP, dscp, pcp, other := r.config.TrustPCP, r.config.DSCP, r.config.PCP, 0
	if k := p.config.Classes; k != nil {
		trustPCP, dscp, pcp, other = k.Trust == dataplane.TrustPCP, k.DSCP, k.PCP, int(k.Default)
		if k.Trust == dataplane.TrustNone && h.etherType != 0x22E7 {
			return other
		}
	}
	switch {
	case h.etherType == 0x22E7:
		return int(r.config.Control)
	case len(h.tags) > 0 && (trustPCP || h.ip == 0):
		return int(pcp[h.tags[0].control>>13])
	case h.ip != 0:
		return int(dscp[h.tos>>2])
	}
	return other
}

// vlanOf is the VLAN of a frame, and whether its port takes it. Only C-tags name VLANs.
func (r *reference) vlanOf(in int, h *refHead) (vlan int, ok bool) {
	if len(r.config.VLANs) == 0 {
		return 0, true
	}
	accept := r.config.Ports[in].Accept
	if accept == dataplane.AcceptUsual {
		accept = dataplane.AcceptUntagged
		for _, v := range r.config.VLANs {
			if slices.Contains(v.Tagged, uint16(in)) {
				accept = dataplane.AcceptAll
			}
		}
	}
	if id := int(h.vlan()); id != 0 {
		_, member := r.form(id, in)
		return id, member && accept != dataplane.AcceptUntagged
	}
	vlan = r.untagged(in)
	return vlan, vlan != 0 && accept != dataplane.AcceptTagged
}

// untagged is the VLAN of which a port sends frames without tag; 0: none.
func (r *reference) untagged(port int) int {
	for _, v := range r.config.VLANs {
		if slices.Contains(v.Untagged, uint16(port)) {
			return int(v.ID)
		}
	}
	return 0
}

// form says whether a port is a member of a VLAN, and sends its frames tagged.
func (r *reference) form(vlan, port int) (tagged, member bool) {
	for _, v := range r.config.VLANs {
		if int(v.ID) == vlan {
			tagged = slices.Contains(v.Tagged, uint16(port))
			return tagged, tagged || slices.Contains(v.Untagged, uint16(port))
		}
	}
	return false, vlan == 0
}

// static is where an address is that the configuration names.
func (r *reference) static(s station) (ports []uint16) {
	for _, e := range r.config.Static {
		vlan := int(e.VLAN)
		if vlan == 0 && len(r.config.VLANs) > 0 {
			vlan = r.untagged(int(e.Ports[0]))
		}
		if e.MAC == s.mac && vlan == s.vlan {
			ports = e.Ports
		}
	}
	return ports
}

func (r *reference) learn(now units.Time, s station, in int) {
	if r.config.Learn && r.static(s) == nil && s.mac != r.config.Router.MAC {
		r.known[s] = whereabouts{in, now / units.Second * units.Second}
	}
}

// learned is where an address was seen, not too long ago.
func (r *reference) learned(now units.Time, s station) (w whereabouts, ok bool) {
	w, ok = r.known[s]
	age := r.config.Age / units.Second * units.Second
	return w, ok && (age == 0 || now/units.Second*units.Second-w.seen <= age)
}

// forward finds out where a frame goes.
func (r *reference) forward(now units.Time, p *refPort, vlan int, h *refHead, f refFrame) {
	s := station{vlan, h.dst}
	ports := r.static(s)
	w, learned := r.learned(now, s)
	switch {
	case h.dst.Multicast():
		r.flood(now, p, vlan, f, h.dst == 0xFFFF_FFFF_FFFF)
	case r.config.Router.MAC != 0 && h.dst == r.config.Router.MAC:
		r.route(now, p, vlan, h, f)
	case ports != nil:
		r.emit(now, p, r.oneOf(p, f.bytes, h, ports), vlan, f)
	case learned:
		r.emit(now, p, w.port, vlan, f)
	case r.config.NoUnknown:
		r.lose(now, p, f.prio, dataplane.DropUnicast)
	default:
		r.flood(now, p, vlan, f, false)
	}
}

// oneOf is one of several ports.
func (r *reference) oneOf(p *refPort, b []byte, h *refHead, ports []uint16) int {
	var ways []dataplane.NextHop
	for _, port := range ports {
		ways = append(ways, dataplane.NextHop{Port: port})
	}
	return int(r.hop(p, b, h, ways).Port)
}

// flood sends a frame to all other ports of its VLAN that have a link.
func (r *reference) flood(now units.Time, p *refPort, vlan int, f refFrame, broadcast bool) {
	kind := 2
	if broadcast {
		kind = 0
	} else if wire.MACAt(f.bytes).Multicast() {
		kind = 1
	}
	var to []int
	for _, other := range r.ports {
		if _, member := r.form(vlan, other.number); member && other != p && !other.down {
			to = append(to, other.number)
		}
	}
	if !p.buckets[kind].take(now, p.limits()[kind], p.wireLen(len(f.bytes))) {
		r.lose(now, p, f.prio, dataplane.DropFlood)
		return
	}
	if len(to) == 0 {
		r.lose(now, p, f.prio, dataplane.DropNoPort)
	}
	for _, port := range to {
		r.emit(now, p, port, vlan, f)
	}
}

func (p *refPort) limits() [3]dataplane.FloodLimit {
	return [3]dataplane.FloodLimit{p.config.Flood.Broadcast, p.config.Flood.Multicast, p.config.Flood.Unknown}
}

// each is how long the tokens of a frame take to come.
func each(l dataplane.FloodLimit, bytes int) units.Time {
	if l.Frames > 0 {
		return (units.Second + units.Time(l.Frames) - 1) / units.Time(l.Frames)
	}
	return l.Rate.Serialize(units.Size(bytes))
}

func depth(l dataplane.FloodLimit) units.Time {
	switch {
	case l.Frames > 0:
		return units.Time(l.Burst) * each(l, 0)
	case l.Rate > 0:
		return l.Rate.Serialize(l.Burst)
	}
	return 0
}

func (b *refBucket) take(now units.Time, l dataplane.FloodLimit, bytes int) bool {
	if l == (dataplane.FloodLimit{}) {
		return true
	}
	b.held, b.at = min(depth(l), b.held+now-b.at), now
	if b.held < each(l, bytes) {
		return false
	}
	b.held -= each(l, bytes)
	return true
}

// refTokens are the tokens of a shaper: parts of a byte, as many to one as there are bits per second and picoseconds
// per byte.
type refTokens struct {
	held *big.Int
	at   units.Time
}

const tokensPerByte = 8e12

// shapers are those of the queues, and the port's.
func (p *refPort) shapers() (all [9]dataplane.Shaper) {
	for prio, q := range p.config.Queues {
		all[prio] = q.Shaper
	}
	all[8] = p.config.Shaper
	return all
}

func tokens(bytes units.Size) *big.Int {
	return new(big.Int).Mul(big.NewInt(int64(bytes)), big.NewInt(tokensPerByte))
}

func (b *refTokens) fill(x dataplane.Shaper) { b.held = tokens(x.Burst) }

// come adds the tokens of the time since.
func (b *refTokens) come(now units.Time, x dataplane.Shaper) {
	b.held = new(big.Int).Add(b.held, new(big.Int).Mul(big.NewInt(int64(now-b.at)), big.NewInt(int64(x.Rate))))
	if most := tokens(x.Burst); b.held.Cmp(most) > 0 {
		b.held = most
	}
	b.at = now
}

// shaped is how long a queue has to wait for the tokens of a frame of the longest kind, of its shaper and the port's.
func (r *reference) shaped(now units.Time, p *refPort, prio int) (wait units.Time) {
	all := p.shapers()
	for _, i := range []int{prio, 8} {
		x, b := all[i], &p.tokens[i]
		if x.Rate == 0 {
			continue
		}
		b.come(now, x)
		if lack := new(big.Int).Sub(tokens(units.Size(p.wireLen(r.config.MTU+14+8))), b.held); lack.Sign() > 0 {
			wait = max(wait, units.Time(new(big.Int).Div(new(big.Int).Add(lack, big.NewInt(int64(x.Rate)-1)), big.NewInt(int64(x.Rate))).Int64()))
		}
	}
	return wait
}

// spend takes the tokens of a frame that leaves.
func (p *refPort) spend(prio int, bytes int) {
	all := p.shapers()
	for _, i := range []int{prio, 8} {
		if all[i].Rate != 0 {
			p.tokens[i].held = new(big.Int).Sub(p.tokens[i].held, tokens(units.Size(bytes)))
		}
	}
}

// wireLen is what a frame occupies on the port's link.
func (p *refPort) wireLen(length int) int {
	switch o := p.config.Link.Overhead; o {
	case 0:
		return length + 24
	case dataplane.NoOverhead:
		return length
	default:
		return length + o
	}
}

// emit sends a frame out of a port, in the form that the port gives frames of a VLAN.
func (r *reference) emit(now units.Time, in *refPort, out, vlan int, f refFrame) {
	if out == in.number {
		r.lose(now, in, f.prio, dataplane.DropNoPort)
		return
	}
	r.leaveBy(now, in, r.ports[out], vlan, f)
}

// leaveBy queues a frame at the port by which it leaves, as a frame of a VLAN.
func (r *reference) leaveBy(now units.Time, in, out *refPort, vlan int, f refFrame) {
	f, ok := r.dress(f, out.number, vlan)
	if !ok {
		r.lose(now, in, f.prio, dataplane.DropVLAN)
		return
	}
	if len(f.bytes)-readHead(f.bytes).payload > r.mtuOf(out) {
		r.lose(now, in, f.prio, dataplane.DropOversize)
		return
	}
	r.queue(now, in, out, f)
}

// dress puts a frame's tag on or takes it off.
func (r *reference) dress(f refFrame, out, vlan int) (refFrame, bool) {
	f.bytes = slices.Clone(f.bytes)
	hasTag := len(f.bytes) >= 18 && binary.BigEndian.Uint16(f.bytes[12:]) == 0x8100
	points := r.ports[out].config.PCPOut
	if vlan == 0 {
		if hasTag && points != nil {
			f.bytes[14] = f.bytes[14]&0x1F | points[f.prio]<<5
		}
		return f, true
	}
	tagged, member := r.form(vlan, out)
	switch {
	case !member:
		return f, false
	case tagged && hasTag: // it keeps its code point
		f.bytes[14], f.bytes[15] = f.bytes[14]&0xF0|byte(vlan>>8), byte(vlan)
		if points != nil {
			f.bytes[14] = f.bytes[14]&0x1F | points[f.prio]<<5
		}
	case tagged:
		pcp := slices.Index(r.config.PCP[:], uint8(f.prio))
		switch {
		case points != nil:
			pcp = int(points[f.prio])
		case pcp < 0:
			pcp = f.prio
		}
		f.bytes = slices.Insert(f.bytes, 12, 0x81, 0, byte(pcp<<5)|byte(vlan>>8), byte(vlan))
		f.head.move(4)
	case hasTag:
		if len(f.bytes) >= 22 && binary.BigEndian.Uint16(f.bytes[16:]) == 0x8100 {
			return f, false // it would be in the VLAN of the inner tag
		}
		f.takeTag()
	}
	return f, true
}

// takeTag takes a tag off; a frame that is too short without it is padded.
func (f *refFrame) takeTag() {
	f.bytes = slices.Delete(f.bytes, 12, 16)
	f.bytes = append(f.bytes, make([]byte, max(0, 60-len(f.bytes)))...)
	f.head.move(-4)
}

// queue admits a frame to the buffer, and then to the queue that it leaves from.
func (r *reference) queue(now units.Time, in, out *refPort, f refFrame) {
	if why, ok := r.admit(in, out, f); !ok {
		r.lose(now, in, f.prio, why)
		return
	}
	r.attend(now, out)
	if why, ok := r.room(out, f); !ok {
		r.release(out, f)
		r.lose(now, out, f.prio, why)
		return
	}
	if f.in != made {
		k := in.accountOf(f.prio)
		a := in.accounts[k]
		in.least[k] = max(in.least[k], units.Size(a.base+a.head)+in.stats.Buffered[k])
	}
	out.queues[f.prio] = append(out.queues[f.prio], f)
	out.stats.QueuePeak[f.prio] = max(out.stats.QueuePeak[f.prio], units.Size(out.bytes(f.prio)))
	if cp, ok := out.points[f.prio].(marking.Sampler); ok && f.lossless {
		if s, ok := cp.Enqueue(now, out.state(f.prio), packetOf(f)); ok {
			r.notify(now, out, f, s)
		}
	}
}

func (r *reference) admit(in, out *refPort, f refFrame) (why dataplane.Reason, ok bool) {
	cost := r.cost(len(f.bytes))
	if f.lossless {
		return dataplane.DropHeadroom, r.charge(in, in.accountOf(f.prio), cost)
	}
	pooled := beyond(out, f.prio, out.lossy[f.prio]+cost) - beyond(out, f.prio, out.lossy[f.prio])
	if f.in != made && pooled > 0 && r.crowded(in, cost) {
		return dataplane.DropIngress, false
	}
	if pooled > r.free() {
		return dataplane.DropBuffer, false
	}
	r.used += pooled
	r.most = max(r.most, r.used)
	out.lossy[f.prio] += cost
	if f.in != made {
		in.stats.Buffered[f.prio] += units.Size(cost)
		in.stats.Ingress.Peak[f.prio] = max(in.stats.Ingress.Peak[f.prio], in.stats.Buffered[f.prio])
	}
	return 0, true
}

// beyond is what of so many bytes of lossy frames a queue has not got set aside.
func beyond(out *refPort, prio, lossy int) int { return max(0, lossy-int(out.config.Queues[prio].Min)) }

// crowded reports whether lossy frames that came through a port may not take so many bytes more.
func (r *reference) crowded(in *refPort, cost int) bool {
	sum := cost
	for _, n := range in.stats.Buffered {
		sum += int(n)
	}
	limit, alpha := int(in.config.LossyLimit), in.config.LossyAlpha
	return limit > 0 && sum > limit || alpha > 0 && float64(sum) > alpha*float64(r.free())
}

// room reports whether a queue takes a frame that was admitted.
func (r *reference) room(out *refPort, f refFrame) (why dataplane.Reason, ok bool) {
	limit := float64(r.config.Tail)
	share := r.config.Share
	switch own := out.config.Queues[f.prio].Alpha; own {
	case 0:
	case dataplane.NoAlpha:
		share = 0
	default:
		share = own
	}
	if share > 0 {
		limit = min(limit, share*float64(r.free()))
	}
	switch {
	case !f.lossless && beyond(out, f.prio, out.lossy[f.prio]) > 0 && float64(out.bytes(f.prio)+len(f.bytes)) > limit:
		return dataplane.DropTail, false
	case out.down:
		return dataplane.DropLink, false
	case out.pauses[f.prio].storm && dropping(r.config.Watchdog.Action):
		return dataplane.DropStorm, false
	}
	if w := out.wred[f.prio]; w != nil && !f.lossless && f.in != made {
		return dataplane.DropWRED, !w.Drops(units.Size(out.bytes(f.prio)), f.head.ip != 0 && f.head.tos&3 != 0)
	}
	return 0, true
}

// charge accounts a lossless frame to its priority's base, as far as that is below its threshold, and the
// rest to headroom.
func (r *reference) charge(p *refPort, prio, cost int) bool {
	a, t, free := &p.accounts[prio], r.thresholds(p, prio), r.free()
	pooled := func(base int) int { return max(0, base-int(t.XOFF)) }
	below := int(t.XOFF) + int(math.Floor(t.Alpha*float64(free)))
	part := min(cost, max(0, below-a.base))
	if pooled(a.base+part)-pooled(a.base) > free {
		part = min(cost, max(0, int(t.XOFF)-a.base))
	}
	room := int(t.Headroom)
	own := min(a.head+cost-part, room) - min(a.head, room)
	dry := r.config.Headroom > 0 && own > 0 && r.headed()+own > int(r.config.Headroom)
	if a.head+cost-part > a.promised || dry {
		a.refused = true
		return false
	}
	before := r.pooled(p, prio)
	a.base += part
	a.head += cost - part
	r.used += r.pooled(p, prio) - before
	r.most, r.heads = max(r.most, r.used), max(r.heads, r.headed())
	in := &p.stats.Ingress
	in.Peak[prio] = max(in.Peak[prio], units.Size(a.base+a.head))
	in.HeadroomMax[prio] = max(in.HeadroomMax[prio], units.Size(a.head))
	return true
}

// pooled is what an account has of the pool: base beyond XOFF, and what was promised beyond headroom.
func (r *reference) pooled(p *refPort, prio int) int {
	if !r.accountable(p, prio) {
		return 0
	}
	a, t := p.accounts[prio], r.thresholds(p, prio)
	return max(0, a.base-int(t.XOFF)) + max(0, a.head-int(t.Headroom))
}

// release gives back what a frame took: of headroom first.
func (r *reference) release(out *refPort, f refFrame) {
	cost := r.cost(len(f.bytes))
	if !f.lossless {
		r.used -= beyond(out, f.prio, out.lossy[f.prio])
		out.lossy[f.prio] -= cost
		r.used += beyond(out, f.prio, out.lossy[f.prio])
		if f.in != made {
			r.ports[f.in].stats.Buffered[f.prio] -= units.Size(cost)
		}
		return
	}
	p := r.ports[f.in]
	k := p.accountOf(f.prio)
	a := &p.accounts[k]
	before := r.pooled(p, k)
	part := min(cost, a.head)
	a.head -= part
	a.base -= cost - part
	r.used += r.pooled(p, k) - before
}

func packetOf(f refFrame) *marking.Packet {
	p := &marking.Packet{Size: len(f.bytes), L3: f.head.ip, ECN: f.head.tos & 3, Bytes: f.bytes}
	var h wire.Header
	if wire.Parse(f.bytes, &h) {
		p.Hash = h.Hash
	}
	return p
}

// transmit is what a port sends next, and has room for.
func (r *reference) transmit(now units.Time, port, room int) (sent []refFrame) {
	p := r.ports[port]
	r.attend(now, p)
	r.poll(now, p)
	for len(sent) < room {
		f, ok := r.pfcFrame(now, p)
		if !ok {
			break
		}
		b := make([]byte, pfc.FrameLen)
		f.Encode(b, p.config.MAC)
		p.stats.TxControl++
		sent = append(sent, refFrame{bytes: b})
	}
	for len(sent) < room {
		prio := r.next(now, p)
		if prio < 0 {
			break
		}
		p.spend(prio, p.wireLen(len(p.queues[prio][0].bytes)))
		sent = append(sent, r.leave(now, p, prio))
	}
	return sent
}

// pfcFrame is the XOFFs, refreshes and XONs that are due, in one frame.
func (r *reference) pfcFrame(now units.Time, p *refPort) (f pfc.Frame, ok bool) {
	quanta, others := r.quanta(p), false
	for prio := 1; prio < 8; prio++ {
		others = others || p.accounts[prio].held
	}
	for prio := range 8 {
		if p.config.Pause && prio == 0 && others {
			continue // those that were paused by PFC are let go before
		}
		a, in := &p.accounts[prio], &p.stats.Ingress
		xoff, xon := r.due(now, p, prio)
		switch {
		case xon:
			in.Resumes[prio]++
			in.Transitions[prio]++
			in.Paused[prio] += now - a.since
			a.held, a.refused, a.promised = false, false, int(r.thresholds(p, prio).Headroom)
			f.Enable |= 1 << prio
		case xoff:
			in.Pauses[prio]++
			if !a.held {
				a.held, a.since = true, now
			}
			a.refused = false
			a.refresh = now + pfc.Duration(quanta, p.rate)/2
			f.Enable |= 1 << prio
			f.Quanta[prio] = quanta
		}
		if p.config.Pause && prio == 0 && f.Enable != 0 {
			f.Global = true
		}
	}
	return f, f.Enable != 0
}

func (r *reference) quanta(p *refPort) uint16 {
	if r.config.Pause <= 0 {
		return pfc.MaxQuanta
	}
	return max(1, pfc.Quanta(r.config.Pause, p.rate))
}

// due reports whether the peer must be told something of a priority.
func (r *reference) due(now units.Time, p *refPort, prio int) (xoff, xon bool) {
	if !r.accountable(p, prio) {
		return false, p.accounts[prio].held // of before a reload
	}
	a, t := p.accounts[prio], r.thresholds(p, prio)
	raise := int(math.Floor(t.Alpha * float64(r.free())))
	switch {
	case !a.held:
		return a.head > 0 || a.refused || r.early>>prio&1 != 0 && a.base > int(t.XOFF)+raise, false
	case a.head == 0 && a.base <= int(t.XON)+raise:
		return false, true
	}
	return now >= a.refresh, false
}

// ready reports whether a queue has a frame that no pause keeps from leaving.
func (r *reference) ready(p *refPort, prio int) bool {
	x := p.pauses[prio]
	return len(p.queues[prio]) > 0 && (!x.paused || x.storm && r.config.Watchdog.Action == pfc.Forward)
}

// next is the priority that sends: the highest that has no weight, else by deficit round robin, in which the
// turn moves downwards; -1: nothing may leave.
func (r *reference) next(now units.Time, p *refPort) int {
	some := false
	var may [8]bool
	for prio := 7; prio >= 0; prio-- {
		may[prio] = r.ready(p, prio) && r.shaped(now, p, prio) == 0
		if some = some || may[prio]; may[prio] && r.config.Weights[prio] == 0 {
			return prio
		}
	}
	if !some {
		return -1
	}
	least := math.MaxInt
	for _, w := range r.config.Weights {
		if w > 0 {
			least = min(least, w)
		}
	}
	for !may[p.turn] || r.config.Weights[p.turn] == 0 || p.wireLen(len(p.queues[p.turn][0].bytes)) > p.deficit[p.turn] {
		p.turn = (p.turn + 7) % 8
		if may[p.turn] {
			p.deficit[p.turn] += r.config.Weights[p.turn] * (r.config.MTU + 18 + 24) / least
		}
	}
	p.deficit[p.turn] -= p.wireLen(len(p.queues[p.turn][0].bytes))
	return p.turn
}

// leave takes a frame out of its queue, and marks it if its congestion point says so.
func (r *reference) leave(now units.Time, p *refPort, prio int) refFrame {
	f := p.queues[prio][0]
	p.queues[prio] = p.queues[prio][1:]
	if len(p.queues[prio]) == 0 {
		p.deficit[prio] = 0
	}
	r.release(p, f)
	if cp := p.points[prio]; cp != nil && f.lossless {
		r.mark(p, f, cp.Dequeue(now, p.state(prio), packetOf(f)))
		if s, ok := cp.(marking.Stamper); ok {
			// acknowledgements bring back what was written on the way there: nothing is written into them
			if h := readHead(f.bytes); h.bth > 0 && f.bytes[h.bth] != 0x11 && f.bytes[h.bth] != 0xC1 {
				if t := wire.INTOf(f.bytes[h.ip:], h.bth-h.ip); t != nil {
					t.Push(s.Stamp(now, p.state(prio)))
				}
			}
		}
	}
	if w := p.wred[prio]; w != nil && !p.config.Queues[prio].WRED.NoECN && !f.lossless {
		after := p.state(prio)
		after.Bytes += units.Size(len(f.bytes)) // it is asked before the frame leaves
		if w.DequeueRun(now, after, []uint16{uint16(len(f.bytes))}) == 1 {
			r.mark(p, f, marking.Congestion)
		}
	}
	p.sent += p.wireLen(len(f.bytes))
	p.stats.TxFrames[prio]++
	p.stats.TxBytes[prio] += uint64(len(f.bytes))
	return f
}

// mark writes a congestion point's verdict into ECN-capable frames that are no CNPs.
func (r *reference) mark(p *refPort, f refFrame, m marking.Mark) {
	ect := f.head.ip != 0 && (f.head.tos&3 == 1 || f.head.tos&3 == 2)
	if !ect || f.isCNP() || m == marking.Keep {
		return
	}
	ip, ecn := f.bytes[f.head.ip:], byte(3)
	if m == marking.Undetermined {
		ecn = 2
		p.stats.Undetermined[f.prio]++
	} else {
		p.stats.Marked[f.prio]++
		p.stats.MarkedBytes[f.prio] += uint64(len(f.bytes))
	}
	if ip[0]>>4 == 6 {
		ip[1] = ip[1]&^0x30 | ecn<<4
		return
	}
	before := binary.BigEndian.Uint16(ip)
	ip[1] = ip[1]&^3 | ecn
	adjust(ip[10:], before, binary.BigEndian.Uint16(ip))
}

// isCNP reads the frame as it leaves, as its receiver will: one that lost its tag and was padded may have got the
// bytes that a notice had been short of.
func (f *refFrame) isCNP() bool {
	b := append(make([]byte, 12), 0x08, 0x00)
	if f.bytes[f.head.ip]>>4 == 6 {
		b[12], b[13] = 0x86, 0xDD
	}
	return readHead(append(b, f.bytes[f.head.ip:]...)).cnp
}

// adjust corrects an Internet checksum for a word that changed (RFC 1624, equation 3).
func adjust(sum []byte, before, after uint16) {
	n := uint32(^binary.BigEndian.Uint16(sum)) + uint32(^before) + uint32(after)
	n = n>>16 + n&0xFFFF
	n = n>>16 + n&0xFFFF
	binary.BigEndian.PutUint16(sum, ^uint16(n))
}

// poll sends the CNPs that congestion points have of their own accord.
func (r *reference) poll(now units.Time, p *refPort) {
	for prio, cp := range p.points {
		n, ok := cp.(marking.Notifier)
		for ok && n.Next() <= now {
			var flow marking.Flow
			if flow, ok = n.Poll(now, p.state(prio)); !ok {
				break
			}
			vlan, member := r.behind(now, p, flow.SrcMAC)
			if !member || flow.DstMAC.Multicast() { // no group can be the source of a frame
				continue
			}
			p.stats.CNPs[prio]++
			b := make([]byte, cnp.MaxLen)
			to := wire.RoCE{DstMAC: flow.SrcMAC, SrcMAC: flow.DstMAC, Src: flow.Dst, Dst: flow.Src, TOS: 48 << 2}
			r.say(now, p, p.number, vlan, b[:cnp.EncodeNamed(b, to, flow.QP, cnp.Name{Data: true, QP: flow.QP}, cnp.Notice{})])
		}
	}
}

// behind is the VLAN of a port's in which an address is known, else that of frames without tag.
func (r *reference) behind(now units.Time, p *refPort, m wire.MAC) (vlan int, ok bool) {
	for _, v := range r.config.VLANs {
		s := station{int(v.ID), m}
		_, learned := r.learned(now, s)
		if _, member := r.form(s.vlan, p.number); member && (learned || r.static(s) != nil || m == r.config.Router.MAC) {
			return s.vlan, true
		}
	}
	vlan = r.untagged(p.number)
	return vlan, vlan != 0 || len(r.config.VLANs) == 0
}

// notify tells the source of a frame that was sampled. If the frame was routed here, that is not its source.
func (r *reference) notify(now units.Time, p *refPort, f refFrame, s marking.Sample) {
	h := readHead(f.bytes)
	vlan, ok := 0, true
	if len(r.config.VLANs) > 0 {
		if vlan = int(h.vlan()); vlan == 0 {
			vlan = r.untagged(p.number)
		}
		_, ok = r.form(vlan, p.number)
	}
	if !ok || h.src == r.config.Router.MAC {
		return
	}
	p.stats.CNMs[f.prio]++
	b := make([]byte, cnp.MaxCNMLen)
	var head wire.Header
	wire.Parse(f.bytes, &head)
	r.say(now, p, f.in, vlan, b[:cnp.EncodeCNM(b, f.bytes, &head, p.config.MAC, cnp.CNM{
		QntzFb: s.QntzFb, QOffset: int16(s.QOffset / 64), QDelta: int16(s.QDelta / 64), Priority: uint8(f.prio), Dst: h.dst, Tagged: head.CNTagged, FlowID: head.FlowID,
	})])
}

// say sends what the switch itself says of a queue at a port: to whom it is for, or if nobody knows that one
// to where the frame came from that caused it.
func (r *reference) say(now units.Time, p *refPort, from, vlan int, b []byte) {
	h := readHead(b)
	f := refFrame{bytes: b, in: made, prio: int(r.config.Control), head: *h}
	s := station{vlan, h.dst}
	ports := r.static(s)
	w, ok := r.learned(now, s)
	switch {
	case h.dst == r.config.Router.MAC:
		r.route(now, p, vlan, h, f)
		return
	case ports != nil:
		from = r.oneOf(p, b, h, ports)
	case ok:
		from = w.port
	}
	r.leaveBy(now, p, r.ports[from], vlan, f)
}

// when is the instant at which a port can send something next if nothing else happens, and the instant of
// its first timer of any kind.
func (r *reference) when(now units.Time, p *refPort) (sends, timer units.Time) {
	sends = units.Never
	early := units.Never
	for prio := range 8 {
		wait := units.Never
		if r.ready(p, prio) {
			wait = r.shaped(now, p, prio)
		}
		if xoff, xon := r.due(now, p, prio); xoff || xon || wait == 0 {
			return now, now
		}
		if wait < units.Never {
			sends = min(sends, now+wait)
		}
		r.early = 0xFF
		if xoff, _ := r.due(now, p, prio); xoff {
			early = now
		}
		r.early = 0
		if r.accountable(p, prio) && p.accounts[prio].held {
			sends = min(sends, p.accounts[prio].refresh)
		}
		if n, ok := p.points[prio].(marking.Notifier); ok {
			sends = min(sends, max(now, n.Next()))
		}
	}
	timer = min(sends, early)
	w := r.config.Watchdog
	for prio, x := range p.pauses {
		if x.paused {
			timer = min(timer, x.until)
			if len(p.queues[prio]) > 0 {
				sends = min(sends, x.until)
			}
		}
		switch {
		case !r.pfc(p, prio):
		case x.paused && !x.storm && w.Detect > 0:
			timer = min(timer, x.since+w.Detect)
			sends = min(sends, max(now, x.since+w.Detect)) // what waits is discarded then
		case x.storm && !x.paused:
			timer = min(timer, max(now, x.ended+w.Restore))
		}
	}
	return sends, timer
}

// reload takes over another configuration.
func (r *reference) reload(now units.Time, c dataplane.SwitchConfig) {
	if len(r.config.VLANs) == 0 != (len(c.VLANs) == 0) {
		clear(r.known) // their VLANs are others
	}
	watchdog := r.config.Watchdog
	for _, p := range r.ports { // until now the other one counted
		r.attend(now, p)
	}
	points, keep := c.CP != nil, c.CP == nil
	if !points {
		c.CP = r.config.CP
	}
	pooled := make([][8]int, len(r.ports))
	for _, p := range r.ports { // what is set aside for queues is so anew
		for prio, n := range p.lossy {
			r.used += n - beyond(p, prio, n)
		}
	}
	again := r.reclass(now, c)
	for i, p := range r.ports {
		for prio := range 8 {
			pooled[i][prio] = r.pooled(p, prio)
		}
	}
	obeyed, watched := make([]uint8, len(r.ports)), make([]uint8, len(r.ports))
	for i, p := range r.ports {
		obeyed[i], watched[i] = r.obeyed(p)
	}
	points = points || r.config.CP != nil && r.others(c)
	r.config = c
	for s, w := range r.known {
		if _, member := r.form(s.vlan, w.port); !member || r.static(s) != nil || s.mac == c.Router.MAC {
			delete(r.known, s)
		}
	}
	for i, p := range r.ports {
		was := p.config
		before := p.shapers()
		p.config = c.Ports[i]
		for k, x := range p.shapers() {
			if x != before[k] { // another begins with all its tokens
				p.tokens[k].fill(x)
			}
		}
		p.setWRED(&was)
		if points {
			before := p.points
			r.setPoints(p)
			for prio := range 8 {
				if keep && before[prio] != nil && p.points[prio] != nil {
					p.points[prio] = before[prio]
				}
			}
		}
		r.configure(p, pooled[i])
	}
	again()
	for _, p := range r.ports {
		for prio, n := range p.lossy {
			r.used -= n - beyond(p, prio, n)
		}
	}
	for i, p := range r.ports {
		r.reobey(now, p, obeyed[i], watched[i])
	}
	for _, p := range r.ports {
		for prio, w := range c.Weights {
			if w == 0 { // a strict priority takes no turns, and saves nothing up for when it does again
				p.deficit[prio] = 0
			}
		}
		if c.Watchdog != watchdog {
			r.attend(now, p)
			for prio, x := range p.pauses {
				if x.storm && dropping(c.Watchdog.Action) {
					r.flush(now, p, prio, dataplane.DropStorm)
				}
			}
		}
	}
}

// others reports whether other priorities are lossless at some port than they were.
func (r *reference) others(c dataplane.SwitchConfig) bool {
	then := &reference{config: c}
	for prio := range 8 {
		if r.anywhere(prio) != then.anywhere(prio) {
			return true
		}
	}
	return false
}

// obeyed are the priorities of a port that its peer may pause by PFC, and those that the watchdog watches.
func (r *reference) obeyed(p *refPort) (obeyed, watched uint8) {
	for prio := range 8 {
		if r.pfc(p, prio) {
			watched |= 1 << prio
		}
	}
	if p.config.Asymmetric {
		return 0xFF, watched
	}
	return watched, watched
}

// reobey ends pauses and storms of a port that nobody can have caused by the configuration of now.
func (r *reference) reobey(now units.Time, p *refPort, obeyed, watched uint8) {
	o, w := r.obeyed(p)
	for prio := range 8 {
		if o != obeyed && (o>>prio&1 == 0 || o == 0 || obeyed == 0) {
			r.resume(now, now, p, prio)
		}
	}
	if w == watched {
		return
	}
	for prio := range 8 {
		if x := &p.pauses[prio]; x.storm && w>>prio&1 == 0 {
			x.storm = false
			p.stats.Watchdog.Restored[prio]++
			p.stats.Watchdog.Time[prio] += now - x.began
		}
	}
	r.attend(now, p)
}

// reclass takes out of the accounts what came through ports of which other frames will be lossless; again, called when
// that is so, charges it as what will come.
func (r *reference) reclass(now units.Time, c dataplane.SwitchConfig) (again func()) {
	then := &reference{config: c}
	var turned []*refPort
	for i, p := range r.ports {
		q := &refPort{number: i, config: c.Ports[i]}
		other := false
		for prio := range 8 {
			other = other || r.taken(p, prio) != then.taken(q, prio) || r.accountable(p, prio) != then.accountable(q, prio)
		}
		if !other {
			continue
		}
		turned = append(turned, p)
		for prio := range 8 {
			a := &p.accounts[prio]
			r.used -= r.pooled(p, prio)
			a.base, a.head, a.refused = 0, 0, false
			p.stats.Buffered[prio] = 0
			if p.config.Pause != q.config.Pause && prio == 0 && a.held {
				a.held = false
				p.stats.Ingress.Paused[prio] += now - a.since
			}
			if !r.accountable(p, prio) || !a.held {
				a.promised = 0
			}
		}
	}
	each := func(do func(f *refFrame, p, out *refPort)) {
		for _, out := range r.ports {
			for prio := range out.queues {
				for i := range out.queues[prio] {
					if f := &out.queues[prio][i]; f.in != made && slices.Contains(turned, r.ports[f.in]) {
						do(f, r.ports[f.in], out)
					}
				}
			}
		}
	}
	each(func(f *refFrame, _, out *refPort) {
		if !f.lossless {
			r.used -= r.cost(len(f.bytes))
			out.lossy[f.prio] -= r.cost(len(f.bytes))
		}
	})
	return func() {
		each(func(f *refFrame, p, out *refPort) {
			cost := r.cost(len(f.bytes))
			if f.lossless = r.taken(p, f.prio); !f.lossless {
				r.used += cost
				out.lossy[f.prio] += cost
				in := &p.stats
				in.Buffered[f.prio] += units.Size(cost)
				in.Ingress.Peak[f.prio] = max(in.Ingress.Peak[f.prio], in.Buffered[f.prio])
				return
			}
			k := p.accountOf(f.prio)
			a, before := &p.accounts[k], r.pooled(p, k)
			a.base += cost
			p.stats.Ingress.Peak[k] = max(p.stats.Ingress.Peak[k], units.Size(a.base))
			r.used += r.pooled(p, k) - before
		})
	}
}

// configure puts a port's thresholds in force; before: what it had of the pool.
func (r *reference) configure(p *refPort, before [8]int) {
	for prio := range 8 {
		a := &p.accounts[prio]
		r.used += r.pooled(p, prio) - before[prio]
		if headroom := int(r.thresholds(p, prio).Headroom); a.held || a.head > 0 {
			a.promised = max(a.promised, headroom) // the peer may still use what there was
		} else {
			a.promised = headroom
		}
	}
}

// link tells that a port's link is another.
func (r *reference) link(now units.Time, port int, s dataplane.LinkState) {
	p := r.ports[port]
	r.attend(now, p)
	p.shut, s.Up = s.Shut, s.Up && !s.Shut
	var pooled [8]int
	for prio := range 8 {
		pooled[prio] = r.pooled(p, prio)
	}
	faster := s.Rate > 0 && s.Rate != p.rate
	if faster {
		p.rate = s.Rate
		r.setPoints(p)
	}
	if s.Headroom > 0 {
		p.room = s.Headroom
	}
	if faster || s.Headroom > 0 {
		r.configure(p, pooled)
	}
	switch {
	case p.down && s.Up:
		p.down = false
		for prio := range 8 {
			a, before := &p.accounts[prio], r.pooled(p, prio)
			a.base, a.head, a.promised = a.base+a.head, 0, int(r.thresholds(p, prio).Headroom)
			a.refresh = now // the new peer knows of nothing
			r.used += r.pooled(p, prio) - before
		}
	case !p.down && !s.Up:
		p.down = true
		for prio := range 8 {
			r.flush(now, p, prio, dataplane.DropLink)
		}
		for prio := range 8 {
			r.resume(now, now, p, prio)
		}
		for s, w := range r.known {
			if w.port == port {
				delete(r.known, s)
			}
		}
		r.attend(now, p)
	}
}

// clear has what a port keeps the most of begin anew.
func (r *reference) clear(port int) {
	p := r.ports[port]
	for prio := range 8 {
		a, st := p.accounts[prio], &p.stats
		st.QueuePeak[prio] = units.Size(p.bytes(prio))
		st.Ingress.Peak[prio] = units.Size(a.base+a.head) + st.Buffered[prio]
		st.Ingress.HeadroomMax[prio] = units.Size(a.head)
		p.least[prio] = st.Ingress.Peak[prio]
	}
}

// count is the port's statistics at an instant.
func (r *reference) count(now units.Time, p *refPort) dataplane.PortStats {
	st := p.stats
	for prio := range 8 {
		st.QueueBytes[prio], st.QueueFrames[prio] = units.Size(p.bytes(prio)), uint64(len(p.queues[prio]))
		a, x := p.accounts[prio], p.pauses[prio]
		st.Buffered[prio] += units.Size(a.base + a.head)
		st.Ingress.Headroom[prio] = units.Size(a.head)
		if a.held {
			st.Ingress.Held |= 1 << prio
			st.Ingress.Paused[prio] += now - a.since
		}
		if x.paused {
			st.Egress.Held |= 1 << prio
			st.Egress.Paused[prio] += min(now, x.until) - x.since
		}
		if x.storm {
			st.Watchdog.Storm |= 1 << prio
			st.Watchdog.Time[prio] += now - x.began
		}
	}
	return st
}
