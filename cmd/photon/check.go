package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"photon/config"
	"photon/lab"
	"photon/lab/schema"
	"photon/lab/sweep"
	"photon/lab/testbed"
)

func checkCommand() *cobra.Command {
	var schema string
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "Say whether a configuration, an experiment or a sweep is right, and what follows from it",
		RunE: func(c *cobra.Command, files []string) error {
			if c.Flags().Changed("schema") {
				of, ok := schemas[schema]
				if !ok {
					return bad(fmt.Errorf("--schema=%s: experiment or sweep", schema))
				}
				b, err := of()
				if err != nil {
					return err
				}
				_, err = c.OutOrStdout().Write(b)
				return err
			}
			if len(files) == 0 {
				return bad(errors.New("name a file"))
			}
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
		Args: cobra.ArbitraryArgs,
	}
	c.Flags().StringVar(&schema, "schema", "", "print the JSON schema of experiments, or with =sweep of sweeps, for editors")
	c.Flags().Lookup("schema").NoOptDefVal = "experiment"
	return c
}

// schemas are the formats that editors may want to know.
var schemas = map[string]func() ([]byte, error){"experiment": schema.Experiment, "sweep": sweep.Schema}

// check reads a file as what its keys say it is.
func check(file string) ([]string, error) {
	var keys map[string]any
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, config.FileError(file, err)
	}
	_ = config.Unmarshal(b, &keys) // what is wrong with it, the reader below says
	switch {
	case keys["topology"] != nil:
		e, err := lab.Parse(file, b)
		if err != nil {
			return nil, err
		}
		return []string{"experiment " + e.ID + ": " + e.Title}, nil
	case keys["nodes"] != nil:
		b, err := testbed.Read(file)
		if err != nil {
			return nil, err
		}
		return []string{fmt.Sprintf("a testbed of %d nodes", len(b.Nodes))}, nil
	case keys["experiments"] != nil:
		s, err := sweep.Read(file)
		if err != nil {
			return nil, err
		}
		tasks, err := s.Tasks()
		if err != nil {
			return nil, err
		}
		return []string{fmt.Sprintf("sweep %s: %d tasks", s.Name.V, len(tasks))}, s.Check(tasks)
	case keys["port"] != nil || keys["ip"] != nil || keys["role"] != nil:
		a, err := config.ReadAgent(file)
		if err != nil {
			return nil, err
		}
		if a.IsNIC() {
			n, err := a.ResolveNIC(nil)
			if err != nil {
				return nil, err
			}
			return n.Describe(), nil
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
