package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Verdict is what became of a claim.
type Verdict string

// Verdicts.
const (
	Reproduced Verdict = "reproduced" // within 25 % of the paper's figure and, of two schemes, the same one ahead; or the stated inequality holds
	Direction  Verdict = "direction"  // the same order of schemes, another magnitude; for one scheme: within a factor of 2
	Differs    Verdict = "differs"
	Shape      Verdict = "shape"   // the paper prints no number
	NotRun     Verdict = "not-run" // a scheme it needs was not in this run
)

// ClaimResult is a claim and what was measured.
type ClaimResult struct {
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	Schemes  []string `json:"schemes"`
	Paper    *float64 `json:"paper"`
	Unit     string   `json:"unit"`
	Measured *float64 `json:"measured"`
	AtLeast  *float64 `json:"at_least,omitempty"` // a quotient whose dividend never came is at least this
	Verdict  Verdict  `json:"verdict"`
	Note     string   `json:"note"`
}

// judge compares a claim with the metrics of the runs, by scheme. A time that never
// came was watched for so many seconds, if it is known (0: it is not): it is at least
// that long, which may be enough to say which of two schemes was sooner.
func (c Claim) judge(runs map[string]Metrics, watched float64) ClaimResult {
	r := ClaimResult{ID: c.ID, Text: c.Text, Schemes: c.Schemes, Paper: c.Paper, Unit: c.Unit, Note: c.Note}
	for _, s := range c.Schemes {
		if _, ok := runs[s]; !ok {
			r.Verdict = NotRun
			r.Note = join(r.Note, s+" was not run")
			return r
		}
	}
	value, measured := runs[c.Schemes[0]][c.Metric]
	if !measured && strings.Contains(c.Metric, "@") {
		r.Verdict = NotRun
		r.Note = join(r.Note, "this value of the sweep was not run")
		return r
	}
	if c.ratio() {
		over := c.Over
		if over == "" {
			over = c.Metric
		}
		divisor := runs[c.Schemes[len(c.Schemes)-1]][over]
		if value == nil {
			if c.kind() == ratio && watched > 0 {
				r.AtLeast = quotient(&watched, divisor)
			}
		} else {
			value = quotient(value, divisor)
		}
		if value != nil && c.As.V == "reduction" {
			*value = 1 - *value
		}
	}
	r.Measured = value
	switch {
	case c.Paper == nil:
		r.Verdict = Shape
	case r.AtLeast != nil && *r.AtLeast > 1 && *c.Paper > 1:
		r.Verdict = Direction
		if c.Holds.V == "at_least" && *r.AtLeast >= *c.Paper {
			r.Verdict = Reproduced
		}
		r.Note = join(r.Note, fmt.Sprintf(neverCame+", which is at least %.3g times as long", *r.AtLeast))
	case value == nil:
		r.Verdict = Differs
		r.Note = join(r.Note, neverCame)
	default:
		r.Verdict = verdict(*value, *c.Paper, c.Holds.Or("near"), c.kind())
	}
	return r
}

// neverCame begins what judge adds to the note of a claim about a time that did not come.
const neverCame = "it did not happen in the time of the run"

func quotient(a, b *float64) *float64 {
	if b == nil || *b == 0 {
		return nil
	}
	q := *a / *b
	return &q
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// claimKind is what kind of number a claim is about.
type claimKind int

const (
	plain     claimKind = iota
	ratio               // of two: above 1 or below
	reduction           // of one against the other: above 0 or below
)

func (c *Claim) kind() claimKind {
	switch {
	case !c.ratio():
		return plain
	case c.As.V == "reduction":
		return reduction
	}
	return ratio
}

func verdict(measured, paper float64, holds string, kind claimKind) Verdict {
	near := math.Abs(measured-paper) <= 0.25*math.Abs(paper)
	if kind == ratio && paper != 1 && (measured > 1) != (paper > 1) {
		near = false // the other scheme is ahead, however little
	}
	switch {
	case near, holds == "at_most" && measured <= paper, holds == "at_least" && measured >= paper:
		return Reproduced
	case kind == ratio && (measured > 1) == (paper > 1) && measured != 1:
		return Direction
	case kind == reduction && measured*paper > 0:
		return Direction
	case kind == plain && measured*paper > 0 && measured/paper <= 2 && measured/paper >= 0.5:
		return Direction
	}
	return Differs
}

// Count counts the verdicts of a list of claims.
func Count(claims []ClaimResult) (n map[Verdict]int) {
	n = map[Verdict]int{}
	for _, c := range claims {
		n[c.Verdict]++
	}
	return n
}

// measured prints what was measured as the tables do.
func (c *ClaimResult) measured() string {
	if c.Measured == nil && c.AtLeast != nil {
		return "≥ " + number(c.AtLeast, c.Unit)
	}
	return number(c.Measured, c.Unit)
}

// number prints a measured or printed number as the tables do.
func number(v *float64, unit string) string {
	if v == nil {
		return "–"
	}
	scale, prefix := 1.0, ""
	scaled := slices.Contains([]string{"s", "B", "bit/s"}, unit)
	switch a := math.Abs(*v); {
	case !scaled || a == 0:
	case unit == "s" && a < 1e-3:
		scale, prefix = 1e6, "µ"
	case unit == "s" && a < 1:
		scale, prefix = 1e3, "m"
	case unit != "s" && a >= 1e9:
		scale, prefix = 1e-9, "G"
	case unit != "s" && a >= 1e6:
		scale, prefix = 1e-6, "M"
	case unit != "s" && a >= 1e3:
		scale, prefix = 1e-3, "K"
	}
	text := fmt.Sprintf("%.4g", *v*scale)
	if unit == "" {
		return text
	}
	return text + " " + prefix + unit
}
