package main

import (
	"errors"

	"github.com/spf13/cobra"

	"photon/scheme"
	"photon/units"
)

func explainCommand() *cobra.Command {
	n := scheme.Network{Line: 10 * units.Gbps}
	var rtt string
	var markdown bool
	c := &cobra.Command{
		Use:   "explain SCHEME",
		Short: "Print a scheme's recipe: its points, its parameters, and where their values come from",
		Example: "  photon explain pcn\n" +
			"  photon explain pacc --rate 25Gbps",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			if markdown {
				return scheme.Markdown(c.OutOrStdout())
			}
			if len(names) == 0 {
				return bad(errors.New("name a scheme (photon list schemes shows them)"))
			}
			s, err := scheme.Get(names[0])
			if err != nil {
				return bad(err)
			}
			if rtt != "" {
				if n.RTT, err = units.ParseTime(rtt); err != nil {
					return bad(errors.New("--rtt: " + err.Error()))
				}
			}
			if n.Line <= 0 || n.RTT < 0 || n.LongFlows < 0 {
				return bad(errors.New("the rate must be positive, the round-trip time and the number of flows not negative"))
			}
			return s.Explain(c.OutOrStdout(), n)
		},
	}
	f := c.Flags()
	f.Var(&rateFlag{&n.Line}, "rate", "`rate` of the hosts' links, for defaults that depend on it (10Gbps)")
	f.StringVar(&rtt, "rtt", "", "largest base round-trip `time`, for defaults that depend on it (unknown)")
	f.IntVar(&n.LongFlows, "flows", 0, "long flows that share a bottleneck, for defaults that depend on it (unknown)")
	f.BoolVar(&markdown, "markdown", false, "all schemes, as docs/schemes.md")
	return c
}
