package main

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"
)

// The test binary is photon itself if it is told so: the tests that need a
// process of their own, in a network namespace, start it this way.
const beMain = "PHOTON_TEST_BE_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(beMain) != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"photon": main})
}

// The command line as scripts: what is printed, and what bad input gets.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata"})
}

// A warning about the HPCC simulator's files is only with --strict an error.
func TestStrictExitCode(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "config.txt")
	if err := os.WriteFile(odd, []byte("WARP_SPEED 9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const files = "../../lab/hpccfiles/testdata/single25/"
	args := []string{"run", "--topology", files + "topology.txt", "--flows", files + "flow.txt", "--config", odd, "--out", t.TempDir()}
	if got := run(args); got != 0 {
		t.Errorf("exit code %d, want 0", got)
	}
	if got := run(append(args, "--strict")); got != exitBadInput {
		t.Errorf("--strict: exit code %d, want %d", got, exitBadInput)
	}
}

// Every flag of `photon run` does something for the files of others, or is refused with them.
func TestFlagsWithFilesOfOthers(t *testing.T) {
	const files = "../../lab/hpccfiles/testdata/single25/"
	effective := append([]string{"cores", "help", "log-format", "out", "seed", "verbose", "world"}, hpccOnly...)
	runCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(effective, f.Name) || strings.HasPrefix(f.Name, "capture") {
			return
		}
		value := map[string]string{"serve-for": "1s", "testbed": "nowhere.yaml", "bool": "true"}
		args := []string{"run", "--topology", files + "topology.txt", "--flows", files + "flow.txt",
			"--out", t.TempDir(), "--" + f.Name + "=" + cmp.Or(value[f.Name], value[f.Value.Type()], "1")}
		root := newRoot()
		root.SetArgs(args)
		_, err := root.ExecuteContextC(t.Context())
		want := "--" + f.Name + " does not go with --topology and --flows"
		if err == nil || !errors.As(err, &badInput{}) || err.Error() != want {
			t.Errorf("--%s: %v", f.Name, err)
		}
	})
}

// Bad input is told from failure by the exit code, and good input by zero.
func TestExitCodes(t *testing.T) {
	for want, commands := range map[int][][]string{
		0: {{"version"}, {"list"}, {"check", "../../deploy/switch.yaml", "../../deploy/agent-h0.yaml", "../../lab/experiments/pcn/fig11.yaml"}},
		exitBadInput: {{"fly"}, {"replay"}, {"replay", "pcn/fig99"}, {"replay", "--fast"}, {"switch"}, {"switch", "-c", "nowhere"}, {"check", "main_test.go"}, {"list", "planets"},
			{"replay", "pcn/fig11", "--capture", "x.pcapng", "--capture-ports", "S9"},
			{"sweep", "collect", "../../docs/examples/incast-sweep.yaml", "--out", "nowhere"},
			{"check", "--schema", "sweep"},
			{"show", "ports", "--socket", "nowhere.sock"}, {"show", "ports", "--name", "nowhere"},
			{"top", "--socket", "nowhere.sock"}, {"reload", "--socket", "nowhere.sock"}},
	} {
		for _, args := range commands {
			if got := run(args); got != want {
				t.Errorf("photon %v: exit code %d, want %d", args, got, want)
			}
		}
	}
}
