package hpccfiles

import (
	"strings"
	"testing"
)

// A value that a mode refuses is named, not the line that chooses the mode; and what is wrong with the network is
// wrong in the file of the network, whatever flows there are.
func TestWhatIsWrongIsNamed(t *testing.T) {
	for _, c := range []struct{ settings, want string }{
		{"CC_MODE 3\nU_TARGET 5\n", "config.txt:2: U_TARGET: "},
		{"U_TARGET 5\nCC_MODE 3\n", "config.txt:1: U_TARGET: "},
		{"CC_MODE 3\nRATE_AI 50Mb/s\nMI_THRESH 1.5\n", "config.txt:3: MI_THRESH: "},
		{"CC_MODE 1\nEWMA_GAIN 2\n", "config.txt:2: EWMA_GAIN: "},
	} {
		if _, err := prepare(t, c.settings, ""); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, not %s", c.settings, err, c.want)
		}
	}
	far := Files{FlowFile: "flow.txt"}
	far.Topology = mustTopology(t, strings.Replace(four, "2 3 10Gbps 1000ns", "2 3 10Gbps 1s", 1))
	var err error
	far.Flows, err = ReadFlows(far.FlowFile, []byte("2\n0 2 3 100 5000 0.001\n1 2 3 100 5000 0.001\n"), far.Topology)
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"", "pcn"} {
		_, err := Prepare(far, scheme)
		if err == nil || !strings.HasPrefix(err.Error(), "topology.txt: switch 3: the buffer is too small") {
			t.Errorf("a cable of a second: %v", err)
		}
	}
}
