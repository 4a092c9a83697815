package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"photon/config"
	"photon/lab/topology"
	"photon/lab/workload"
	"photon/units"
)

// arrivals are the flows of a workload, to be drawn; nil: it has none.
func (e *Experiment) arrivals(p *topology.Plan, number int, seed uint64, nics *NICs) (*drawnFlows, error) {
	w := &e.Workloads[number]
	from, err := hosts(p, w.From)
	if err != nil {
		return nil, err
	}
	to, err := hosts(p, w.To)
	if err != nil {
		return nil, err
	}
	if err := w.check(p, from, to); err != nil {
		return nil, err
	}
	if !w.End.IsSet() && w.Start.V >= e.Duration {
		return nil, nil // a shortened run ends before
	}
	if w.End.IsSet() && w.End.V <= w.Start.V {
		return nil, at(w.End, "workload %s ends at %v, and starts at %v", w.Name.V, w.End.V, w.Start.V)
	}
	name := func(host int) string { return p.Nodes[host].Name }
	rate := units.Rate(float64(w.Capacity.V) * w.Load.V)
	d := &drawnFlows{}
	if w.Burst.IsSet() {
		on := workload.OnOff{
			Burst: w.Burst.V, Rate: rate, From: from[0], To: to[0],
			Start: w.Start.V, End: w.End.Or(e.Duration), Name: name,
		}
		d.begin = func() (*workload.Stream, error) { return on.Stream(seed) }
	} else {
		var sizes workload.Sizes
		if sizes, err = w.sizes(); err != nil {
			return nil, err
		}
		c := workload.Poisson{
			Sizes: sizes, Load: w.Load.V, Rate: w.Capacity.V, From: from, To: to, Synchronised: w.Together,
			Start: w.Start.V, End: w.End.Or(e.Duration), Flows: w.Flows.V,
			Name: name,
		}
		if w.Incast.IsSet() {
			c.IncastMin, c.IncastMax = w.Incast.V[0], w.Incast.V[1]
		}
		d.begin = func() (*workload.Stream, error) { return c.Stream(seed) }
	}
	if _, err = d.begin(); err != nil {
		return nil, at(w.Load, "workload %s: %v", w.Name.V, err)
	}
	kind, shared := &FlowKind{Group: w.Name.Or("workload"), Weight: 1}, uint32(0)
	if w.Messages {
		shared = uint32(number + 1)
	}
	late := !w.Messages && !e.changed(kind.Group)
	d.flow = func(a workload.Arrival) Flow {
		from, to := nics.Next(a.From, a.To)
		f := Flow{FlowKind: kind, From: from, To: to, Size: a.Size, Start: a.At, Shared: shared, AddWhenDue: late}
		for _, c := range w.Classes {
			if c.UpTo.V == 0 || a.Size <= c.UpTo.V {
				f.DSCP = uint8(c.DSCP.V)
				break
			}
		}
		return f
	}
	return d, nil
}

// check finds what of a workload would not be as it says.
func (w *Workload) check(p *topology.Plan, from, to []int) error {
	for i, h := range slices.Concat(from, to) {
		if h < 0 {
			where := w.From
			if i >= len(from) {
				where = w.To
			}
			return at(where, "workload %s: %s is one NIC of a host: workloads are of hosts, whose NICs take turns",
				w.Name.V, where.V)
		}
	}
	switch in := w.Incast; {
	case w.Flows.IsSet() && w.Flows.V < 1:
		return at(w.Flows, "workload %s: flows %d: from 1 (absent: all)", w.Name.V, w.Flows.V)
	case w.Shape.IsSet() && !(w.Shape.V > 1):
		return at(w.Shape, "workload %s: shape %v: above 1, or sizes have no mean", w.Name.V, w.Shape.V)
	case in.IsSet() && len(in.V) != 2:
		return at(in, "workload %s: incast has the least and the most senders: incast: [1, 15]", w.Name.V)
	case in.IsSet() && (in.V[0] < 1 || in.V[1] < in.V[0]):
		return at(in, "workload %s: incast: from 1 on, and the most no fewer than the least: incast: [1, 15]", w.Name.V)
	case w.Burst.IsSet() && len(from) > 1:
		return at(w.From, "workload %s: bursts are of one host, not of %s (a workload for each)", w.Name.V, w.From.V)
	case w.Burst.IsSet() && len(to) > 1:
		return at(w.To, "workload %s: bursts are to one host, not to %s (a workload for each)", w.Name.V, w.To.V)
	}
	for i, c := range w.Classes {
		if err := checkDSCP("workload "+w.Name.V+": ", c.DSCP); err != nil {
			return err
		}
		switch {
		case c.UpTo.V < 0:
			return at(c.UpTo, "workload %s: up_to %v must not be negative", w.Name.V, c.UpTo.V)
		case i > 0 && (w.Classes[i-1].UpTo.V == 0 || c.UpTo.V > 0 && c.UpTo.V <= w.Classes[i-1].UpTo.V):
			return config.FailIn([]any{c, w}, "workload %s: nothing is left for class %d: "+
				"they stand in the order of up_to, that without it last", w.Name.V, i+1)
		}
	}
	return nil
}

func (w *Workload) sizes() (workload.Sizes, error) {
	if w.Sizes.V == "pareto" {
		return workload.Pareto{MeanBytes: float64(w.Mean.V), Shape: w.Shape.V}, nil
	}
	if w.CDF != nil {
		return w.ownSizes()
	}
	sizes, err := workload.Named(w.Sizes.V)
	if err != nil {
		return nil, at(w.Sizes, "%v", err)
	}
	return sizes, nil
}

// ownSizes is the distribution that the file gives itself.
func (w *Workload) ownSizes() (workload.Sizes, error) {
	type row struct {
		size units.Size
		part config.Value[float64]
	}
	if len(w.CDF) == 0 {
		return nil, at(w.Name, "workload %s: cdf has no sizes (cdf: {1KB: 0.5, 3MB: 1})", w.Name.V)
	}
	var rows []row
	for _, text := range sortedKeys(w.CDF) { // of several that are wrong the same is named every time
		part := w.CDF[text]
		switch size, err := units.ParseSize(text); {
		case err != nil:
			return nil, at(part, "cdf: %v", err)
		case size < 0:
			return nil, at(part, "cdf: size %v must not be negative", size)
		default:
			rows = append(rows, row{size, part})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.size, b.size) })
	var text strings.Builder
	for i, r := range rows {
		switch {
		case i > 0 && r.size == rows[i-1].size:
			return nil, at(r.part, "cdf: %v is there twice", r.size)
		case !(r.part.V >= 0 && r.part.V <= 1), i == len(rows)-1 && r.part.V != 1:
			return nil, at(r.part, "cdf: %v of the flows are no larger than %v: parts are from 0 to 1, and the last one is 1",
				r.part.V, r.size)
		case i > 0 && r.part.V < rows[i-1].part.V:
			return nil, at(r.part, "cdf: fewer flows are no larger than %v than no larger than %v",
				r.size, rows[i-1].size)
		case i == 0 && r.size == 0 && r.part.V > 0:
			return nil, at(r.part, "cdf: flows of 0 bytes")
		}
		fmt.Fprintf(&text, "%d %v\n", int64(r.size), r.part.V)
	}
	c, err := workload.Parse("cdf", []byte(text.String()))
	if err != nil {
		return nil, at(w.Name, "workload %s: %v", w.Name.V, err)
	}
	return c, nil
}
