package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"photon/lab/accept"
)

func acceptCommand() *cobra.Command {
	var out, stage string
	var only []string
	var devices bool
	c := &cobra.Command{
		Use:   "accept FILE",
		Short: "Find out whether network cards do what a lossless switch relies on",
		Long: "Find out whether network cards do what a lossless switch relies on, with cables between ports of this machine\n" +
			"(docs/operate.md, an acceptance run of cards). Each step prints a line: what is asserted, what was measured, and\n" +
			"pass, fail or not possible here. deploy/testbed-82599/accept.sh runs it and packs the results into one archive.\n" +
			"Exit code 1 means that a step failed.",
		Example: "  photon accept deploy/testbed-82599/accept.yaml --out out/accept\n" +
			"  photon accept deploy/testbed-82599/accept.yaml --only cards --only pacing",
		Args: exactlyOne("the file of an acceptance run (deploy/testbed-82599/accept.yaml is an example)"),
		RunE: func(c *cobra.Command, files []string) error {
			p, err := accept.Read(files[0])
			if err != nil {
				return bad(wrongKind(files[0], acceptFile, err))
			}
			if err := p.Only(only...); err != nil {
				return bad(fmt.Errorf("--only: %w", err))
			}
			switch {
			case devices:
				for _, d := range p.Devices() {
					fmt.Fprintln(c.OutOrStdout(), d)
				}
				return nil
			case stage != "":
				return acceptError(p.Stage(c.Context(), stage, out, c.OutOrStdout()))
			}
			s, err := p.Run(c.Context(), out, versions(), c.OutOrStdout())
			if err != nil {
				return acceptError(err)
			}
			fmt.Fprintf(c.OutOrStdout(), "%d passed, %d failed, %d not possible here, in %.0f s; %s has all of it\n",
				s.Passed, s.Failed, s.NotPossible, s.Seconds, out)
			if s.Failed > 0 {
				return fmt.Errorf("%d of %d steps failed", s.Failed, len(s.Steps))
			}
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "out/accept", "Write what is measured into this `folder`")
	c.Flags().StringArrayVar(&only, "only", nil,
		"Do this `stage` or step alone, as in pacing or \"not obeyed\"; may be repeated")
	c.Flags().BoolVar(&devices, "ports", false, "Print the ports that would be used, one a line, and do nothing else")
	c.Flags().StringVar(&stage, "stage", "", "Run one `stage` in this process")
	if err := c.Flags().MarkHidden("stage"); err != nil {
		panic(err) // there is no such flag
	}
	return c
}

// acceptError marks a refusal as bad input.
func acceptError(err error) error {
	if errors.As(err, &accept.Refusal{}) {
		return bad(err)
	}
	return err
}
