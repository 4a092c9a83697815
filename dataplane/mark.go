package dataplane

import (
	"math/bits"

	"photon/cnp"
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// The last stage before a frame is sent: the congestion point of its queue judges it, and its mark, or
// the telemetry of the hop, is written into it. A congestion point that needs only sizes is asked once for
// all frames that leave together, any other once per frame.

// point is the congestion point of one queue, and what more than marking it does.
type point struct {
	cp       marking.CP // nil: none
	runner   marking.Runner
	sampler  marking.Sampler
	notifier marking.Notifier
	stamper  marking.Stamper
}

func newPoint(cp marking.CP) (p point) {
	if _, none := cp.(marking.None); none {
		return point{}
	}
	p.cp = cp
	p.sampler, _ = cp.(marking.Sampler)
	p.notifier, _ = cp.(marking.Notifier)
	if p.stamper, _ = cp.(marking.Stamper); p.stamper == nil {
		p.runner, _ = cp.(marking.Runner)
	}
	return p
}

// newPoints makes the congestion points of a port whose link has a rate.
func (c *SwitchConfig) newPoints(port int, rate units.Rate) *[pfc.Classes]point {
	points := new([pfc.Classes]point)
	for prio := range pfc.Classes {
		if c.judged()>>prio&1 != 0 {
			points[prio] = newPoint(c.CP(marking.Place{Port: port, Prio: prio, Rate: rate}))
		}
	}
	return points
}

// judges reports whether the congestion point of a frame's queue judges the frame: it is lossless, or its lossy priority has a
// congestion point, too.
func (p *switchPort) judges(f *fabric.Frame) bool {
	return f.Flag&fabric.Lossless != 0 || p.sw.config.Judged>>(f.Prio&7)&1 != 0
}

// judged are the priorities of the port that have a congestion point.
func (p *switchPort) judged() (set uint8) {
	for prio := range p.points {
		if p.points[prio].cp != nil {
			set |= 1 << prio
		}
	}
	return set
}

func (p *switchPort) setPoints(points [pfc.Classes]point) {
	p.points, p.notifies, p.judgesIdle, p.shown, p.samples, p.passed = points, 0, 0, 0, 0, 0
	for prio := range points {
		if points[prio].notifier != nil {
			p.notifies |= 1 << prio
		}
		if points[prio].sampler != nil {
			p.samples |= 1 << prio
		}
		point := &points[prio]
		if _, idle := point.cp.(marking.Idler); point.cp != nil && !idle {
			p.judgesIdle |= 1 << prio
		}
		if point.stamper != nil {
			p.passed |= 1 << prio
		}
	}
	p.passed |= p.judgesIdle
	p.shown = p.passed | p.samples
}

// mark passes frames of one queue, which are about to leave it together, to the congestion point; they are
// still in the queue. If it has to see each frame, there is only one.
func (p *switchPort) mark(now units.Time, prio uint8, burst []fabric.Frame) {
	point, q := &p.points[prio], &p.queues[prio]
	switch {
	case !p.judges(&burst[0]): // no scheme judges them
		q.unjudged -= uint32(len(burst))
		if p.wred.marks>>prio&1 != 0 {
			p.markAll(burst, p.wred.of[prio].DequeueRun(now, p.state(int(prio)), p.sizes(burst)))
		}
	case point.cp == nil:
	case point.runner == nil:
		f := &burst[0]
		p.judge(now, prio, q.bytes-units.Size(f.Len), int(q.frames)-1, f)
		if point.stamper != nil {
			p.stamp(now, point, p.buffered()-units.Size(f.Len), f)
		}
	default:
		p.markAll(burst, point.runner.DequeueRun(now, p.state(int(prio)), p.sizes(burst)))
	}
}

// sizes are the lengths of frames, until the next call.
func (p *switchPort) sizes(burst []fabric.Frame) []uint16 {
	sizes := scratchOf(p.env.Pool).sizes[:len(burst)]
	for i := range burst {
		sizes[i] = burst[i].Len
	}
	return sizes
}

// markAll marks the frames of a burst whose bits are set.
func (p *switchPort) markAll(burst []fabric.Frame, marked uint64) {
	for ; marked != 0; marked &= marked - 1 {
		p.markCE(&burst[bits.TrailingZeros64(marked)])
	}
}

// judge passes one frame to the congestion point, with the bytes that the frame leaves behind, and writes its mark.
func (p *switchPort) judge(now units.Time, prio uint8, bytes units.Size, frames int, f *fabric.Frame) {
	point := &p.points[prio]
	p.show(f)
	switch point.cp.Dequeue(now, marking.Queue{Bytes: bytes, Frames: frames}, &scratchOf(p.env.Pool).packet) {
	case marking.Congestion:
		p.markCE(f)
	case marking.Undetermined:
		if p.setECN(f, cnp.TCDUndetermined) {
			p.stats.Undetermined[prio]++
		}
	}
}

// markCE writes congestion experienced into a frame, if it may be marked.
func (p *switchPort) markCE(f *fabric.Frame) {
	done, ok := false, false
	if b := p.env.Start(f); b != nil && f.Len >= wire.HeadersLen && f.Flag&(fabric.Markable|fabric.OffsetL3) == fabric.Markable|wire.EthernetLen {
		f.Digest = 0
		done, ok = wire.MarkPlain((*[wire.PlainLen]byte)(b[wire.EthernetLen:]))
	}
	if done || !ok && p.setECN(f, wire.CE) {
		p.stats.Marked[f.Prio&7]++
		p.stats.MarkedBytes[f.Prio&7] += uint64(f.Len)
	}
}

// setECN writes an ECN codepoint into a frame, unless it is not ECN-capable or a CNP: the notice itself is
// never marked.
func (p *switchPort) setECN(f *fabric.Frame, ecn uint8) bool {
	if f.Flag&fabric.Markable == 0 {
		return false
	}
	f.Digest = 0
	ip := p.env.Bytes(f)[f.L3():]
	if wire.IsCNP(ip) {
		return false
	}
	wire.SetECN(ip, ecn)
	return true
}

// stamp writes the port's telemetry into a packet that has room for it, and leaves so much queued behind.
func (p *switchPort) stamp(now units.Time, point *point, queued units.Size, f *fabric.Frame) {
	b := p.env.Bytes(f)
	l3, bth := wire.FindBTH(b)
	if bth == 0 || f.L3() == 0 || answers(wire.BTH(b[bth:]).Opcode()) {
		return
	}
	if t := wire.INTOf(b[l3:], bth-l3); t != nil {
		t.Push(point.stamper.Stamp(now+p.sw.era.stamp, marking.Port{Queued: queued, Sent: p.sent()}))
		t.Via(p.config.MAC)
		f.Digest = 0
	}
}

// answers reports whether packets with an opcode bring telemetry back.
func answers(opcode uint8) bool { return opcode == wire.OpAcknowledge || opcode == wire.OpShimEcho }

// show fills in what a congestion point may know of a frame.
func (p *switchPort) show(f *fabric.Frame) {
	scratchOf(p.env.Pool).packet.Show(int(f.Len), f.L3(), p.env.Bytes(f))
}

// sample passes a frame that was just queued, and the length of the queue with it, to the congestion point, and
// sends the feedback, if there is some, to the frame's source.
func (s *Switch) sample(now units.Time, p *switchPort, f *fabric.Frame, q marking.Queue) {
	point := &p.points[f.Prio&7]
	if sample, ok := p.feedback(now, f, q); ok {
		s.sendCNM(now, p, f, sample)
	}
	if point.notifier != nil { // a new flow needs its timer, even while the port is paused
		p.env.Wake(p.number, point.notifier.Next())
	}
}

// feedback passes such a frame to the congestion point, and returns what it has to tell the source.
func (p *switchPort) feedback(now units.Time, f *fabric.Frame, q marking.Queue) (s marking.Sample, ok bool) {
	p.show(f)
	return p.points[f.Prio&7].sampler.Enqueue(now, q, &scratchOf(p.env.Pool).packet)
}

// showPassing passes a frame that leaves without being queued to the congestion point, as if it had been
// queued.
func (s *Switch) showPassing(now units.Time, p *switchPort, f *fabric.Frame) {
	if p.points[f.Prio&7].sampler != nil && f.In != ownFrame {
		s.sample(now, p, f, marking.Queue{Bytes: units.Size(f.Len), Frames: 1})
	}
	if p.passed>>(f.Prio&7)&1 != 0 {
		p.judgePassing(now, f)
	}
}

// judgePassing has the congestion point judge such a frame, if it does.
func (p *switchPort) judgePassing(now units.Time, f *fabric.Frame) {
	prio := f.Prio & 7
	point := &p.points[prio]
	if p.judgesIdle>>prio&1 != 0 {
		p.judge(now, prio, 0, 0, f)
		if point.notifier != nil {
			p.env.Wake(p.number, point.notifier.Next())
		}
	}
	if point.stamper != nil {
		p.stamp(now, point, 0, f)
	}
}

// sent is how many bytes the port has put on the wire, MAC control left out.
func (p *switchPort) sent() units.Size {
	queues, st := p.queues[:pfc.Classes], &p.stats
	bytes, frames := uint64(0), uint64(0)
	for prio := range queues {
		left := queues[prio].left
		bytes += st.TxBytes[prio] + left.bytes()
		frames += st.TxFrames[prio] + left.frames()
	}
	return units.Size(bytes) + units.Size(frames)*units.Size(p.overhead)
}

// state is what a congestion point may know of its queue.
func (p *switchPort) state(prio int) marking.Queue {
	q := &p.queues[prio]
	return marking.Queue{Bytes: q.bytes, Frames: int(q.frames)}
}

// buffered is the bytes in all queues of the port.
func (p *switchPort) buffered() (sum units.Size) {
	for rest := p.waiting; rest != 0; rest &= rest - 1 {
		sum += p.queues[bits.TrailingZeros8(rest)].bytes
	}
	return sum
}
