package hpccfiles

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"

	"photon/internal/table"
	"photon/lab/build"
	"photon/lab/measure"
	"photon/lab/run"
	"photon/lab/stat"
	"photon/units"
)

// Result is what a run yields.
type Result struct {
	Finished   []Finished // in the order in which they ended
	Flows      int
	PacketHops int64   // data packets of flows that ended, over links
	Pauses     int     // lines of pfc.txt
	Wall       float64 // seconds
}

// Run runs what the files describe in virtual time and writes its results to a
// folder.
func (p *Prepared) Run(ctx context.Context, o run.Options, folder string) (*Result, error) {
	var err error
	var open []*renameio.PendingFile
	create := func(name string) *bufio.Writer {
		if err != nil {
			return nil
		}
		var f *renameio.PendingFile
		path := filepath.Join(folder, name)
		if f, err = renameio.NewPendingFile(path, renameio.WithPermissions(0o644), renameio.WithExistingPermissions()); err != nil {
			return nil
		}
		open = append(open, f)
		return bufio.NewWriter(f)
	}
	fct, pfc, qlen := create(p.FCT), create(p.PFC), create(p.Queues)
	defer func() {
		for _, f := range open {
			_ = f.Cleanup() // of a run that did not end; its folder keeps the results of an earlier one
		}
	}()
	if err != nil {
		return nil, err
	}
	r, err := p.run(ctx, o, pfc, qlen)
	if err != nil {
		return nil, err
	}
	for i := range r.Finished {
		r.Finished[i].write(fct)
	}
	for _, w := range []*bufio.Writer{fct, pfc, qlen} {
		if err := w.Flush(); err != nil {
			return nil, err
		}
	}
	for _, f := range open {
		if err := f.CloseAtomicallyReplace(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (p *Prepared) run(ctx context.Context, o run.Options, pfc, qlen *bufio.Writer) (*Result, error) {
	r := &Result{Flows: p.Count}
	plan, err := p.Experiment.Plan()
	if err != nil {
		return nil, err
	}
	stops := &pauses{pfc, plan}
	look := build.Observer{Pause: func(now units.Time, node, port int, paused bool) {
		r.Pauses++
		stops.add(now, node, port, paused)
	}}
	counts := newQueues(p.Topology, p.From, min(p.To, p.Experiment.Duration))
	if counts.any() {
		look.Queued = counts.add
	}
	out, err := run.RunOnce(ctx, p.Experiment, o, p.Use, look)
	if err != nil {
		return nil, err
	}
	counts.write(qlen)
	ideal := newStandalone(p.Topology, p.Payload)
	ports := make([]int, len(p.Flows))
	used := map[[2]int]int{}
	for i, f := range p.Flows {
		pair := [2]int{f.From, f.To}
		ports[i] = firstPort + used[pair]
		used[pair]++
	}
	r.Wall = out.Wall
	ended := slices.Collect(out.Ended)
	slices.SortStableFunc(ended, func(a, b measure.Ended) int { return cmp.Compare(a.Start+a.FCT, b.Start+b.FCT) })
	if p.Trace != nil {
		r.traced(p, ended, ideal)
		return r, nil
	}
	for _, e := range ended {
		f := &p.Flows[e.Flow]
		r.PacketHops += ideal.packets(f.Size) * int64(ideal.way(f.From, f.To).links)
		r.Finished = append(r.Finished, Finished{
			From: f.From, To: f.To, SrcPort: ports[e.Flow], DstPort: f.Port, Size: f.Size, Start: int64(f.Start / units.Nanosecond),
			FCT: int64((e.FCT + units.Nanosecond/2) / units.Nanosecond), Standalone: ideal.time(f.From, f.To, f.Size),
		})
	}
	return r, nil
}

// traced lists the flows of a trace that ended.
func (r *Result) traced(p *Prepared, ended []measure.Ended, ideal *standalone) {
	inOrder := slices.Clone(ended)
	slices.SortFunc(inOrder, func(a, b measure.Ended) int { return cmp.Compare(a.Flow, b.Flow) })
	ports, used := map[int]int{}, map[[2]int]int{}
	for i := range inOrder {
		pair := [2]int{number(inOrder[i].From), number(inOrder[i].To)} // of hosts, whichever NICs
		ports[inOrder[i].Flow] = firstPort + used[pair]
		used[pair]++
	}
	for i := range ended {
		e := &ended[i]
		from, to := number(e.From), number(e.To)
		t := Traced{ID: e.Flow + 1, Arrived: int64((e.Arrived + units.Nanosecond/2) / units.Nanosecond), End: int64((e.Start + e.FCT + units.Nanosecond/2) / units.Nanosecond)}
		if p.Trace.IDs != nil {
			t.ID = p.Trace.IDs[e.Flow]
		}
		r.PacketHops += ideal.packets(e.Size) * int64(ideal.way(from, to).links)
		r.Finished = append(r.Finished, Finished{
			From: from, To: to, SrcPort: ports[e.Flow], DstPort: tracePort, Size: e.Size, Start: int64(e.Start / units.Nanosecond),
			FCT: int64((e.FCT + units.Nanosecond/2) / units.Nanosecond), Standalone: ideal.time(from, to, e.Size), Trace: &t,
		})
	}
}

// number is that of a host by the name of one of its NICs: 5 or 5.1.
func number(nic string) int {
	host, _, _ := strings.Cut(nic, ".")
	n, _ := strconv.Atoi(host) // nodes are called by their numbers
	return n
}

// tracePort is the destination port of a trace's flows.
const tracePort = 100

// Slowdowns are statistics of the slowdowns of flows: mean, and nearest ranks.
type Slowdowns struct {
	Flows              int
	Avg, P50, P95, P99 float64
}

// Summarise computes them.
func Summarise(list []Finished) (s Slowdowns) {
	if s.Flows = len(list); s.Flows == 0 {
		return s
	}
	var v []float64
	for i := range list {
		v = append(v, list[i].Slowdown())
	}
	slices.Sort(v)
	s.Avg, s.P50, s.P95, s.P99 = stat.Mean(v), stat.Quantile(0.50, v), stat.Quantile(0.95, v), stat.Quantile(0.99, v)
	return s
}

// Table prints slowdowns, beside those of another fct.txt if there is one.
func Table(w io.Writer, ours, theirs Slowdowns) error {
	t := table.New(1, "slowdown", "photon")
	if theirs.Flows > 0 {
		t = table.New(1, "slowdown", "photon", "file", "ratio")
	}
	for _, row := range []struct {
		name string
		a, b float64
	}{{"avg", ours.Avg, theirs.Avg}, {"p50", ours.P50, theirs.P50}, {"p95", ours.P95, theirs.P95}, {"p99", ours.P99, theirs.P99}} {
		cells := []any{row.name, "none", fmt.Sprintf("%.3f", row.b), "none"}
		if ours.Flows > 0 {
			cells[1], cells[3] = fmt.Sprintf("%.3f", row.a), fmt.Sprintf("%.3f", row.a/row.b)
		}
		if theirs.Flows == 0 {
			cells = cells[:2]
		}
		t.Row(cells...)
	}
	return t.Print(w)
}
