package daemon

import (
	"fmt"
	"strings"
	"testing"

	"photon/telemetry/node"
)

// A running agent does not take a scheme whose packets its port cannot send: each would be dropped, and flows would
// fail as if their receivers did not answer.
func TestSchemesThatMakePacketsTooLong(t *testing.T) {
	for _, c := range []struct {
		payload string
		scheme  string
		fits    bool
	}{
		{"1414B", "hpcc", true}, {"1415B", "hpcc", false}, {"1415B", "powertcp", false}, {"4096B", "hpcc", false},
		{"4096B", "timely", true}, {"4096B", "qcn", true}, {"4096B", "none", true},
	} {
		d, n := agentOf(t, "scheme: {name: dcqcn}\npayload: "+c.payload+"\n")
		err := (&testbedNode{d: d, host: d.host, node: n}).SetScheme(node.Scheme{Name: c.scheme})
		refused := err != nil && strings.Contains(fmt.Sprint(err), "payload") && n.Scheme.Name == "dcqcn"
		if (err == nil) != c.fits || refused == c.fits {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
