package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a full queue of a flow does depends on what can wait behind the port of applications, unless the
// file says which it is to be.
func TestFullFlowQueues(t *testing.T) {
	for _, c := range []struct {
		application string
		hold        bool
	}{
		{"device: \"net_tap0,iface=app0\"", false},
		{"device: \"net_af_packet1,iface=veth0\"", false},
		{"device: \"net_memif0,role=server,socket=/run/memif.sock\"", true},
		{"device: \"net_vhost0,iface=/run/vhost.sock\"", true},
		{"device: \"net_tap0,iface=app0\", full: hold", true},
		{"device: \"net_af_packet1,iface=veth0\", full: hold", true},
		{"device: \"net_memif0,role=server,socket=/run/memif.sock\", full: drop", false},
		{"device: \"net_vhost0,iface=/run/vhost.sock\", full: drop", false},
	} {
		file := filepath.Join(t.TempDir(), "nic.yaml")
		text := "role: nic\nport: {device: \"net_af_packet0,iface=eth0\", rate: 10Gbps}\n" +
			"application: {" + c.application + "}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := ReadAgent(file)
		if err != nil {
			t.Fatal(err)
		}
		n, err := a.ResolveNIC(nil)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(n.Describe(), "\n")
		if n.Config.HoldFull != c.hold || strings.Contains(said, "holds the application's port") != c.hold {
			t.Errorf("%s: hold %v\n%s", c.application, n.Config.HoldFull, said)
		}
	}
}
