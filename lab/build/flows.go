package build

import (
	"iter"
	"math"
	"slices"

	"photon/agent"
	"photon/lab/experiment"
	"photon/units"
)

// Flow is a flow and where to look at it.
type Flow struct {
	experiment.Flow
	Slot     int32      // at the sender; only if it is there
	There    bool       // the sender knows of it
	Done     bool       // it has ended, and its results are known; the slot may be another flow's
	Stopped  bool       // or its sender gave up: it sends no more, and the slot may be another flow's
	Forgot   bool       // by its receiver, which had all of it
	End      units.Time // when it ended, was stopped, or its sender gave up
	Frames   uint64
	Repeated uint64
	Bytes    uint64
	Notified uint64
}

// keep keeps what was counted of a flow that sends no more.
func (f *Flow) keep(c agent.FlowCounts) {
	f.Frames, f.Repeated, f.Bytes, f.Notified = c.Frames, c.Repeated, c.Bytes, c.Notified
}

// Until is the instant until which a flow that has not ended went on: its stop, when its sender gave up, or the end of
// the run.
func (f *Flow) Until(end units.Time) units.Time {
	if f.Stopped {
		end = min(end, f.End)
	}
	if f.Stop > 0 { // nodes of a testbed stop flows by themselves
		end = min(end, f.Stop)
	}
	return end
}

// Flows are all flows of a run, by their numbers. Those of a workload are drawn when somebody first asks for them, and
// those that all hosts have forgotten are kept in a short form: tens of millions may come and go in a run.
type Flows struct {
	pages   []flowPage
	count   int
	readers []*experiment.FlowReader // of flows that are still to be drawn
	kinds   []*experiment.FlowKind   // of those in short forms

	again   []Flow // those of a page that has short forms, for who asks for single ones
	againOf int    // its number, and one
}

// flowPage is pageFlows flows in a row, the last page fewer.
type flowPage struct {
	flows   []Flow      // nil: none was asked for, or there are short forms
	missing int         // so many of them are to be drawn, which are of no kind yet
	open    int         // so many are not forgotten
	short   []shortFlow // when all are forgotten, or none was ever sent; else nil
}

const pageFlows = 512

// shortFlow is what is kept of a flow that all hosts have forgotten: all of it arrived, and no packet was sent twice.
// It is also what is kept of one that the run was too short for.
type shortFlow struct {
	size       units.Size
	start, end units.Time
	from, to   int32
	frames     uint32
	headers    uint32 // bytes
	notified   uint32
	kind       uint16
	dscp       uint8
	sent       bool
}

// newFlows are those of a list, none of which is sent yet.
func newFlows(l *experiment.FlowList) *Flows {
	f := &Flows{count: l.Len(), pages: make([]flowPage, (l.Len()+pageFlows-1)/pageFlows)}
	for _, r := range l.Readers() {
		if r.Drawn() {
			f.readers = append(f.readers, r)
			continue
		}
		f.read(r, r.End())
	}
	return f
}

// Add adds a flow at the end.
func (f *Flows) Add(flow Flow) {
	k := f.count / pageFlows
	if k == len(f.pages) {
		f.pages = append(f.pages, flowPage{})
	}
	p := &f.pages[k]
	p.flows = append(p.flows, flow)
	p.open++
	f.count++
}

// Len is how many there are.
func (f *Flows) Len() int { return f.count }

// At is a flow by its number. Of one in short form it is a copy, which is valid until another one is asked for. While
// hosts run side by side they may ask for those that have not ended.
func (f *Flows) At(i int) *Flow {
	k := i / pageFlows
	p := &f.pages[k]
	switch {
	case p.short != nil:
		if f.againOf != k+1 {
			f.again, f.againOf = slices.Grow(f.again[:0], pageFlows)[:len(p.short)], k+1
			for n := range p.short {
				f.unpack(&f.again[n], &p.short[n])
			}
		}
		return &f.again[i%pageFlows]
	case p.flows == nil || p.missing > 0 && p.flows[i%pageFlows].FlowKind == nil:
		f.draw(i)
	}
	return &p.flows[i%pageFlows]
}

// All passes all flows. What it passes is only valid until the next one.
func (f *Flows) All() iter.Seq2[int, *Flow] {
	return func(yield func(int, *Flow) bool) {
		var flow Flow
		for i := range f.count {
			p, at := &f.pages[i/pageFlows], &flow
			if p.short != nil {
				f.unpack(at, &p.short[i%pageFlows])
			} else {
				at = f.At(i)
			}
			if !yield(i, at) {
				return
			}
		}
	}
}

// Present passes the flows that were drawn and have no short form.
func (f *Flows) Present() iter.Seq2[int, *Flow] {
	return func(yield func(int, *Flow) bool) {
		for k := range f.pages {
			for i := range f.pages[k].flows {
				if x := &f.pages[k].flows[i]; x.FlowKind != nil && !yield(k*pageFlows+i, x) {
					return
				}
			}
		}
	}
}

// draw draws a flow, with those of its workload that are before it and the others that are in its page. Those of
// other workloads are left: one that begins late has many flows before those of one that begins early.
func (f *Flows) draw(i int) {
	of := slices.IndexFunc(f.readers, func(r *experiment.FlowReader) bool { return r.Number() <= i && i < r.End() })
	if of < 0 {
		return
	}
	r := f.readers[of]
	if f.read(r, min((i/pageFlows+1)*pageFlows, r.End())); r.Number() == r.End() {
		f.readers = slices.Delete(f.readers, of, of+1)
	}
}

// read takes flows from a reader until it is before a number.
func (f *Flows) read(r *experiment.FlowReader, end int) {
	for i := r.Number(); i < end; i++ {
		p := &f.pages[i/pageFlows]
		if p.flows == nil {
			n := min(pageFlows, f.count-i/pageFlows*pageFlows)
			p.flows, p.missing, p.open = make([]Flow, n), n, n
		}
		p.flows[i%pageFlows].Flow = *r.Next()
		p.missing--
	}
}

// forgotten notes that no host knows of a flow any more.
func (f *Flows) forgotten(i int) {
	p := &f.pages[i/pageFlows]
	if p.open--; p.open == 0 && p.missing == 0 {
		f.shorten(p)
	}
}

// DrawRest draws the flows that nobody has asked for, at the end of a run: none is sent any more.
func (f *Flows) DrawRest() {
	for k := range f.pages {
		if p := &f.pages[k]; p.short == nil && (p.flows == nil || p.missing > 0) {
			for i := k * pageFlows; i < min((k+1)*pageFlows, f.count); i++ {
				f.At(i)
			}
			if !slices.ContainsFunc(p.flows, func(x Flow) bool { return x.There }) {
				f.shorten(p)
			}
		}
	}
}

// shorten keeps of the flows of a page what there is a short form of.
func (f *Flows) shorten(p *flowPage) {
	if p.short = f.pack(p.flows); p.short != nil {
		p.flows = nil
	}
}

// pack is what is kept of some flows; nil: they have something that shortFlow has no place for.
func (f *Flows) pack(flows []Flow) []shortFlow {
	list := make([]shortFlow, len(flows))
	for i := range flows {
		x := &flows[i]
		kind := f.kindOf(x.FlowKind)
		o := shortFlow{
			size: x.Size, start: x.Start, end: x.End, from: int32(x.From), to: int32(x.To), frames: uint32(x.Frames),
			headers: uint32(x.Bytes - uint64(x.Size)), notified: uint32(x.Notified), kind: uint16(kind), dscp: x.DSCP,
			sent: x.There,
		}
		var again Flow
		if kind <= math.MaxUint16 {
			f.unpack(&again, &o)
		}
		if again.Slot = x.Slot; again != *x { // the slot is not this flow's any more
			return nil
		}
		list[i] = o
	}
	return list
}

// unpack is the flow that pack packed.
func (f *Flows) unpack(x *Flow, o *shortFlow) {
	*x = Flow{Flow: experiment.Flow{
		FlowKind: f.kinds[o.kind], From: int(o.from), To: int(o.to), Size: o.size, Start: o.start, DSCP: o.dscp,
		AddWhenDue: true,
	}}
	if o.sent {
		x.There, x.Done, x.Forgot, x.End, x.Frames = true, true, true, o.end, uint64(o.frames)
		x.Bytes, x.Notified = o.bytes(), uint64(o.notified)
	}
}

// short is the short form of a flow; nil: it has none.
func (f *Flows) short(i int) *shortFlow {
	if short := f.pages[i/pageFlows].short; short != nil {
		return &short[i%pageFlows]
	}
	return nil
}

// bytes is how many its receiver had.
func (o *shortFlow) bytes() uint64 {
	if !o.sent {
		return 0
	}
	return uint64(o.size) + uint64(o.headers)
}

// state is what can be seen of it at its sender.
func (o *shortFlow) state() agent.FlowState {
	return agent.FlowState{FlowCounts: agent.FlowCounts{
		Frames: uint64(o.frames), Bytes: o.bytes(), Notified: uint64(o.notified),
	}}
}

// kindOf is a kind's place among those of short forms.
func (f *Flows) kindOf(k *experiment.FlowKind) int {
	at := slices.Index(f.kinds, k)
	if at < 0 {
		at = len(f.kinds)
		f.kinds = append(f.kinds, k)
	}
	return at
}
