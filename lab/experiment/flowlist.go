package experiment

import (
	"iter"

	"photon/lab/topology"
	"photon/lab/workload"
	"photon/units"
)

// FlowList is all flows of a run, by their numbers. Those of a workload need not be in memory: they are drawn whenever
// somebody asks for them, the same each time.
type FlowList struct {
	Sent     []int      // by node: how many flows it sends
	Received []int      // by node: how many are for it
	Endless  int        // flows without a size
	Bytes    units.Size // of the others
	Stops    bool       // some are stopped

	parts  []flowPart
	count  int
	groups map[string]int // how many flows each has
	pairs  []flowPair
}

// flowPart is flows in a row.
type flowPart struct {
	first, count int // their numbers
	made         []Flow
	drawn        *drawnFlows // else
}

// flowPair is the first of the pairs of hosts that have the same ways.
type flowPair struct {
	from, to int
	group    string // of the first flow from one to the other
}

// drawnFlows are those of a workload.
type drawnFlows struct {
	begin func() (*workload.Stream, error)
	flow  func(workload.Arrival) Flow
}

// Len is how many flows there are.
func (l *FlowList) Len() int { return l.count }

// Groups is how many flows each group has.
func (l *FlowList) Groups() map[string]int { return l.groups }

// All passes the flows in the order of their numbers. What it passes is only valid until the next one.
func (l *FlowList) All() iter.Seq2[int, *Flow] {
	return func(yield func(int, *Flow) bool) {
		for k := range l.parts {
			r := l.parts[k].reader()
			for f := r.Next(); f != nil; f = r.Next() {
				if !yield(r.number-1, f) {
					return
				}
			}
		}
	}
}

// List is all of them at once.
func (l *FlowList) List() []Flow {
	if len(l.parts) == 1 && l.parts[0].drawn == nil {
		return l.parts[0].made
	}
	list := make([]Flow, 0, l.count)
	for _, f := range l.All() {
		list = append(list, *f)
	}
	return list
}

// Readers pass the flows part by part. Those of a part that is drawn begin in the order of their numbers.
func (l *FlowList) Readers() (list []*FlowReader) {
	for k := range l.parts {
		list = append(list, l.parts[k].reader())
	}
	return list
}

// FlowReader passes flows in a row.
type FlowReader struct {
	number int // of the next
	end    int // before that of the last
	made   []Flow
	from   *workload.Stream
	flow   func(workload.Arrival) Flow
	last   Flow
}

func (p *flowPart) reader() *FlowReader {
	r := &FlowReader{number: p.first, end: p.first + p.count, made: p.made}
	if p.drawn != nil {
		r.from, _ = p.drawn.begin() // it could be begun when the flows were counted
		r.flow = p.drawn.flow
	}
	return r
}

// Number is that of the flow that Next passes next, and End that after the last.
func (r *FlowReader) Number() int { return r.number }

// End is the number after that of the last flow.
func (r *FlowReader) End() int { return r.end }

// Drawn reports whether the flows are drawn as they are asked for.
func (r *FlowReader) Drawn() bool { return r.from != nil }

// Next passes a flow, which is valid until the next call; nil: there are no more.
func (r *FlowReader) Next() *Flow {
	if r.number == r.end {
		return nil
	}
	r.number++
	if r.from == nil {
		f := &r.made[0]
		r.made = r.made[1:]
		return f
	}
	a, _ := r.from.Next() // as many as were counted
	r.last = r.flow(a)
	return &r.last
}

// add adds flows at the end.
func (l *FlowList) add(p flowPart) {
	if p.drawn != nil || len(p.made) > 0 {
		l.parts = append(l.parts, p)
	}
}

// list appends all that are drawn to a list.
func (d *drawnFlows) list(list []Flow) []Flow {
	s, _ := d.begin() // it could be begun before
	for a, ok := s.Next(); ok; a, ok = s.Next() {
		list = append(list, d.flow(a))
	}
	return list
}

// survey goes through all flows once.
func (l *FlowList) survey(p *topology.Plan) error {
	l.Sent, l.Received, l.groups = make([]int, len(p.Nodes)), make([]int, len(p.Nodes)), map[string]int{}
	ways := map[topology.Pair]bool{}
	var kind *FlowKind // of the last flow, and how many in a row were of it
	row := 0
	for k := range l.parts {
		part := &l.parts[k]
		part.first, part.count = l.count, len(part.made)
		each := func(f *Flow) {
			l.Sent[f.From]++
			l.Received[f.To]++
			if l.Bytes += f.Size; f.Size == 0 {
				l.Endless++
			}
			l.Stops = l.Stops || f.Stop > 0
			if pair := p.PairOf(f.From, f.To); !ways[pair] {
				ways[pair] = true
				l.pairs = append(l.pairs, flowPair{f.From, f.To, f.Group})
			}
			if f.FlowKind != kind {
				if kind != nil {
					l.groups[kind.Group] += row
				}
				kind, row = f.FlowKind, 0
			}
			row++
		}
		if part.drawn == nil {
			for i := range part.made {
				each(&part.made[i])
			}
		} else {
			s, err := part.drawn.begin()
			if err != nil {
				return err
			}
			for a, ok := s.Next(); ok; a, ok = s.Next() {
				f := part.drawn.flow(a)
				part.count++
				each(&f)
			}
		}
		l.count += part.count
	}
	if kind != nil {
		l.groups[kind.Group] += row
	}
	return nil
}
