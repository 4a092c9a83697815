package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"photon/config"
)

// Claim is a statement of the paper: a number that it prints, or something that it says
// in words. It is about one measurement, or about several of which all must be so.
type Claim struct {
	ID   string `yaml:"id"`
	Text string `yaml:"text"`
	Part `yaml:",inline"`
	// Measurements are what one sentence of the paper says of several things; each has
	// what the claim has, but for what it says itself.
	Measurements []Part `yaml:"measurements"`
	Note         string `yaml:"note"` // why it differs, in two sentences; longer stories are the experiment's
	// Holds was the name of bound.
	Holds config.Value[string] `yaml:"holds" jsonschema:"-"`
}

// Part is what a claim measures and what the paper has of it. Measured is a metric of the
// only scheme, or the first scheme's by the second's.
type Part struct {
	Name    string   `yaml:"name"` // tells it from the other measurements of its claim
	Schemes []string `yaml:"schemes"`
	Metric  string   `yaml:"metric"`
	Over    string   `yaml:"over"` // the metric of the divisor; the same if absent
	As      As       `yaml:"as"`
	Paper   *float64 `yaml:"paper"` // the number that the paper prints
	Bound   Bound    `yaml:"bound"` // of that number, or of limit
	// Limit is what the paper's words come to where it prints no number: with a bound the measured
	// number is on that side of it, else no further from it than a part within of it.
	Limit  *float64 `yaml:"limit"`
	Within float64  `yaml:"within"`
	Stat   string   `yaml:"stat"` // over the seeds: median; mean of what is a part of the runs; min or max of what is never worse
	Unit   string   `yaml:"unit"`
}

// As is what kind of number a claim is about.
type As string

// Kinds of numbers.
const (
	Value     As = "value"
	Ratio     As = "ratio"     // of two
	Reduction As = "reduction" // one less the ratio
	Fraction  As = "fraction"  // a part of all, from 0 to 1
)

// Bound says that a number is the least or the most that there can be.
type Bound string

// Bounds.
const (
	AtLeast Bound = "at_least"
	AtMost  Bound = "at_most"
)

// Kind is what kind of number it is: a quotient, if two schemes or metrics are compared
// and nothing else is said.
func (p *Part) Kind() As {
	if p.As == "" && (len(p.Schemes) == 2 || p.Over != "") {
		return Ratio
	}
	return cmp.Or(p.As, Value)
}

// Statistic is what is made of the runs with several seeds.
func (p *Part) Statistic() string { return cmp.Or(p.Stat, "median") }

// MetricOf is the metric of the first scheme or of the second.
func (p *Part) MetricOf(scheme int) string {
	if scheme == 1 && p.Over != "" {
		return p.Over
	}
	return p.Metric
}

// Parts are the measurements of a claim, one at least, each complete.
func (c *Claim) Parts() []Part {
	if len(c.Measurements) == 0 {
		return []Part{c.Part}
	}
	var list []Part
	for _, p := range c.Measurements {
		q := c.Part
		q.Name = p.Name
		if p.Schemes != nil {
			q.Schemes = p.Schemes
		}
		q.Metric, q.Over, q.As = cmp.Or(p.Metric, q.Metric), cmp.Or(p.Over, q.Over), cmp.Or(p.As, q.As)
		q.Bound, q.Within, q.Stat, q.Unit = cmp.Or(p.Bound, q.Bound), cmp.Or(p.Within, q.Within), cmp.Or(p.Stat, q.Stat), cmp.Or(p.Unit, q.Unit)
		if p.Paper != nil {
			q.Paper = p.Paper
		}
		if p.Limit != nil {
			q.Limit = p.Limit
		}
		list = append(list, q)
	}
	return list
}

// checkClaims finds claims that cannot be judged as they are meant.
func (e *Experiment) checkClaims() error {
	seen := map[string]bool{}
	for i := range e.Claims {
		c := &e.Claims[i]
		if c.Holds.IsSet() {
			return at(c.Holds, "claim %s: `holds` is called `bound` now, since holds is a verdict (holds: at_most is bound: at_most, holds: near is to be left out)", c.ID)
		}
		if seen[c.ID] || c.ID == "" {
			return &ofKey{[]string{"claims", strconv.Itoa(i)}, fmt.Errorf("claim %q: every claim needs an id of its own", c.ID)}
		}
		seen[c.ID] = true
		parts := c.Parts()
		for k := range parts {
			if err := e.checkPart(&parts[k]); err != nil {
				return &ofKey{[]string{"claims", strconv.Itoa(i)}, fmt.Errorf("claim %s: %w", c.ID, err)}
			}
			if (parts[k].Paper == nil) != (parts[0].Paper == nil) || (parts[k].Limit == nil) != (parts[0].Limit == nil) {
				return fmt.Errorf("claim %s: all measurements of a claim have numbers of the paper, or all have limits", c.ID)
			}
		}
	}
	return nil
}

func (e *Experiment) checkPart(p *Part) error {
	if len(p.Schemes) < 1 || len(p.Schemes) > 2 {
		return fmt.Errorf("one or two schemes, not %d", len(p.Schemes))
	}
	for _, s := range p.Schemes {
		if !slices.ContainsFunc(e.Schemes, func(u SchemeUse) bool { return u.Key() == s }) {
			return fmt.Errorf("there is no scheme %q here (%s)", s, others(s, e.SchemeKeys()))
		}
	}
	for _, m := range []string{p.Metric, p.Over} {
		if m == p.Over && p.Over == "" {
			continue
		}
		if err := e.checkMetric(m); err != nil {
			return err
		}
	}
	kind := p.Kind()
	pair := len(p.Schemes) == 2 || p.Over != ""
	number := cmp.Or(p.Paper, p.Limit)
	switch {
	case !finite(number) || !finite(&p.Within):
		return fmt.Errorf("paper, limit and within are numbers, and not infinite")
	case !slices.Contains([]As{Value, Ratio, Reduction, Fraction}, kind):
		return fmt.Errorf("as %q: value, ratio, reduction or fraction", p.As)
	case pair != (kind == Ratio || kind == Reduction):
		return fmt.Errorf("as %s: a ratio or a reduction is of two schemes, or has `over`, and nothing else has", kind)
	case p.Bound != "" && p.Bound != AtLeast && p.Bound != AtMost:
		return fmt.Errorf("bound %q: at_least or at_most", p.Bound)
	case !slices.Contains([]string{"median", "mean", "min", "max"}, p.Statistic()):
		return fmt.Errorf("stat %q: median, mean, min or max, over the seeds", p.Stat)
	case p.Paper != nil && p.Limit != nil:
		return fmt.Errorf("either the paper prints a number, or a limit says what its words come to")
	case p.Paper == nil && p.Limit == nil && (p.Bound != "" || p.Within != 0):
		return fmt.Errorf("a bound needs a number: paper, or limit")
	case p.Limit != nil && (p.Bound == "") == (p.Within == 0), p.Limit == nil && p.Within != 0, p.Within < 0, p.Within > 0 && *p.Limit == 0:
		return fmt.Errorf("a limit has a bound, or a part of it, `within`, that is near enough")
	case kind == Fraction && number != nil && (*number < 0 || *number > 1):
		return fmt.Errorf("a fraction is from 0 to 1, not %v", *number)
	case kind == Ratio && number != nil && *number < 0:
		return fmt.Errorf("a ratio is not below 0, as %v", *number)
	case kind == Reduction && number != nil && *number > 1:
		return fmt.Errorf("a reduction is at most 1, not %v", *number)
	case p.Paper != nil && p.Bound == "" && (kind == Fraction && (*p.Paper == 0 || *p.Paper == 1) ||
		kind == Ratio && *p.Paper == 1 || kind == Reduction && *p.Paper == 0):
		return fmt.Errorf("%v is no effect: say with limit and within, or with a bound, what is near enough", *p.Paper)
	}
	return nil
}

// finite reports whether a number of a claim, if there is one, is one.
func finite(v *float64) bool { return v == nil || math.Abs(*v) <= math.MaxFloat64 }

// checkMetric finds metrics that are not there, and values that no sweep has.
func (e *Experiment) checkMetric(metric string) error {
	name, value, swept := strings.Cut(metric, "@")
	names := e.MetricNames()
	switch {
	case !slices.Contains(names, name):
		if len(names) == 0 {
			return fmt.Errorf("there is no metric %q: measure has no metrics", name)
		}
		return fmt.Errorf("there is no metric %q (%s)", name, others(name, names))
	case e.Sweep == nil && swept:
		return fmt.Errorf("metric %s: the experiment has no sweep", metric)
	case e.Sweep != nil && !swept:
		return fmt.Errorf("metric %s: of which value of the sweep? (%s@%s)", metric, name, e.Sweep.Values[0])
	case e.Sweep != nil && !slices.Contains(e.Sweep.Values, value):
		return fmt.Errorf("metric %s: the sweep has no value %q (%s)", metric, value, strings.Join(e.Sweep.Values, ", "))
	}
	return nil
}

// SchemeKeys are what the schemes are called.
func (e *Experiment) SchemeKeys() (keys []string) {
	for _, u := range e.Schemes {
		keys = append(keys, u.Key())
	}
	return keys
}
