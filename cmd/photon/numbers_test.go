package main

import (
	"bytes"
	"strings"
	"testing"
)

// A flag whose value is no number, or none that it can have, is one line that says what belongs there. A seed of 0
// would be taken for that of the experiment.
func TestNumbersOfFlags(t *testing.T) {
	const others = "run --topology ../../lab/hpccfiles/testdata/single25/topology.txt " +
		"--flows ../../lab/hpccfiles/testdata/single25/flow.txt"
	for _, c := range []struct{ command, want string }{
		{"replay pcn/fig11 --seed -1", `invalid argument "-1" for "--seed" flag: a whole number from 0 belongs here`},
		{"replay pcn/fig11 --seed 99999999999999999999",
			`invalid argument "99999999999999999999" for "--seed" flag: that is too much`},
		{"replay pcn/fig11 --cores two", `invalid argument "two" for "--cores" flag: a whole number belongs here`},
		{"replay pcn/fig11 --quick=maybe", `invalid argument "maybe" for "--quick" flag: true or false belongs here`},
		{"replay pcn/fig11 --seed 0", "--seed 0: from 1"},
		{others + " --seed 0", "--seed 0: from 1"},
		{"replay pcn/fig11 --repeat 0", "--repeat 0: from 1 to 10000"},
		{"replay pcn/fig11 --repeat 10001", "--repeat 10001: from 1 to 10000"},
		{others + " --repeat 2", "--repeat does not go with --topology and --flows"},
	} {
		root := newRoot()
		root.SetArgs(strings.Fields(c.command))
		of, err := root.ExecuteC()
		var said bytes.Buffer
		if err != nil {
			complain(&said, of, err)
		}
		if said.String() != "photon: "+c.want+"\n" {
			t.Errorf("photon %s:\n  got  %q\n  want %s", c.command, said.String(), c.want)
		}
	}
}
