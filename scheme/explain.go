package scheme

import (
	"fmt"
	"io"
	"strings"

	"photon/internal/markdown"
)

// Explain prints a recipe with the values its parameters have in a network,
// where they come from, and what is open about them.
func (s *Scheme) Explain(w io.Writer, n Network) error {
	set, err := s.Settings(n, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %s\n  %s\n\n", s.Name, s.Summary, s.Source)
	fmt.Fprintf(w, "congestion point (switch)      %s\n", s.CP)
	fmt.Fprintf(w, "notification point (receiver)  %s\n", s.NP)
	fmt.Fprintf(w, "reaction point (sender)        %s\n", s.RP)
	if len(set) > 0 {
		fmt.Fprintf(w, "\nparameters, on %v", n.Line)
		if n.RTT > 0 {
			fmt.Fprintf(w, " with a base RTT of %v", n.RTT)
		}
		fmt.Fprintln(w, ":")
	}
	for _, v := range set {
		fmt.Fprintf(w, "  %s = %s\n", v.Name, v.Value)
		fmt.Fprintf(w, "      %s\n", v.Doc)
		if v.Rule != nil {
			fmt.Fprintf(w, "      default: %s\n", v.Default)
		}
		fmt.Fprintf(w, "      source: %s\n", v.Source)
		if v.Open != "" {
			fmt.Fprintf(w, "      open: %s\n", v.Open)
		}
	}
	return nil
}

// Markdown prints all recipes as a document.
func Markdown(w io.Writer) error {
	fmt.Fprint(w, `# The schemes

For those who choose a scheme or set its parameters. After this page you know what its congestion point (CP,
the switch), notification point (NP, the receiver) and reaction point (RP, the sender) do, and where each
default comes from. `+"`photon explain --markdown`"+` writes it from the recipes in `+"`scheme/`"+`.

Every parameter can be set in an experiment (`+"`params`"+`) and in the file of a switch or agent. If a default is
a rule over the network, `+"`photon explain SCHEME --rate 40Gbps --rtt 30us`"+` gives its value. *Open:* a paper is
silent or contradicts itself, and why the default is as it is. Schemes run over PFC or InfiniBand's credits
([`+"`flow_control`"+`](architecture.md#two-flow-controls-and-how-to-add-one)).
`)
	for _, name := range Names() {
		s := all[name]
		fmt.Fprintf(w, "\n## %s\n\n%s\n\n", s.Name, markdown.Wrap(s.Summary+"."))
		fmt.Fprintf(w, "| | |\n|---|---|\n| from | %s |\n| CP | %s |\n| NP | %s |\n| RP | %s |\n", markdown.Cell(s.Source), markdown.Cell(s.CP), markdown.Cell(s.NP), markdown.Cell(s.RP))
		if len(s.Params) == 0 {
			fmt.Fprint(w, "\nNo parameters.\n")
			continue
		}
		fmt.Fprint(w, "\n| parameter | default | what it is | source |\n|---|---|---|---|\n")
		for _, p := range s.Params {
			source := p.Source
			if p.Open != "" {
				source += ". *Open:* " + p.Open
			}
			if of := home(p); of != s {
				source = fmt.Sprintf("as in [%s](#%s)", of.Name, anchor(of.Name))
			}
			fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", p.Name, markdown.Cell(p.Default), markdown.Cell(p.Doc), markdown.Cell(source))
		}
	}
	return nil
}

// home is the scheme whose table says where a parameter comes from: of all schemes that have it in the
// same words, the one with the fewest parameters.
func home(p Param) (of *Scheme) {
	for _, name := range Names() {
		s := all[name]
		for _, q := range s.Params {
			if q.Name == p.Name && q.Default == p.Default && q.Doc == p.Doc && q.Source == p.Source && q.Open == p.Open &&
				(of == nil || len(s.Params) < len(of.Params)) {
				of = s
			}
		}
	}
	return of
}

// anchor is the place of a heading in a page, as GitHub and others name it.
func anchor(heading string) string { return strings.ReplaceAll(heading, "+", "") }
