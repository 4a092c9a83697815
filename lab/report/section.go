package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"photon/internal/shell"
	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/run"
	"photon/lab/web"
	"photon/scheme"
)

// sectionOf is what a report shows of an experiment.
func sectionOf(e *experiment.Experiment, results []*claim.Judged) (*web.Experiment, error) {
	s := &web.Experiment{
		Anchor: strings.ReplaceAll(e.ID, "/", "-"), ID: e.ID, Title: e.Title, Source: e.Paper.Line(), About: strings.TrimSpace(e.About),
		Command: command(e, results), Coverage: strings.Join(ranIn(e, results), "; "),
		Claims: claimRows(e, results), Counts: counts(results[0].Claims), Summary: summary(e, results),
		Parameters: parameterRows(e, results), Sound: true,
	}
	for _, r := range results {
		s.Worlds = append(s.Worlds, r.World)
	}
	wiring, err := wiringOf(e)
	if err != nil {
		return nil, err
	}
	s.Wiring = wiring
	var keys []string
	for _, u := range ran(e, results) {
		keys = append(keys, u.Key())
	}
	styles := LineStyles(keys)
	if err := addSchemes(e, s, results, styles); err != nil {
		return nil, err
	}
	c := charter{e: e, styles: styles}
	s.Charts = c.charts(results)
	names := metricRows(e, results)
	s.Metrics = measuredRows(e, s, names, results)
	for _, m := range e.MetricNames() {
		s.Docs = append(s.Docs, web.Doc{Name: m, Doc: e.MetricDoc(m)})
	}
	addAlternatives(e, s, results)
	for _, r := range results {
		for i := range r.Runs {
			run := &r.Runs[i]
			row := web.Run{World: r.World, Scheme: run.Scheme, What: describe(run), Notes: run.Notes, Sound: run.Sound()}
			s.Runs = append(s.Runs, row)
			s.Sound = s.Sound && row.Sound
		}
	}
	return s, nil
}

// command is the one that repeats the results.
func command(e *experiment.Experiment, results []*claim.Judged) string {
	c := "photon replay " + e.ID
	if e.File() != "experiments/"+e.ID+".yaml" { // the user's own
		c = "photon run " + shell.Word(e.File())
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
	if slices.ContainsFunc(results, func(r *claim.Judged) bool { return otherSeeds(e, r.Result) }) {
		c += fmt.Sprintf(" --repeat %d", len(results[0].Seeds))
	}
	var all, ran []string
	for _, u := range e.Schemes {
		all = append(all, u.Key())
	}
	for _, run := range results[0].Runs {
		ran = append(ran, run.Scheme)
	}
	if quick := results[0].Quick; !slices.Equal(ran, all) && !(quick && slices.Equal(ran, e.Quick.Schemes)) {
		c += " --schemes " + shell.Word(strings.Join(ran, ","))
	}
	if results[0].Quick {
		c += " --quick"
	}
	return strings.Join(append([]string{c}, results[len(results)-1].Flags...), " ")
}

// otherSeeds reports that a result is not of as many seeds as there are without --repeat. Of old results that is not
// known.
func otherSeeds(e *experiment.Experiment, r *run.Result) bool {
	n := len(r.Seeds)
	return n > 0 && n != run.Seeds(e, run.Options{World: r.World, Quick: r.Quick})
}

// sweepValues are those that were run, the only one of no sweep included.
func sweepValues(e *experiment.Experiment, r *claim.Judged) (values []string) {
	for _, v := range e.Values() {
		if slices.ContainsFunc(e.MetricNames(), func(m string) bool { _, ok := r.Runs[0].Metrics[experiment.Key(m, v)]; return ok }) {
			values = append(values, v)
		}
	}
	return values
}

// mostAtFirst is how many schemes a chart shows at first; of more, those that no
// claim is about are hidden.
const mostAtFirst = 6

func addSchemes(e *experiment.Experiment, s *web.Experiment, results []*claim.Judged, styles map[string]web.LineStyle) error {
	network, err := results[0].Network(e)
	if err != nil {
		return err
	}
	var claimed []string
	for i := range e.Claims {
		for _, p := range e.Claims[i].Parts() {
			claimed = append(claimed, p.Schemes...)
		}
	}
	uses := ran(e, results)
	spoken := slices.ContainsFunc(uses, func(u experiment.SchemeUse) bool { return slices.Contains(claimed, u.Key()) })
	for _, use := range uses {
		recipe, err := scheme.Get(use.Name.V)
		if err != nil {
			return err
		}
		settings, err := recipe.Settings(network, use.Overrides())
		if err != nil {
			return err
		}
		row := web.Scheme{LineStyle: styles[use.Key()], Name: use.Key(), Summary: recipe.Summary, Source: recipe.Source}
		row.Hidden = len(uses) > mostAtFirst && spoken && !slices.Contains(claimed, use.Key())
		for _, x := range settings {
			row.Settings = append(row.Settings, web.Parameter{Name: x.Name, Value: x.Value, Doc: x.Doc, Source: x.Origin})
		}
		s.Schemes = append(s.Schemes, row)
	}
	return nil
}

// claimRows puts the worlds' verdicts side by side.
func claimRows(e *experiment.Experiment, results []*claim.Judged) (rows []web.Claim) {
	for i, c := range results[0].Claims {
		row := web.Claim{ID: c.ID, Text: c.Text, Schemes: strings.Join(c.Schemes, " / "), Paper: c.Theirs(), Note: c.Note}
		same := true
		for _, r := range results {
			judged := r.Claims[i]
			row.Measured = append(row.Measured, web.Measured{Value: measuredOf(&judged), Words: words(&e.Claims[i], &judged.Measurement)})
			row.Verdicts = append(row.Verdicts, verdictOf(&judged, r.World))
			same = same && judged.Says() == c.Says()
		}
		if same {
			row.Verdicts = []web.Verdict{verdictOf(&c, "")}
		}
		rows = append(rows, row)
	}
	return rows
}

// verdictOf is a verdict, and what else is said of it.
func verdictOf(c *claim.Result, world string) web.Verdict {
	verdict := string(c.Verdict)
	return web.Verdict{World: world, Verdict: verdict, More: strings.TrimSpace(strings.TrimPrefix(c.Says(), verdict))}
}

func parameterRows(e *experiment.Experiment, results []*claim.Judged) (rows []web.Parameter) {
	for _, p := range e.Parameters.Settings() {
		rows = append(rows, web.Parameter{Name: parameterName(p.Name), Value: p.Value, Source: p.Source})
	}
	run := e.Lasts(results[0].Quick).String()
	if e.Measure.Samples() {
		run += fmt.Sprintf(", sampled every %v", e.Measure.Sample)
	}
	seeds := len(results[0].Seeds) // 0: a version that did not say
	same := !slices.ContainsFunc(results, func(r *claim.Judged) bool { return len(r.Seeds) != seeds })
	if same && seeds > 1 {
		run += fmt.Sprintf(", %d seeds", seeds)
	}
	return append(rows, web.Parameter{Name: "time of a run", Value: run, Source: "ours"})
}

// parameterName is what a report calls a parameter.
func parameterName(key string) string {
	if name := parameterNames[key]; name != "" {
		return name
	}
	return strings.ReplaceAll(key, "_", " ")
}

var parameterNames = map[string]string{
	"host_delay": "delay of a host's link", "trunk_delay": "delay between switches", "trunk_rate": "rate between switches", "mtu": "MTU",
	"priority": "priority of the data", "lossless": "all lossless priorities", "xoff": "XOFF", "xon": "XON", "buffer": "buffer of a switch",
	"overhead": "bytes on the wire beyond a frame's", "np_delay": "delay of CNPs in hosts", "pause_delay": "delay of hosts in obeying a pause",
	"alpha": "part of the free buffer that is added to XOFF and XON", "alpha_by_rate": "more of it for faster ports",
	"flow_control": "flow control", "lane_buffer": "buffer of a lane", "credit_period": "flow control packets come at least every",
	"credit_update": "and when so much more may be sent",
	"start_phase":   "flows start later by up to",
}

// metricRows lists all metrics of results: those of a sweep once for each value.
func metricRows(e *experiment.Experiment, results []*claim.Judged) (names []string) {
	for _, m := range e.MetricNames() {
		for _, v := range e.Values() {
			name := experiment.Key(m, v)
			if slices.ContainsFunc(results, func(r *claim.Judged) bool { _, ok := r.Runs[0].Metrics[name]; return ok }) {
				names = append(names, name)
			}
		}
	}
	return names
}

// measuredRows has a row for each metric and world, and a column for each scheme.
func measuredRows(e *experiment.Experiment, s *web.Experiment, names []string, results []*claim.Judged) (rows []web.Row) {
	for _, name := range names {
		for i, r := range results {
			row := web.Row{Name: name, Detail: r.World}
			for _, x := range s.Schemes {
				value := r.Metrics(x.Name)[name]
				row.Values = append(row.Values, experiment.Number(value, e.Unit(name)))
				other := results[(i+1)%len(results)]
				metric, _, _ := strings.Cut(name, "@")
				row.Differs = append(row.Differs, i > 0 && other.Metrics(x.Name) != nil &&
					!Agree(e, metric, ofSharedSeeds(r, other, x.Name, name), ofSharedSeeds(other, r, x.Name, name)))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// addAlternatives adds what other choices give, below what the chosen one gave.
func addAlternatives(e *experiment.Experiment, s *web.Experiment, results []*claim.Judged) {
	s.OtherMetrics = e.MetricNames()
	last := ""
	for _, r := range results {
		for _, a := range r.Alternatives {
			if a.Scheme != last {
				last = a.Scheme
				s.Others = append(s.Others, otherRow(e, a.Scheme, "as chosen", s.OtherMetrics, r.Metrics(a.Scheme), e.Values()[0]))
			}
			var params []string
			for _, name := range slices.Sorted(maps.Keys(a.Params)) {
				params = append(params, name+" "+a.Params[name])
			}
			s.Others = append(s.Others, otherRow(e, a.Scheme, strings.Join(params, ", "), s.OtherMetrics, a.Metrics, ""))
		}
	}
}

// otherRow is a row of alternatives, which are run at the first value of a sweep.
func otherRow(e *experiment.Experiment, scheme, params string, names []string, m measure.Metrics, value string) web.Row {
	row := web.Row{Name: scheme, Detail: params}
	for _, name := range names {
		row.Values = append(row.Values, experiment.Number(m[experiment.Key(name, value)], e.Unit(name)))
	}
	return row
}

// describe says in a line what held in a run.
func describe(run *run.Run) string {
	text := fmt.Sprintf("%d packet-hops in %g s of virtual time, %d lost", run.PacketHops, run.Virtual, run.Invariants.LostFrames)
	if n := run.Invariants.Discarded; n > 0 {
		text += fmt.Sprintf(", %d of lossy priorities discarded", n)
	}
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

// measuredOf is a number with its interval, as rows of claims have it.
func measuredOf(c *claim.Result) string {
	text := c.Ours()
	if spread := c.Spread(); spread != "" {
		text += fmt.Sprintf(" (%s; n = %d)", spread, c.N)
	}
	return text
}

// LineStyles are how schemes are drawn: the same in all pictures, whatever else is there.
func LineStyles(keys []string) map[string]web.LineStyle {
	names := scheme.Names()
	for _, k := range keys {
		if !slices.Contains(names, k) {
			names = append(names, k)
		}
	}
	return web.LineStyles(names)
}
