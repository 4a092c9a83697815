package dataplane_test

import (
	"encoding/binary"
	"math"
	"math/big"

	"photon/cnp"
	"photon/dataplane"
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// How frames leave the reference: whose turn it is, shapers, marks, notices.

// state is what a congestion point may know of a queue.
func (p *refPort) state(prio int) marking.Queue {
	return marking.Queue{Bytes: units.Size(p.bytes(prio)), Frames: len(p.queues[prio])}
}

// telemetry is what one that stamps may know of a port.
func (p *refPort) telemetry() (t marking.Port) {
	t.Sent = units.Size(p.sent)
	for prio := range p.queues {
		t.Queued += units.Size(p.bytes(prio))
	}
	return t
}

func (p *refPort) bytes(prio int) (n int) {
	for _, f := range p.queues[prio] {
		n += len(f.bytes)
	}
	return n
}

// refTokens are the tokens of a shaper: parts of a byte, as many to one as there are bits per second and picoseconds
// per byte.
type refTokens struct {
	tokens *big.Int
	at     units.Time
}

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

func (b *refTokens) fill(x dataplane.Shaper) { b.tokens = tokens(x.Burst) }

// come adds the tokens of the time since.
func (b *refTokens) come(now units.Time, x dataplane.Shaper) {
	b.tokens = new(big.Int).Add(b.tokens, new(big.Int).Mul(big.NewInt(int64(now-b.at)), big.NewInt(int64(x.Rate))))
	if most := tokens(x.Burst); b.tokens.Cmp(most) > 0 {
		b.tokens = most
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
		if lack := new(big.Int).Sub(tokens(units.Size(p.wireLen(r.config.MTU+14+8))), b.tokens); lack.Sign() > 0 {
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
			p.tokens[i].tokens = new(big.Int).Sub(p.tokens[i].tokens, tokens(units.Size(bytes)))
		}
	}
}

// wireLen is what a frame occupies on the port's link.
func (p *refPort) wireLen(length int) int {
	switch o := p.config.Link.Overhead; o {
	case 0:
		return length + 24
	case fabric.NoOverhead:
		return length
	default:
		return length + o
	}
}

func packetOf(f refFrame) *marking.Packet {
	return &marking.Packet{Size: len(f.bytes), L3: f.head.ip, Bytes: f.bytes}
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
		p.stats.TxControlBytes += 60
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
	for !may[p.nextPriority] || r.config.Weights[p.nextPriority] == 0 || p.wireLen(len(p.queues[p.nextPriority][0].bytes)) > p.deficit[p.nextPriority] {
		p.nextPriority = (p.nextPriority + 7) % 8
		if may[p.nextPriority] {
			// A turn that a pause or a shaper cut short leaves too little for a frame.
			if p.deficit[p.nextPriority] >= p.wireLen(len(p.queues[p.nextPriority][0].bytes)) {
				p.deficit[p.nextPriority] = p.wireLen(len(p.queues[p.nextPriority][0].bytes)) - 1
			}
			p.deficit[p.nextPriority] += r.config.Weights[p.nextPriority] * (r.config.MTU + 18 + 24) / least
		}
	}
	p.deficit[p.nextPriority] -= p.wireLen(len(p.queues[p.nextPriority][0].bytes))
	return p.nextPriority
}

// leave takes a frame out of its queue, and marks it if its congestion point says so.
func (r *reference) leave(now units.Time, p *refPort, prio int) refFrame {
	f := p.queues[prio][0]
	p.queues[prio] = p.queues[prio][1:]
	if len(p.queues[prio]) == 0 {
		p.deficit[prio] = 0
	}
	r.release(p, f)
	if cp := p.points[prio]; cp != nil && r.judges(f) {
		r.mark(p, f, cp.Dequeue(now, p.state(prio), packetOf(f)))
		if s, ok := cp.(marking.Stamper); ok {
			// acknowledgements bring back what was written on the way there: nothing is written into them
			if h := readHead(f.bytes); h.bth > 0 && f.bytes[h.bth] != 0x11 && f.bytes[h.bth] != 0xC1 {
				if t := wire.INTOf(f.bytes[h.ip:], h.bth-h.ip); t != nil {
					t.Push(s.Stamp(now, p.telemetry()))
					t.Via(p.config.MAC)
				}
			}
		}
	}
	if w := p.wred[prio]; w != nil && !p.config.Queues[prio].WRED.NoECN && !r.judges(f) {
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
	if !ect || f.isCNP() || m == marking.Unchanged {
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
		if r.accountable(p, prio) && p.accounts[prio].peerPaused {
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
