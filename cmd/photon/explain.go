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
		Short: "Print a scheme's recipe: its points, its parameters, and the sources of their values",
		Example: "  photon explain pcn\n" +
			"  photon explain pacc --rate 25Gbps",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			if markdown {
				if len(names) > 0 {
					return bad(errors.New("--markdown prints all schemes: name none"))
				}
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
	f.Var(&rateFlag{&n.Line}, "rate", "Compute defaults for hosts with links of this `rate` (10Gbps if absent)")
	f.StringVar(&rtt, "rtt", "", "Compute defaults for this largest base round-trip `time` (unknown if absent)")
	f.IntVar(&n.LongFlows, "flows", 0, "Compute defaults for this `number` of long flows at a bottleneck (unknown if absent)")
	f.BoolVar(&markdown, "markdown", false, "Print docs/schemes.md, which has all schemes")
	return c
}
