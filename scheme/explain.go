package scheme

import (
	"fmt"
	"io"
	"strings"
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

For those who choose a scheme or set its parameters: what its three points do, what each parameter is, and
where its default comes from. `+"`photon explain --markdown`"+` writes this page from the recipes in `+"`scheme/`"+`, one
file per scheme; [add-a-scheme.md](add-a-scheme.md) shows how to write one.

A default may be a rule over the network: `+"`photon explain SCHEME --rate 40Gbps --rtt 30us`"+` gives its value.
Where a paper is silent or contradicts itself, *open* gives the reason for the default. Every parameter can
be set in an experiment (`+"`params`"+` of a scheme) and in the configuration of a switch or an agent.

Any scheme runs over either **flow control**: `+"`pause`"+`, which is PFC, or `+"`credits`"+`, which are InfiniBand's.
An experiment chooses by `+"`flow_control`"+` ([architecture](architecture.md#flow-control-is-a-part)).
`)
	for _, name := range Names() {
		s := all[name]
		fmt.Fprintf(w, "\n## %s\n\n%s.\n*%s.*\n\n", s.Name, s.Summary, s.Source)
		fmt.Fprintf(w, "- **Congestion point** (switch): %s.\n- **Notification point** (receiver): %s.\n- **Reaction point** (sender): %s.\n", s.CP, s.NP, s.RP)
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
			fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", p.Name, cell(p.Default), cell(p.Doc), cell(source))
		}
	}
	return nil
}

// cell keeps text from ending a table's cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
