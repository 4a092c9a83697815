package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The test binary is photon itself if it is told so: the tests that need a
// process of their own, in a network namespace, start it this way.
const beMain = "PHOTON_TEST_BE_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(beMain) != "" {
		os.Exit(run(os.Args[1:]))
	}
	testscript.Main(m, map[string]func(){"photon": main})
}

// The command line as scripts: what is printed, and what bad input gets.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata"})
}
