package accept

import (
	"context"
	"errors"
	"fmt"

	"photon/marking"
	"photon/units"
)

// marks are how many of some frames in a queue are marked by a scheme that goes by the queue's length.
type marks struct {
	frames      int
	least, most int
	all         units.Size // Kmax
	why         string     // it cannot be said; empty: it can
}

// early reports whether the congestion point of a queue may mark frames when so many bytes are in it.
func (p *Plan) early(port, prio int, queue units.Size) bool {
	from, _, known := p.thresholds(port, prio)
	return p.judges(port, prio) && (!known || from < queue)
}

// thresholds are those of a congestion point that goes by the length of its queue.
func (p *Plan) thresholds(port, prio int) (from, all units.Size, known bool) {
	if by, ok := p.point(port, prio).(marking.ByLength); ok {
		from, all = by.Thresholds()
	}
	return from, all, all > 0
}

// judges reports whether a priority of a port has a congestion point of the scheme.
func (p *Plan) judges(port, prio int) bool {
	c := &p.node.Config
	return (c.LosslessAt(port)|c.Judged)>>prio&1 != 0 && p.point(port, prio) != marking.None{}
}

// point is a congestion point of the scheme, as a queue has it.
func (p *Plan) point(port, prio int) marking.CP {
	c := &p.node.Config
	return c.CP(marking.Place{Port: port, Prio: prio, Rate: c.Ports[port].Link.Rate})
}

// marks works it out for the scheme of the switch, and frames of so many bytes that take cells for 1600.
func (p *Plan) marks(w *way, size int) (m marks) {
	m.frames = 60
	from, all, known := p.thresholds(w.out, max(w.stop, 0))
	if m.all = all; !known {
		m.why = fmt.Sprintf("what %s marks does not follow from how long a queue is", p.node.Scheme.Name)
		return m
	}
	if !p.judges(w.out, w.stop) {
		m.why = fmt.Sprintf("the scheme is not in priority %d", w.stop)
		return m
	}
	m.frames = max(m.frames, int(m.all)/size+20)
	// A frame is marked by the bytes that it leaves behind; the buffer's cells take up to 1600 B for one.
	m.least, m.most = m.frames-1-int(m.all)/size-1, m.frames-int(from/1600)
	if room := p.node.Config.PFC[w.stop].XOFF; units.Size(m.frames)*1600 >= room {
		m.why = fmt.Sprintf("a queue with Kmax %v and %d frames more reaches XOFF, %v", m.all, 20, room)
	}
	return m
}

// marking fills a queue that is stopped, lets it go, and counts the frames that come marked.
func (t *trial) marking(ctx context.Context, w *way) error {
	if !t.r.wants("marking") {
		return nil
	}
	if w.stop < 0 {
		return t.r.add(Step{Name: "marking", Port: w.outName, Asserts: "frames are marked by their queue",
			Verdict: NotPossible, Why: noPriority(w)})
	}
	k, _ := w.kindOf(w.stop)
	b := t.b
	link := min(b.ports[w.from].rate, b.ports[w.to].rate)
	plain := w.frame(emptyStream, k, true, longest)
	m := t.p.marks(w, len(w.leaves(plain)))
	n := m.frames
	if m.why != "" {
		if err := t.r.add(Step{Name: "marking", Port: w.outName, Verdict: NotPossible, Why: m.why,
			Asserts: "ECN-capable frames are marked by the length of their queue"}); err != nil {
			return err
		}
		return t.marked(ctx, w, k, m, notECTStream)
	}
	slow := 20 * link.Serialize(onWire(len(plain))) // no queue
	b.send(w.from, &stream{frame: plain, every: slow, left: int64(n)})
	empty := b.quiet(ctx, w.to, emptyStream, uint64(n))
	if err := t.r.add(Step{
		Name: "marking", Port: w.outName, Asserts: "frames that leave no queue behind are not marked",
		Measured: fmt.Sprintf("%d of %d marked, %d arrived", empty.marked, n, empty.n),
		Verdict:  verdict(empty.n == uint64(n) && empty.marked == 0),
	}); err != nil {
		return err
	}
	return errors.Join(t.marked(ctx, w, k, m, ectStream), t.marked(ctx, w, k, m, notECTStream))
}

// marked counts the marks of frames in a queue that is stopped.
func (t *trial) marked(ctx context.Context, w *way, k kind, m marks, id int) error {
	b, n, ect := t.b, m.frames, id == ectStream
	b.pausePeer(w.to, xoff(w.stop))
	if err := t.follows(ctx, w); err != nil {
		return err
	}
	st := &stream{frame: w.frame(id, k, ect, longest), left: int64(n)}
	wanted := [][]byte{w.leaves(st.frame)}
	if ect {
		wanted = append(wanted, marked(wanted[0]))
	}
	b.betweenPolls(func(units.Time) { b.ports[w.to].wanted[id] = wanted })
	b.send(w.from, st)
	if err := eventually(ctx, func() (all bool) {
		b.betweenPolls(func(units.Time) { all = st.sent == uint64(n) })
		return all
	}); err != nil {
		return err
	}
	if err := t.passes(ctx, w); err != nil { // the last are in the queue
		return err
	}
	b.release(w.to, xon(w.stop))
	got := b.quiet(ctx, w.to, id, uint64(n))
	b.send(w.from)
	step := Step{
		Name: "marking", Port: w.outName,
		Asserts: fmt.Sprintf("of %d frames in a queue that are not ECN-capable none is marked", n),
		Measured: fmt.Sprintf(
			"%d, %d arrived, %d of them changed but for the mark", got.marked, got.n, got.changed,
		),
		Verdict: verdict(got.n == uint64(n) && got.changed == 0 && got.marked == 0),
		Values:  map[string]float64{"sent": float64(n), "arrived": float64(got.n), "marked": float64(got.marked)},
	}
	if ect {
		step.Asserts = fmt.Sprintf(
			"of %d ECN-capable frames in a queue those are marked that leave more than %v behind, which are %d to %d",
			n, m.all, m.least, m.most,
		)
		few, many := int(got.marked) < m.least, int(got.marked) > m.most
		step.Verdict = verdict(got.n == uint64(n) && got.changed == 0 && !few && !many)
	}
	return t.r.add(step)
}

// noPriority is why a way has no lossless priority.
func noPriority(w *way) string {
	return fmt.Sprintf("no priority is lossless at %s and stopped by an XOFF at %s", w.inName, w.outName)
}
