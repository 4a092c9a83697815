package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"photon/lab/web"
	"photon/scheme"
)

// section is what a report shows of an experiment.
func (e *Experiment) section(results []*Result) (*web.Experiment, error) {
	s := &web.Experiment{
		Anchor: strings.ReplaceAll(e.ID, "/", "-"), ID: e.ID, Title: e.Title, Source: e.Paper.line(), About: strings.TrimSpace(e.About),
		Command: e.command(results), Extent: e.extents(results), Claims: claimRows(results), Parameters: e.parameterRows(), Sound: true,
	}
	for _, r := range results {
		s.Worlds = append(s.Worlds, r.World)
	}
	looks := web.Looks(scheme.Names())
	if err := e.addSchemes(s, results, looks); err != nil {
		return nil, err
	}
	c := charter{e: e, looks: looks}
	s.Charts = c.charts(results)
	names := e.metricRows(results)
	s.Metrics = e.measuredRows(s, names, results)
	for _, m := range e.MetricNames() {
		s.Docs = append(s.Docs, web.Doc{Name: m, Doc: e.metricDoc(m)})
	}
	e.addAlternatives(s, results)
	for _, r := range results {
		for i := range r.Runs {
			run := &r.Runs[i]
			row := web.Run{World: r.World, Scheme: run.Scheme, What: run.describe(), Notes: run.Notes, Sound: run.sound()}
			s.Runs = append(s.Runs, row)
			s.Sound = s.Sound && row.Sound
		}
	}
	return s, nil
}

// line says where in which paper.
func (p *Paper) line() string {
	var parts []string
	for _, part := range [][2]string{{"", p.Name}, {"", p.Venue}, {"", p.Place()}, {"section ", p.Section}} {
		if part[1] != "" {
			parts = append(parts, part[0]+part[1])
		}
	}
	return strings.Join(parts, ", ")
}

// command is the one that repeats the results.
func (e *Experiment) command(results []*Result) string {
	c := "photon replay " + e.ID
	if e.file != "experiments/"+e.ID+".yaml" { // the user's own
		c = "photon run " + e.file
	}
	switch r := results[0]; {
	case len(results) == 2:
		c += " --world both"
	case r.World != "sim":
		c += " --world " + r.World
	}
	if seed := results[0].Seed; seed != e.Seed {
		c += fmt.Sprintf(" --seed %d", seed)
	}
	var all, ran []string
	for _, u := range e.Schemes {
		all = append(all, u.Name.V)
	}
	for _, run := range results[0].Runs {
		ran = append(ran, run.Scheme)
	}
	if quick := results[0].Quick; !slices.Equal(ran, all) && !(quick && slices.Equal(ran, e.Quick.Schemes)) {
		c += " --schemes " + strings.Join(ran, ",")
	}
	if results[0].Quick {
		c += " --quick"
	}
	return c
}

// sweepValues are those that were run, the only one of no sweep included.
func (e *Experiment) sweepValues(r *Result) (values []string) {
	for _, v := range e.variants {
		if slices.ContainsFunc(e.MetricNames(), func(m string) bool { _, ok := r.Runs[0].Metrics[Key(m, v.value)]; return ok }) {
			values = append(values, v.value)
		}
	}
	return values
}

// mostAtFirst is how many schemes a chart shows at first; of more, those that no
// claim speaks of are hidden.
const mostAtFirst = 6

func (e *Experiment) addSchemes(s *web.Experiment, results []*Result, looks map[string]web.Look) error {
	known, err := e.known()
	if err != nil {
		return err
	}
	var claimed []string
	for _, c := range e.Claims {
		claimed = append(claimed, c.Schemes...)
	}
	uses := e.ran(results)
	spoken := slices.ContainsFunc(uses, func(u SchemeUse) bool { return slices.Contains(claimed, u.Name.V) })
	for _, use := range uses {
		recipe, err := scheme.Get(use.Name.V)
		if err != nil {
			return err
		}
		settings, err := recipe.Settings(known, use.overrides())
		if err != nil {
			return err
		}
		row := web.Scheme{Look: looks[recipe.Name], Name: recipe.Name, Summary: recipe.Summary, Source: recipe.Source}
		row.Hidden = len(uses) > mostAtFirst && spoken && !slices.Contains(claimed, recipe.Name)
		for _, x := range settings {
			row.Settings = append(row.Settings, web.Parameter{Name: x.Name, Value: x.Value, Doc: x.Doc, Source: x.Origin})
		}
		s.Schemes = append(s.Schemes, row)
	}
	return nil
}

// claimRows lays the worlds' verdicts beside each other.
func claimRows(results []*Result) (rows []web.Claim) {
	for i, c := range results[0].Claims {
		row := web.Claim{ID: c.ID, Text: c.Text, Schemes: strings.Join(c.Schemes, " / "), Paper: number(c.Paper, c.Unit), Note: c.Note}
		same := true
		for _, r := range results {
			mine := r.Claims[i]
			row.Measured = append(row.Measured, mine.measured())
			row.Verdicts = append(row.Verdicts, web.Verdict{World: r.World, Verdict: string(mine.Verdict)})
			same = same && mine.Verdict == c.Verdict
		}
		if same {
			row.Verdicts = []web.Verdict{{Verdict: string(c.Verdict)}}
		}
		rows = append(rows, row)
	}
	return rows
}

func (e *Experiment) parameterRows() []web.Parameter {
	p := &e.Parameters
	rows := []web.Parameter{
		{Name: "link rate", Value: p.LinkRate.Value.V.String(), Source: p.LinkRate.Source},
		{Name: "delay of a host's link", Value: p.HostDelay.Value.V.String(), Source: p.HostDelay.Source},
		{Name: "delay between switches", Value: p.TrunkDelay.Value.V.String(), Source: p.TrunkDelay.Source},
		{Name: "payload", Value: p.Payload.Value.V.String(), Source: p.Payload.Source},
		{Name: "MTU", Value: p.MTU.Value.V.String(), Source: p.MTU.Source},
		{Name: "lossless priority", Value: fmt.Sprint(p.Priority.Value.V), Source: p.Priority.Source},
		{Name: "XOFF", Value: p.XOFF.Value.V.String(), Source: p.XOFF.Source},
		{Name: "XON", Value: p.XON.Value.V.String(), Source: p.XON.Source},
		{Name: "buffer of a switch", Value: p.Buffer.Value.V.String(), Source: p.Buffer.Source},
	}
	if p.TrunkRate.Value.IsSet() {
		rows = append(rows, web.Parameter{Name: "rate between switches", Value: p.TrunkRate.Value.V.String(), Source: p.TrunkRate.Source})
	}
	if p.Overhead.Value.IsSet() {
		rows = append(rows, web.Parameter{Name: "bytes on the wire beyond a frame's", Value: fmt.Sprint(p.Overhead.Value.V), Source: p.Overhead.Source})
	}
	if d := p.NPDelay; d.Value.IsSet() {
		rows = append(rows, web.Parameter{Name: "delay of CNPs in hosts", Value: d.Value.V.String(), Source: d.Source})
	}
	if d := p.PauseDelay; d.Value.IsSet() {
		rows = append(rows, web.Parameter{Name: "delay of hosts in obeying a pause", Value: d.Value.V.String(), Source: d.Source})
	}
	if p.Lossless.Value.IsSet() {
		rows = append(rows, web.Parameter{Name: "all lossless priorities", Value: strings.Trim(fmt.Sprint(p.Lossless.Value.V), "[]"), Source: p.Lossless.Source})
	}
	run := fmt.Sprintf("%v, sampled every %v", e.Duration, e.Measure.Sample)
	if e.Repeat > 1 {
		run += fmt.Sprintf(", mean of %d runs", e.Repeat)
	}
	return append(rows, web.Parameter{Name: "time of a run", Value: run, Source: "ours"})
}

// metricRows lists all metrics of results: those of a sweep once for each value.
func (e *Experiment) metricRows(results []*Result) (names []string) {
	for _, m := range e.MetricNames() {
		for _, v := range e.variants {
			name := Key(m, v.value)
			if slices.ContainsFunc(results, func(r *Result) bool { _, ok := r.Runs[0].Metrics[name]; return ok }) {
				names = append(names, name)
			}
		}
	}
	return names
}

// measuredRows has a row for each metric and world, and a column for each scheme.
func (e *Experiment) measuredRows(s *web.Experiment, names []string, results []*Result) (rows []web.Row) {
	for _, name := range names {
		for i, r := range results {
			row := web.Row{Name: name, Detail: r.World}
			for _, x := range s.Schemes {
				value := r.Metrics(x.Name)[name]
				row.Values = append(row.Values, number(value, unitOf(name)))
				other := results[(i+1)%len(results)].Metrics(x.Name)
				metric, _, _ := strings.Cut(name, "@")
				row.Apart = append(row.Apart, i > 0 && other != nil && !e.Agree(metric, value, other[name]))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// addAlternatives adds what other choices give, below what the chosen one gave.
func (e *Experiment) addAlternatives(s *web.Experiment, results []*Result) {
	s.OtherMetrics = e.MetricNames()
	last := ""
	for _, r := range results {
		for _, a := range r.alternatives {
			if a.Scheme != last {
				last = a.Scheme
				s.Others = append(s.Others, otherRow(a.Scheme, "as chosen", s.OtherMetrics, r.Metrics(a.Scheme), e.variants[0].value))
			}
			var params []string
			for _, name := range slices.Sorted(maps.Keys(a.Params)) {
				params = append(params, name+" "+a.Params[name])
			}
			s.Others = append(s.Others, otherRow(a.Scheme, strings.Join(params, ", "), s.OtherMetrics, a.Metrics, ""))
		}
	}
}

// otherRow is a row of alternatives, which are run at the first value of a sweep.
func otherRow(scheme, params string, names []string, m Metrics, value string) web.Row {
	row := web.Row{Name: scheme, Detail: params}
	for _, name := range names {
		row.Values = append(row.Values, number(m[Key(name, value)], unitOf(name)))
	}
	return row
}

// metricDoc says what a metric is.
func (e *Experiment) metricDoc(name string) string {
	if doc := MetricDoc[name]; doc != "" {
		return doc
	}
	for _, m := range e.Measure.Metrics {
		if m.Name == name {
			if m.Doc != "" {
				return m.Doc
			}
			return metricKinds[m.Do.V].doc
		}
	}
	return ""
}

// sound reports whether a run's numbers are worth anything.
func (run *Run) sound() bool { return run.Invariants.LostFrames == 0 && run.Invariants.ConservationOK }

// describe says in a line what held in a run.
func (run *Run) describe() string {
	text := fmt.Sprintf("%d packet-hops in %g s of virtual time, %d lost", run.PacketHops, run.Virtual, run.Invariants.LostFrames)
	if run.Invariants.ConservationOK {
		text += ", every frame accounted for on every node"
	} else {
		text += ", FRAMES UNACCOUNTED FOR"
	}
	if run.TraceHash != nil {
		text += ", trace " + *run.TraceHash
	}
	return text
}

func unitOf(metric string) string {
	metric, _, _ = strings.Cut(metric, "@")
	switch {
	case strings.HasSuffix(metric, "_s"):
		return "s"
	case strings.HasSuffix(metric, "_bps"):
		return "bit/s"
	case strings.Contains(metric, "_bytes"):
		return "B"
	}
	return ""
}
