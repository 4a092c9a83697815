package report

import (
	"fmt"
	"math"
	"strings"

	"photon/lab/claim"
	"photon/lab/experiment"
)

// words says how what was measured stands to the paper's number, or of a ratio how one scheme's stands to the other's;
// nothing where there is no number to say it of. Of a claim with several measurements it is of the one that decides.
func words(c *experiment.Claim, m *claim.Measurement) string {
	text := inWords(c, m)
	if text != "" && m.Name != "" && !strings.Contains(text, ": ") {
		return m.Name + ": " + text
	}
	return text
}

func inWords(c *experiment.Claim, m *claim.Measurement) string {
	if m.Measured == nil {
		return ""
	}
	v := *m.Measured
	switch m.As {
	case experiment.Value:
		if m.Paper == nil || *m.Paper <= 0 || v <= 0 {
			return ""
		}
		of := "the paper's"
		if m.Bound != "" {
			of = "the paper's bound"
		}
		return relation(v / *m.Paper, m.Unit) + " " + of
	case experiment.Ratio, experiment.Reduction:
		if m.As == experiment.Reduction {
			v = 1 - v
		}
		part := partOf(c, m)
		if part == nil || v <= 0 {
			return ""
		}
		if len(part.Schemes) == 2 {
			return part.Schemes[0] + ": " + relation(v, "") + " " + part.Schemes[1] + "'s"
		}
		return relation(v, "") + " " + part.Over
	}
	return ""
}

// partOf is what a claim's measurement is of.
func partOf(c *experiment.Claim, m *claim.Measurement) *experiment.Part {
	for _, p := range c.Parts() {
		if p.Name == m.Name && p.Metric == m.Metric {
			return &p
		}
	}
	return nil
}

// relation says a ratio in words that a noun follows: "twice", "a third of"; of times "twice as long as".
func relation(r float64, unit string) string {
	long := unit == "s"
	say := func(times, plain string) string { // "half" is half as long as, and half of
		if long {
			return times + " as long as"
		}
		return plain
	}
	percent := math.Round(100 * math.Abs(r-1))
	switch {
	case math.IsInf(r, 0) || math.IsNaN(r):
		return ""
	case percent == 0:
		return strings.TrimSpace(say("", "the same as"))
	case r >= 1.95 && r <= 2.05:
		return say("twice", "twice")
	case r > 2:
		n := fmt.Sprintf("%.2g times", r)
		if r >= 100 {
			n = fmt.Sprintf("%.0f times", r)
		}
		return say(n, n)
	case r > 1:
		return fmt.Sprintf("%.0f %% %s than", percent, map[bool]string{true: "longer", false: "more"}[long])
	case fraction(r) != "":
		return say(fraction(r), fraction(r)+" of")
	case r >= 0.6:
		return fmt.Sprintf("%.0f %% %s than", percent, map[bool]string{true: "shorter", false: "less"}[long])
	case r >= 0.1:
		n := fmt.Sprintf("%.0f %%", 100*r)
		return say(n, n+" of")
	}
	n := "one " + ordinal(int(math.Round(1/r)))
	if r < 1e-3 {
		n = "less than a thousandth"
	}
	return say(n, n+" of")
}

// fraction names a part that is as good as a half, a third and so on.
func fraction(r float64) string {
	for i, name := range []string{"half", "a third", "a quarter", "a fifth", "a sixth", "a seventh", "an eighth", "a ninth", "a tenth"} {
		if math.Abs(r*float64(i+2)-1) < 0.04 {
			return name
		}
	}
	return ""
}

func ordinal(n int) string {
	end := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, end)
}
