package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"photon/internal/markdown"
	"photon/lab/claim"
	"photon/lab/experiment"
)

// rule is what reproduction.md says of how claims are judged; a test holds package claim to
// its cases.
//
//go:embed rule.md
var rule string

// Reproduction writes the table of all claims in virtual time into a folder: reproduction.json,
// reproduction.md, and a page for each experiment that has a longer story.
func Reproduction(dir string, all []claim.Finished) (*claim.Tally, error) {
	t := claim.Sum(all)
	b, err := t.JSON()
	if err != nil {
		return nil, err
	}
	pages := filepath.Join(dir, "reproduction")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return nil, err
	}
	files := map[string][]byte{claim.File(dir): b, filepath.Join(dir, "reproduction.md"): claimsPage(all, t)}
	for _, f := range all {
		if f.Story != "" {
			files[filepath.Join(pages, storyFile(f.Experiment))] = story(&f)
		}
	}
	for path, b := range files {
		if err := WriteWhole(path, b); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// paper is a paper and its experiments.
type paper struct {
	name        string
	experiments []claim.Finished
}

func papers(all []claim.Finished) (list []*paper) {
	for _, f := range all {
		name := strings.TrimSuffix(f.Paper.Name+", "+f.Paper.Venue, ", ")
		if len(list) == 0 || list[len(list)-1].name != name {
			list = append(list, &paper{name: name})
		}
		p := list[len(list)-1]
		p.experiments = append(p.experiments, f)
	}
	return list
}

func (p *paper) claims() (list []claim.Result) {
	for _, f := range p.experiments {
		list = append(list, f.Claims...)
	}
	return list
}

// claimsPage is the table of all claims, by paper.
func claimsPage(all []claim.Finished, t *claim.Tally) []byte {
	var b bytes.Buffer
	b.WriteString("# Reproduction\n\n" +
		"For those who ask whether photon does what the papers say. After this page you know every claim, our number,\n" +
		"the verdict, and why it differs, if that is known. In notes, names in parentheses are other claims, and\n" +
		"*alternatives* are runs with other parameters, which the experiment's report has.\n" +
		"`photon report DIR --reproduction docs` makes this page from results of `photon replay` in virtual time.\n\n")
	b.WriteString("| paper | experiments |")
	for _, v := range claim.Verdicts {
		fmt.Fprintf(&b, " %s |", v)
	}
	b.WriteString("\n|---|--:|" + strings.Repeat("--:|", len(claim.Verdicts)) + "\n")
	row := func(name string, experiments int, claims []claim.Result) {
		fmt.Fprintf(&b, "| %s | %d |", markdown.Cell(name), experiments)
		n := claim.Count(claims)
		for _, v := range claim.Verdicts {
			fmt.Fprintf(&b, " %d |", n[v])
		}
		b.WriteString("\n")
	}
	list, every := papers(all), []claim.Result{}
	for _, p := range list {
		claims := p.claims()
		row(p.name, len(p.experiments), claims)
		every = append(every, claims...)
	}
	row("**all**", len(all), every)
	quick := 0
	for _, x := range t.Experiments {
		if x.Quick {
			quick++
		}
	}
	fmt.Fprintf(&b, "\nOf %d experiments %d ran whole and %d with `--quick` ([list](#what-ran)).\n\n",
		len(all), len(all)-quick, quick)
	b.WriteString(rule)
	for _, p := range list {
		p.markdown(&b)
	}
	b.WriteString("\n## What ran\n\nExperiments that take long have fewer than twenty seeds.\n\n" +
		"| experiment | what it is | what ran | seeds |\n|---|---|---|--:|\n")
	titles := map[string]string{}
	for _, f := range all {
		titles[f.ID] = f.Title
	}
	for _, x := range t.Experiments {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", markdown.Cell(x.Experiment), markdown.Cell(titles[x.Experiment]), markdown.Cell(x.Ran()), x.Seeds)
	}
	return b.Bytes()
}

func (p *paper) markdown(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## %s\n", p.name)
	for _, f := range p.experiments {
		if len(f.Claims) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n\n", f.ID)
		claimTable(b, f.Claims)
		for _, c := range f.Claims {
			if c.Verdict != claim.Differs && c.Verdict != claim.Contradicted {
				continue
			}
			note := c.Note
			if note == "" {
				note = "no explanation yet"
			}
			fmt.Fprintf(b, "\n%s\n", markdown.Wrap(fmt.Sprintf("**%s.** %s.", c.ID, sentenceCase(note))))
		}
		if f.Story != "" {
			fmt.Fprintf(b, "\n[More of %s](reproduction/%s).\n", f.ID, storyFile(f.Experiment))
		}
	}
}

// claimTable is a table of claims, with a row for each measurement.
func claimTable(b *bytes.Buffer, claims []claim.Result) {
	b.WriteString("| claim | paper | ours | 95 % interval | n | verdict |\n|---|--:|--:|---|--:|---|\n")
	line := func(text string, m *claim.Measurement, verdict string) {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %d | %s |\n", markdown.Cell(text), markdown.Cell(m.Theirs()), markdown.Cell(m.Ours()), markdown.Cell(m.Spread()), m.N, verdict)
	}
	for i := range claims {
		c := &claims[i]
		if c.Measurements == nil {
			line(c.Text, &c.Measurement, c.Says())
			continue
		}
		fmt.Fprintf(b, "| %s | | | | | %s |\n", markdown.Cell(c.Text), c.Says())
		for k := range c.Measurements {
			m := &c.Measurements[k]
			line("– "+m.Name, m, m.Says())
		}
	}
}

func storyFile(e *experiment.Experiment) string { return strings.ReplaceAll(e.ID, "/", "-") + ".md" }

// story is the page of an experiment that has one.
func story(f *claim.Finished) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s: %s\n\nMade by `photon report DIR --reproduction docs`; the text is in `lab/experiments/%s.yaml`. [All claims](../reproduction.md).\n\n", f.ID, f.Title, f.ID)
	b.WriteString(strings.TrimSpace(f.Story) + "\n\n")
	claimTable(&b, f.Claims)
	return b.Bytes()
}

// sentenceCase makes a sentence of a note, which begins small and ends without a stop.
func sentenceCase(note string) string {
	note = strings.TrimRight(strings.Join(strings.Fields(note), " "), ".")
	if first, rest := note[:1], note[1:]; first >= "a" && first <= "z" {
		return strings.ToUpper(first) + rest
	}
	return note
}
