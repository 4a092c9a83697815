package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"photon/agent"
	"photon/config"
	"photon/fabric"
	"photon/telemetry/node"
	"photon/units"
	"photon/wire"
)

// agentFile is the file of an agent, with some lines more, in a folder.
func agentFile(t *testing.T, dir, lines string) *config.Agent {
	t.Helper()
	file := filepath.Join(dir, "agent.yaml")
	text := "ip: 10.9.0.1\nport: {device: net_null0, rate: 10Gbps}\n" + lines
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	conf, err := config.ReadAgent(file)
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

// agentOf is an agent with such a file, at rest.
func agentOf(t *testing.T, lines string) (*daemon, *config.AgentNode) {
	t.Helper()
	n, err := agentFile(t, t.TempDir(), lines).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	env := fabric.NewEnv(fabric.NewHeaderPool(), 1)
	h, err := agent.New(n.Config, env)
	if err != nil {
		t.Fatal(err)
	}
	return &daemon{host: h, world: &still{now: units.Second, env: env}}, n
}

// sending is the traffic of an agent whose flows wait for their start.
func sending(t *testing.T, flows int) *traffic {
	t.Helper()
	d, n := agentOf(t, "")
	h := d.host
	o := &traffic{d: d, ip: n.Config.IP, node: n, traffic: agent.NewTraffic(h, maxEndedListed)}
	d.traffic = o
	var peer wire.IP
	if err := peer.UnmarshalText([]byte("10.9.0.2")); err != nil {
		t.Fatal(err)
	}
	if flows == 0 {
		return o
	}
	var orders node.FlowOrders
	for range flows {
		orders.Flows = append(orders.Flows, node.FlowOrder{To: peer, Start: units.Second})
	}
	if done, err := o.Order(orders); err != nil || done.First != 1 || done.Count != flows {
		t.Fatal(done, err)
	}
	return o
}

// Whatever numbers are named, the flows that are there are stopped, and the answer is one line with both: how many
// were, and which are not there.
func TestStopOfUnknownFlows(t *testing.T) {
	for _, c := range []struct {
		ids     []uint64
		stopped int
		want    string
	}{
		{[]uint64{1, 2}, 2, ""},
		{[]uint64{77}, 0, "there is no flow 77 (photon flow list shows them)"},
		{[]uint64{1, 77, 2}, 2, "2 stopped, but there is no flow 77 (photon flow list shows them)"},
		{[]uint64{77, 1, 78, 79, 80}, 1,
			"1 stopped, but there is no flow 77, nor 3 others (photon flow list shows them)"},
	} {
		o := sending(t, 3)
		n, err := o.Stop(c.ids)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if n != c.stopped || said != c.want {
			t.Errorf("%v: %d, %s", c.ids, n, said)
		}
		if pending, _, _, _ := o.traffic.Counts(); pending != 3-c.stopped {
			t.Errorf("%v: %d flows are left", c.ids, pending)
		}
	}
	unknown := make([]uint64, 5000)
	for i := range unknown {
		unknown[i] = uint64(100 + i)
	}
	o := sending(t, 1)
	if _, err := o.Stop(append(unknown, 1)); err == nil || len(err.Error()) > 200 {
		t.Error(err)
	}
}
