package measure

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/config"
	"photon/fabric"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/marking"
	"photon/units"
)

const us = units.Microsecond

// slowly is a metric of samples by its words: rows are those after from, up to to, of all columns as the series has
// them; steps is how much each column had grown by a sample since the one before it, and before what it had at from.
func slowly(m *experiment.Metric, times []units.Time, rows, steps [][]float64, begin, tick units.Time,
	bytes bool) (v float64, never bool) {
	all, n := []float64(nil), len(times)
	for _, row := range rows {
		all = append(all, row...)
	}
	grown := make([]float64, len(rows[0]))
	for _, row := range steps {
		for i, y := range row {
			grown[i] += y
		}
	}
	total, squares := 0.0, 0.0
	for _, g := range grown {
		total, squares = total+g, squares+g*g
	}
	per := 1.0
	if bytes {
		per = 8
	}
	at := func(i int) float64 { return (times[i] - m.From).Seconds() }
	any := func(row []float64, is func(float64) bool) bool { return slices.ContainsFunc(row, is) }
	every := func(row []float64, is func(float64) bool) bool {
		return !any(row, func(y float64) bool { return !is(y) })
	}
	above, below := func(y float64) bool { return y > m.Value }, func(y float64) bool { return y < m.Value }
	near := func(y float64) bool { return math.Abs(y-m.Value) <= m.Part*math.Abs(m.Value) }
	last := func(is func(float64) bool) float64 {
		v := 0.0
		for i, row := range rows {
			if any(row, is) {
				v = at(i)
			}
		}
		return v
	}
	lasts := func(is func(float64) bool) float64 {
		v := 0.0
		for _, row := range rows {
			if any(row, is) {
				v += tick.Seconds()
			}
		}
		return v
	}
	first := func(is func(float64) bool) (float64, bool) {
		for i := range rows {
			for k := i; k < n && every(rows[k], is); k++ {
				if units.Time(k-i+1)*tick >= m.Hold {
					return at(i), false
				}
			}
		}
		return 0, true
	}
	rank := func(p float64) float64 { // the smallest that so many do not exceed
		for _, y := range slices.Sorted(slices.Values(all)) {
			no := 0
			for _, z := range all {
				if z <= y {
					no++
				}
			}
			if float64(no) >= p*float64(len(all)) {
				return y
			}
		}
		panic("none")
	}
	mean := 0.0
	for _, y := range all {
		mean += y / float64(len(all))
	}
	switch m.Do.V {
	case "mean":
		return mean, false
	case "stddev":
		for _, y := range all {
			v += (y - mean) * (y - mean) / float64(len(all))
		}
		return math.Sqrt(v), false
	case "p50":
		return rank(0.5), false
	case "p99":
		return rank(0.99), false
	case "max":
		return slices.Max(all), false
	case "min":
		return slices.Min(all), false
	case "last":
		return rows[n-1][0], false
	case "max_at":
		for i, row := range rows {
			if slices.Contains(row, slices.Max(all)) {
				return at(i), false
			}
		}
	case "within":
		for _, y := range all {
			if near(y) {
				v += 1 / float64(len(all))
			}
		}
		return v, false
	case "last_above":
		return last(above), false
	case "last_below":
		return last(below), false
	case "time_above":
		return lasts(above), false
	case "time_below":
		return lasts(below), false
	case "first_at_most":
		return first(func(y float64) bool { return y <= m.Value })
	case "first_at_least":
		return first(func(y float64) bool { return y >= m.Value })
	case "first_within":
		return first(near)
	case "delta":
		return total, false
	case "rate":
		return total * per / (times[n-1] - begin).Seconds(), false
	case "spread":
		return (slices.Max(grown) - slices.Min(grown)) * per / (times[n-1] - begin).Seconds(), false
	case "jain":
		return total * total / float64(len(grown)) / squares, total == 0
	case "gap":
		return (slices.Max(grown) - slices.Min(grown)) / slices.Max(grown), total == 0
	case "lifetime":
		begins := -1
		for i := range rows {
			grew := func(y float64) bool { return y > 0 }
			if steps == nil && any(rows[i], above) || steps != nil && any(steps[i], grew) {
				if begins < 0 {
					begins = i
				}
				v = (times[i] - times[begins] + tick).Seconds()
			}
		}
		return v, false
	}
	panic(m.Do.V)
}

// Every metric of samples is what its words say, whatever falls between samples, and however few they are.
func TestMetricsOfSamplesAgainstSlowOnes(t *testing.T) {
	var kinds []string
	for kind, k := range experiment.MetricKinds {
		if k.Probe {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	rapid.Check(t, func(t *rapid.T) {
		do := rapid.SampledFrom(kinds).Draw(t, "do")
		probe := &experiment.Probe{Kind: config.Set("queue"), Each: true}
		counter := slices.Contains(experiment.Growth, do) || rapid.Bool().Draw(t, "counter")
		bytes := false
		if counter {
			probe.Kind = config.Set(rapid.SampledFrom([]string{"received", "xoffs"}).Draw(t, "kind"))
			bytes = probe.Kind.V == "received"
			probe.Over = units.Time(rapid.IntRange(0, 3).Draw(t, "over")) * us
		}
		columns, n := rapid.IntRange(1, 3).Draw(t, "columns"), rapid.IntRange(1, 9).Draw(t, "samples")
		if do == "last" {
			columns = 1
		}
		x := &watched{probe: probe, columns: make([]column, columns), raw: make([][]float64, columns)}
		e := &experiment.Experiment{Measure: experiment.Measure{Sample: us}}
		w := &Watch{e: e, probes: map[string]*watched{"p": x}}
		for k := range n {
			w.Series.Time = append(w.Series.Time, units.Time(k+1)*us)
			for i := range x.raw {
				y := float64(rapid.IntRange(0, 4).Draw(t, "y"))
				if counter && k > 0 {
					y += x.raw[i][k-1]
				}
				x.raw[i] = append(x.raw[i], y)
			}
		}
		half := func(name string) units.Time { return units.Time(rapid.IntRange(0, 2*n+2).Draw(t, name)) * us / 2 }
		m := &experiment.Metric{
			Do: config.Set(do), Of: config.Set("p"), From: half("from"), To: half("to"), Hold: half("hold"),
			Value: float64(rapid.IntRange(0, 5).Draw(t, "value")), Part: 0.25,
		}
		if rapid.Bool().Draw(t, "per") {
			m.Per = config.Set(2.5)
		}
		var times []units.Time
		var rows, steps [][]float64
		begin := units.Time(0)
		for k, at := range w.Series.Time {
			if at <= m.From {
				begin = at
			}
			if at <= m.From || m.To > 0 && at > m.To {
				continue
			}
			var row, step []float64
			for i := range x.raw {
				before, y := 0.0, x.raw[i][k]
				if k > 0 {
					before = x.raw[i][k-1]
				}
				step = append(step, y-before)
				if back := int(probe.Over / us); back > 0 {
					then := 0.0
					if k >= back {
						then = x.raw[i][k-back]
					}
					if y = (y - then) / probe.Over.Seconds(); bytes {
						y *= 8
					}
				}
				row = append(row, y)
			}
			times, rows = append(times, at), append(rows, row)
			if counter {
				steps = append(steps, step)
			}
		}
		got := metric{m}.evaluate(w)
		if len(times) == 0 {
			if got != nil {
				t.Fatalf("%s of no sample is %v", do, *got)
			}
			return
		}
		want, never := slowly(m, times, rows, steps, begin, us, bytes)
		want /= m.Per.Or(1)
		if (got == nil) != never || got != nil && math.Abs(*got-want) > 1e-9*max(math.Abs(want), 1e-6) {
			t.Fatalf("%s is %s, not %v (never: %v)", do, experiment.Number(got, ""), want, never)
		}
	})
}

// Metrics of flows are of those that begin in the window, at its beginning but not at its end, and of the sizes that
// they say; a flow that is in two groups of a list, or comes by its name and by *, counts once. One that began and did
// not end gives its share in equal parts to those that had taken longer by then, and means are without it.
func TestMetricsOfFlowsAgainstSlowOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := &build.Network{Flows: &build.Flows{}}
		duration := rapid.SampledFrom([]units.Time{units.Second, 5 * us}).Draw(t, "duration")
		kinds := []*experiment.FlowKind{{Group: "a"}, {Group: "b"}, {Group: "c"}}
		lasted := map[int]units.Time{} // by flow: how long one that did not end is known to have gone on
		for i := range rapid.IntRange(0, 12).Draw(t, "flows") {
			var f build.Flow
			f.FlowKind = rapid.SampledFrom(kinds).Draw(t, "group")
			f.Size = units.Size(rapid.IntRange(0, 3).Draw(t, "size"))
			f.Start = units.Time(rapid.IntRange(0, 8).Draw(t, "start")) * us
			lasted[i] = duration - f.Start
			if f.Done = rapid.Bool().Draw(t, "done") && f.Start < duration; f.Done {
				f.End = f.Start + units.Time(rapid.IntRange(1, 9).Draw(t, "fct"))*us
			} else if stops := f.Start + units.Time(rapid.IntRange(1, 9).Draw(t, "stops"))*us; stops < duration {
				switch rapid.SampledFrom([]string{"never", "stopped", "of a testbed", "gave up"}).Draw(t, "why") {
				case "stopped":
					f.Stop, f.Stopped, f.End = stops, true, stops
				case "of a testbed":
					f.Stop = stops
				case "gave up":
					f.Stopped, f.End = true, stops
				}
				if f.Stop > 0 || f.Stopped {
					lasted[i] = stops - f.Start
				}
			}
			n.Flows.Add(f)
		}
		m := &experiment.Metric{From: units.Time(rapid.IntRange(0, 4).Draw(t, "from")) * us}
		if rapid.Bool().Draw(t, "window") {
			m.To = m.From + units.Time(rapid.IntRange(1, 4).Draw(t, "to"))*us
		}
		if rapid.Bool().Draw(t, "sizes") {
			m.Sizes = [2]units.Size{units.Size(rapid.IntRange(0, 1).Draw(t, "above")), 2}
		}
		groups := rapid.SampledFrom([][]string{nil, {"a"}, {"a", "b"}, {"a", "*"}, {"*"}, {"a", "a"}}).Draw(t, "groups")
		if groups != nil {
			m.Flows = config.Set(groups)
		}
		var times, sofar []float64
		open, begin, end := 0, math.Inf(1), 0.0
		for i, f := range n.Flows.All() {
			if f.Size == 0 || groups != nil && !slices.Contains(groups, f.Group) && !slices.Contains(groups, "*") ||
				f.Start < m.From || m.To > 0 && f.Start >= m.To ||
				m.Sizes[1] > 0 && (f.Size <= m.Sizes[0] || f.Size > m.Sizes[1]) {
				continue
			}
			begin = min(begin, f.Start.Seconds())
			if !f.Done {
				if open++; f.Start < duration {
					sofar = append(sofar, lasted[i].Seconds())
				}
				continue
			}
			times, end = append(times, (f.End-f.Start).Seconds()), max(end, f.End.Seconds())
		}
		slices.Sort(times)
		w := &Watch{e: &experiment.Experiment{Duration: duration}, n: n}
		is := func(do, stat string, want float64, never bool) {
			x := *m
			if x.Do = config.Set(do); stat != "" {
				x.Stat = config.Set(stat)
			}
			if got := (metric{&x}).evaluate(w); (got == nil) != never || got != nil && math.Abs(*got-want) > 1e-9*want {
				t.Fatalf("%s %s is %s, not %v", do, stat, experiment.Number(got, ""), want)
			}
		}
		ended := len(times)
		is("completed", "", float64(ended), false)
		is("unfinished", "", float64(open), false)
		if ended == 0 {
			is("completion", "", 0, false)
			is("fct", "", 0, true)
		} else {
			sum := 0.0
			for _, s := range times {
				sum += s
			}
			is("completion", "", float64(ended)/(end-begin), false)
			is("fct", "", sum/float64(ended), false)
			for stat, p := range map[string]int64{"min": 0, "p50": 500, "p95": 950, "p99": 990, "p999": 999, "max": 1000} {
				want := sharesUntil(times, sofar, big.NewRat(p, 1000))
				is("fct", stat, want, math.IsInf(want, 1))
			}
		}
		m.Name, m.Do = "m", config.Set("fct")
		w.e.Measure.Metrics = []experiment.Metric{*m, {Name: "n", Do: config.Set("completed")}}
		notes, want := w.Unfinished(), []string(nil)
		if begun := ended + len(sofar); len(sofar) > 0 {
			note := fmt.Sprintf("%d of %d flows of m had not ended at the end of the run, ", len(sofar), begun)
			want = append(want, note+"and are not in it")
		} else if begun == 0 && open > 0 {
			want = append(want, fmt.Sprintf("m has no value: none of its flows, %d, began in the %v of the run", open, duration))
		} else if begun == 0 {
			want = append(want, "m has no value: the run has no flows of it")
		}
		if !slices.Equal(notes, want) {
			t.Fatalf("%q, not %q", notes, want)
		}
	})
}

// sharesUntil is the first of some times by which a part of all shares has come, infinite if there is none: each time
// has an equal share at first, and an open one gives its own to those that are longer.
func sharesUntil(ended, open []float64, part *big.Rat) float64 {
	all := slices.Concat(ended, open)
	slices.Sort(all)
	all = slices.Compact(all)
	one := func(list []float64, at float64) (n int64) {
		for _, x := range list {
			if x == at {
				n++
			}
		}
		return n
	}
	left := int64(len(ended) + len(open))
	share, sum := big.NewRat(1, left), new(big.Rat) // of each that is left
	for _, at := range all {
		n, k := one(ended, at), one(open, at)
		sum.Add(sum, new(big.Rat).Mul(share, big.NewRat(n, 1)))
		if n > 0 && sum.Cmp(part) >= 0 {
			return at
		}
		if left -= n + k; left > 0 {
			share.Mul(share, big.NewRat(left+k, left))
		}
	}
	return math.Inf(1)
}

// counting is a switch each of whose numbers says what it is of: its kind, the port and the priority.
type counting struct{ build.Switch }

func number(kind, port, prio int) int { return 1000*kind + 100*port + 1<<prio }

func (counting) QueueBytes(port, prio int) units.Size { return units.Size(number(1, port, prio)) }
func (counting) Sent(port int) units.Size             { return units.Size(number(2, port, 0)) }
func (counting) Pauses(port, prio int) uint64         { return uint64(number(3, port, prio)) }
func (counting) Discarded(port, prio int) uint64      { return uint64(number(4, port, prio)) }
func (counting) TxFrames(port, prio int) uint64       { return uint64(number(5, port, prio)) }
func (counting) Paused(port int) uint8                { return 1 << port }
func (counting) Marked(port, prio int) (ce, ue uint64) {
	return uint64(number(6, port, prio)), uint64(number(7, port, prio))
}
func (counting) Ternary(_ units.Time, port, prio int) marking.TCDState {
	return marking.TCDState((port + prio) % 3)
}

// A probe of ports is the sum of theirs, or has a column for each, of the priorities that it is of; parallel links are
// told from each other, and of several states it is the highest.
func TestProbesOfPorts(t *testing.T) {
	plan := topology.New()
	a, b := plan.Switch("x", "A"), plan.Switch("x", "B")
	for range 3 {
		plan.Connect(a, b, fabric.Link{Rate: units.Gbps})
	}
	n := &build.Network{Plan: plan, Data: 1<<3 | 1<<5, Switches: map[int]build.Switch{a: counting{}, b: counting{}}}
	kinds := map[string]int{
		"queue": 1, "sent": 2, "xoffs": 3, "discarded": 4, "frames": 5, "marked": 6, "ue": 7, "paused": 0, "state": 0,
	}
	for kind, k := range experiment.ProbeKinds {
		if !k.At {
			continue
		}
		if _, known := kinds[kind]; !known {
			t.Errorf("kind %s is not tried", kind)
		}
		for _, one := range []int{-1, 3, 5} {
			p := &experiment.Probe{Name: "p", Kind: config.Set(kind), At: config.Set([]string{"A>B", "A"})}
			priorities := []int{3, 5}
			if one >= 0 {
				p.Priority, priorities = config.Set(one), []int{one}
			}
			var want []float64
			for port := range 3 {
				v := 0
				for _, prio := range priorities {
					switch kind {
					case "sent":
						v = number(2, port, 0)
					case "paused":
						if port == prio {
							v = 1
						}
					case "state":
						v = max(v, (port+prio)%3)
					default:
						v += number(kinds[kind], port, prio)
					}
				}
				want = append(want, float64(v))
			}
			total := want[0] + want[1] + want[2]
			if kind == "state" {
				total = slices.Max(want)
			}
			for _, each := range []bool{false, true} {
				p.Each = each
				list, err := columns(n, p)
				if err != nil {
					t.Fatal(err)
				}
				got, names, values := []float64(nil), []string(nil), []float64{total}
				for _, c := range list {
					got, names = append(got, c.read(0)), append(names, c.name)
				}
				called := []string{"p"}
				if each {
					values, called = want, []string{"p.A>B", "p.A>B.2", "p.A>B.3"}
				}
				if !slices.Equal(got, values) || !slices.Equal(names, called) {
					t.Errorf("%s of priority %d: %v %v, not %v %v", kind, one, names, got, called, values)
				}
			}
		}
	}
}

// A series is read back as it was written, and its columns are found by the probe's name and no other's.
func TestSeriesIsReadBack(t *testing.T) {
	s := &Series{
		Time: []units.Time{us, 3 * us / 2, units.Second}, Names: []string{"a", "b.1", "b.2", "bc"},
		Value: [][]float64{{1, 2.5, 3e12}, {0, 1e-9, -4}, {5, 6, 7}, {8, 9, 10}},
	}
	got, err := ParseSeries(s.CSV())
	if err != nil || fmt.Sprint(got) != fmt.Sprint(s) {
		t.Fatalf("%v, not %v: %v", got, s, err)
	}
	if one, two, none := got.Columns("a"), got.Columns("b"), got.Columns("c"); !slices.Equal(one, []string{"a"}) ||
		!slices.Equal(two, []string{"b.1", "b.2"}) || none != nil {
		t.Errorf("columns %v, %v and %v", one, two, none)
	}
	if v := got.Column("b.2"); !slices.Equal(v, s.Value[2]) || got.Column("b") != nil {
		t.Errorf("column %v", v)
	}
}
