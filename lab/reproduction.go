package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tally is what became of all claims in virtual time: reproduction.json, and
// for people reproduction.md. It is the same for the same results.
type Tally struct {
	Reproduced int          `json:"reproduced"`
	Direction  int          `json:"direction"`
	Differs    int          `json:"differs"`
	Shape      int          `json:"shape"`
	Claims     []TallyClaim `json:"claims"` // those that were not run included
	// Experiments says which of them ran whole, and how long they took.
	Experiments []Extent `json:"experiments"`

	papers []outcomePaper
}

// TallyClaim is a claim and the experiment that it belongs to.
type TallyClaim struct {
	Experiment string `json:"experiment"`
	ClaimResult

	figure    string
	explained bool // the experiment says why it is so
}

// outcomePaper is a paper and which of the claims are its.
type outcomePaper struct {
	name        string
	experiments int
	claims      []TallyClaim
}

// Reproduction gathers the claims of the experiments that ran in virtual time.
func Reproduction(all []*Finished) *Tally {
	o := &Tally{Claims: []TallyClaim{}, Experiments: []Extent{}}
	for _, f := range all {
		world := slices.Index(f.worlds, "sim")
		if world < 0 {
			continue
		}
		name := strings.TrimSuffix(f.e.Paper.Name+", "+f.e.Paper.Venue, ", ")
		i := slices.IndexFunc(o.papers, func(p outcomePaper) bool { return p.name == name })
		if i < 0 {
			i = len(o.papers)
			o.papers = append(o.papers, outcomePaper{name: name})
		}
		p := &o.papers[i]
		p.experiments++
		o.Experiments = append(o.Experiments, f.extents[world])
		for k, c := range f.claims[world] {
			p.claims = append(p.claims, TallyClaim{Experiment: f.e.ID, ClaimResult: c, figure: f.e.Paper.Figure, explained: f.e.Claims[k].Note != ""})
		}
	}
	for _, p := range o.papers {
		o.Claims = append(o.Claims, p.claims...)
	}
	n := countOutcome(o.Claims)
	o.Reproduced, o.Direction, o.Differs, o.Shape = n[Reproduced], n[Direction], n[Differs], n[Shape]
	return o
}

func countOutcome(claims []TallyClaim) map[Verdict]int {
	n := map[Verdict]int{}
	for _, c := range claims {
		n[c.Verdict]++
	}
	return n
}

// Unexplained lists the claims that differ without the experiment saying why.
func (o *Tally) Unexplained() (list []string) {
	for _, c := range o.Claims {
		if c.Verdict == Differs && !c.explained {
			list = append(list, c.Experiment+" "+c.ID)
		}
	}
	return list
}

// Write writes both files into a folder.
func (o *Tally) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(o); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "reproduction.json"), b.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "reproduction.md"), o.markdown(), 0o644)
}

const outcomeHead = `# Reproduction

Made by ` + "`photon report DIR --reproduction docs`" + ` from the results of ` + "`photon replay`" + ` in virtual time; changes by hand are lost.

- **reproduced**: within 25 % of the paper's figure and, of two schemes, the same one ahead; or the stated inequality holds
- **direction**: the same order of schemes but another magnitude, or, for one scheme alone, within a factor of 2
- **differs**: neither; below each table it says what is known about the cause
- **shape**: the paper prints no number; ours is there to be looked at
`

// markdown is the table of all claims, by paper.
func (o *Tally) markdown() []byte {
	var b bytes.Buffer
	b.WriteString(outcomeHead)
	b.WriteString("\n| paper | experiments | reproduced | direction | differs | shape | not run |\n|---|--:|--:|--:|--:|--:|--:|\n")
	row := func(name string, experiments int, claims []TallyClaim) {
		n := countOutcome(claims)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d |\n", cell(name), experiments, n[Reproduced], n[Direction], n[Differs], n[Shape], n[NotRun])
	}
	experiments := 0
	for _, p := range o.papers {
		row(p.name, p.experiments, p.claims)
		experiments += p.experiments
	}
	row("**all**", experiments, o.Claims)
	quick := 0
	for _, x := range o.Experiments {
		if x.Quick {
			quick++
		}
	}
	fmt.Fprintf(&b, "\nOf %d experiments %d ran whole and %d with `--quick`; [the last table](#what-ran-and-how-long-it-took) says which.\n", experiments, experiments-quick, quick)
	for _, p := range o.papers {
		p.markdown(&b)
	}
	o.extents(&b)
	return b.Bytes()
}

// extents is the table of what ran, and how long it took.
func (o *Tally) extents(b *bytes.Buffer) {
	b.WriteString("\n## What ran, and how long it took\n\n" +
		"Seconds of wall time: the sum of the runs of the schemes, and from begin to end. Runs go side by side in virtual time, those of\n" +
		"several experiments too, and a full one also tries other choices, so that either may be the longer.\n\n| experiment | what ran | sum | begin to end | at once, at most | cores |\n|---|---|--:|--:|--:|--:|\n")
	sum := 0.0 // of spans that overlap there is none
	for _, x := range o.Experiments {
		fmt.Fprintf(b, "| %s | %s |", cell(x.Experiment), cell(x.ran()))
		if x.Cores == 0 { // results without timing.json
			b.WriteString(" – | – | – | – |\n")
			continue
		}
		fmt.Fprintf(b, " %.1f | %.1f | %d | %d |\n", x.Seconds, x.Elapsed, x.Parallel, x.Cores)
		sum += x.Seconds
	}
	fmt.Fprintf(b, "| **all** | | %.1f | | | |\n", sum)
}

func (p *outcomePaper) markdown(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## %s\n\n", p.name)
	if len(p.claims) == 0 {
		b.WriteString("No claim of this paper is judged.\n")
		return
	}
	b.WriteString("| figure | claim | paper | ours | verdict |\n|---|---|--:|--:|---|\n")
	for _, c := range p.claims {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", cell(c.figure), cell(c.Text), cell(number(c.Paper, c.Unit)), cell(c.measured()), c.Verdict)
	}
	for _, c := range p.claims {
		if c.Verdict != Differs && (c.Verdict != Direction || c.Measured != nil) { // a number speaks for itself
			continue
		}
		note := c.Note
		if !c.explained {
			note = strings.TrimSuffix(join("no explanation yet", note), "; ")
		}
		fmt.Fprintf(b, "\n**%s, %s.** %s: %s where the paper has %s. %s.\n", c.Experiment, c.ID, c.Text, c.measured(), number(c.Paper, c.Unit), sentenceCase(note))
	}
}

// cell is a text as a cell of a table: in one line, and without the character that ends cells.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// sentenceCase makes a sentence of a note, which begins small and ends without a stop.
func sentenceCase(note string) string {
	note = strings.TrimRight(strings.Join(strings.Fields(note), " "), ".")
	if first, rest := note[:1], note[1:]; first >= "a" && first <= "z" {
		return strings.ToUpper(first) + rest
	}
	return note
}
