package main

import (
	"fmt"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"photon/config"
	"photon/lab"
)

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Say whether a configuration or an experiment is right, and what follows from it",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			for _, file := range files {
				lines, err := check(file)
				if err != nil {
					return bad(err)
				}
				fmt.Fprintf(c.OutOrStdout(), "%s: ok\n", file)
				for _, l := range lines {
					fmt.Fprintf(c.OutOrStdout(), "  %s\n", l)
				}
			}
			return nil
		},
	}
}

// check reads a file as what its keys say it is.
func check(file string) ([]string, error) {
	var keys map[string]any
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	_ = yaml.Unmarshal(b, &keys) // what is wrong with it, the reader below says
	switch {
	case keys["topology"] != nil:
		e, err := lab.Parse(file, b)
		if err != nil {
			return nil, err
		}
		return []string{"experiment " + e.ID + ": " + e.Title}, nil
	case keys["port"] != nil || keys["ip"] != nil:
		a, err := config.ReadAgent(file)
		if err != nil {
			return nil, err
		}
		n, err := a.Resolve(nil)
		if err != nil {
			return nil, err
		}
		return n.Describe(), nil
	default:
		s, err := config.ReadSwitch(file)
		if err != nil {
			return nil, err
		}
		n, err := s.Resolve(nil)
		if err != nil {
			return nil, err
		}
		return n.Describe(), nil
	}
}
