package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"photon/agent"
	"photon/config"
	"photon/fabric"
	"photon/telemetry/node"
	"photon/units"
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
		file := filepath.Join(t.TempDir(), "agent.yaml")
		text := "ip: 10.9.0.1\nport: {device: \"net_null0\", rate: 10Gbps}\nscheme: {name: dcqcn}\n" +
			"payload: " + c.payload + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		conf, err := config.ReadAgent(file)
		if err != nil {
			t.Fatal(err)
		}
		n, err := conf.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		env := fabric.NewEnv(fabric.NewHeaderPool(), 1)
		h, err := agent.New(n.Config, env)
		if err != nil {
			t.Fatal(err)
		}
		d := &daemon{host: h, world: &still{now: units.Second, env: env}}
		err = (&testbedNode{d: d, host: h, node: n}).SetScheme(node.Scheme{Name: c.scheme})
		refused := err != nil && strings.Contains(fmt.Sprint(err), "payload") && n.Scheme.Name == "dcqcn"
		if (err == nil) != c.fits || refused == c.fits {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
