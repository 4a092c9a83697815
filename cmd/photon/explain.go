package main

import (
	"errors"
	"fmt"

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
		Args: func(_ *cobra.Command, names []string) error {
			if len(names) > 1 {
				return fmt.Errorf("explain: name a scheme, and no more than one (there is %q, too)", names[1])
			}
			return nil
		},
		RunE: func(c *cobra.Command, names []string) error {
			if markdown {
				if len(names) > 0 {
					return bad(errors.New("--markdown prints all schemes: name none"))
				}
				for _, f := range []string{"rate", "rtt", "flows"} {
					if c.Flags().Changed(f) {
						return bad(fmt.Errorf(
							"--markdown prints all schemes with their defaults: --%s is of one scheme", f))
					}
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
			if c.Flags().Changed("rtt") {
				if n.RTT, err = units.ParseTime(rtt); err != nil {
					return bad(errors.New("--rtt: " + err.Error()))
				}
			}
			switch {
			case n.Line <= 0:
				return bad(fmt.Errorf("--rate %v: a link has a rate above 0", n.Line))
			case c.Flags().Changed("rtt") && n.RTT <= 0:
				return bad(fmt.Errorf("--rtt %s: above 0 (leave it out if unknown)", rtt))
			case c.Flags().Changed("flows") && n.LongFlows < 1:
				return bad(fmt.Errorf("--flows %d: from 1 (leave it out if unknown)", n.LongFlows))
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
