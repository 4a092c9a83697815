package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"photon/config"
	"photon/daemon"
	"photon/internal/shell"
	"photon/lab/accept"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/report"
	"photon/lab/schema"
	"photon/lab/sweep"
	"photon/lab/testbed"
)

func checkCommand() *cobra.Command {
	var schema string
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check a configuration, an experiment or a sweep, and print what follows from it",
		Example: "  photon check mine.yaml\n" +
			"  photon check /etc/photon/sw.yaml\n" +
			"  photon check --schema > experiment.schema.json",
		RunE: func(c *cobra.Command, files []string) error {
			if c.Flags().Changed("schema") {
				if len(files) > 0 {
					return bad(fmt.Errorf("--schema prints a format, and checks no file: "+
						"for another than that of experiments write --schema=%s", files[0]))
				}
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
			var wrong error // with the last file of which something is
			for _, file := range files {
				lines, err := check(file)
				if err != nil {
					if wrong != nil {
						complain(c.ErrOrStderr(), c, wrong)
					}
					wrong = err
					continue
				}
				fmt.Fprintf(c.OutOrStdout(), "%s: ok\n", file)
				for _, l := range lines {
					fmt.Fprintf(c.OutOrStdout(), "  %s\n", l)
				}
			}
			return bad(wrong)
		},
		Args: cobra.ArbitraryArgs,
	}
	c.Flags().StringVar(&schema, "schema", "", "Print the JSON schema of a `kind` of file, experiment or sweep, for editors")
	c.Flags().Lookup("schema").NoOptDefVal = "experiment"
	return c
}

// schemas are the formats that editors may want to know.
var schemas = map[string]func() ([]byte, error){"experiment": schema.Experiment, "sweep": sweep.Schema}

// fileKind is what a file is, by its keys.
type fileKind int

const (
	unknownFile fileKind = iota
	experimentFile
	testbedFile
	sweepFile
	agentFile
	switchFile
	acceptFile
)

// kindOf goes by keys that only one kind of file has.
func kindOf(b []byte) fileKind {
	var keys map[string]any
	_ = yaml.Load(b, &keys) // what is wrong with it, its reader says
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return keys[name] != nil })
	}
	switch {
	case has("topology", "parameters", "measure", "schemes") && !has("experiments"):
		return experimentFile
	case has("nodes"):
		return testbedFile
	case has("cables", "figure11"):
		return acceptFile
	case has("experiments"):
		return sweepFile
	case has("port", "ip", "role"):
		return agentFile
	case has("ports"):
		return switchFile
	}
	return unknownFile
}

// wrongKind says so if a file was refused because it is one for another command.
func wrongKind(file string, want fileKind, refused error) error {
	b, err := os.ReadFile(file)
	if err != nil || refused == nil {
		return refused
	}
	word := shell.Word(file)
	switch kind := kindOf(b); {
	case kind == want:
		return refused
	case kind == experimentFile:
		return fmt.Errorf("%s is an experiment: photon run %s", file, word)
	case kind == sweepFile:
		return fmt.Errorf("%s is a sweep: photon sweep %s", file, word)
	case kind == agentFile:
		return fmt.Errorf("%s is the file of an agent: photon agent -c %s", file, word)
	case kind == switchFile:
		return fmt.Errorf("%s is the file of a switch: photon switch -c %s", file, word)
	case kind == acceptFile:
		return fmt.Errorf("%s is of an acceptance run of cards: photon accept %s", file, word)
	case kind == testbedFile:
		return fmt.Errorf("%s says where the nodes of an experiment are: photon replay ID --world dpdk --testbed %s",
			file, word)
	}
	return refused
}

// check reads a file as what its keys say it is.
func check(file string) ([]string, error) {
	b, err := config.ReadText(file) // once: it may be a pipe
	if err != nil {
		return nil, err
	}
	switch kindOf(b) {
	case experimentFile:
		e, err := experiment.Parse(file, b)
		if err != nil {
			return nil, err
		}
		notes, err := build.CheckWithNotes(e)
		if err == nil {
			err = report.CheckNames(e, nil)
		}
		if err != nil {
			return nil, err
		}
		return append(e.Describe(), notes...), nil
	case testbedFile:
		t, err := testbed.Parse(file, b)
		if err != nil {
			return nil, err
		}
		return []string{fmt.Sprintf("a testbed of %d nodes", len(t.Nodes))}, nil
	case acceptFile:
		p, err := accept.Parse(file, b)
		if err != nil {
			return nil, err
		}
		return p.Describe(), nil
	case sweepFile:
		s, err := sweep.Parse(file, b)
		if err != nil {
			return nil, err
		}
		tasks, err := s.Tasks()
		if err != nil {
			return nil, err
		}
		return []string{fmt.Sprintf("sweep %s: %d tasks", s.Name.V, len(tasks))}, s.Check(tasks)
	case agentFile:
		a, err := config.ParseAgent(file, b)
		if err != nil {
			return nil, err
		}
		if a.IsNIC() {
			n, err := a.ResolveNIC(nil)
			if err != nil {
				return nil, err
			}
			return append(n.Describe(), a.Warnings()...), nil
		}
		n, err := a.Resolve(nil)
		if err != nil {
			return nil, err
		}
		return append(n.Describe(), a.Warnings()...), daemon.CheckFiles(a)
	default:
		s, err := config.ParseSwitch(file, b)
		if err != nil {
			return nil, err
		}
		n, err := s.Resolve(nil)
		if err != nil {
			return nil, err
		}
		return slices.Concat(n.Describe(), s.Says(), s.Warnings()), nil
	}
}
