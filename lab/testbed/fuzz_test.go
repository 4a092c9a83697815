package testbed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A testbed's file is refused with its name and in one line, or every node of it can be reached
// somehow or is to be started here.
func FuzzRead(f *testing.F) {
	good, err := os.ReadFile("../../deploy/testbed-82599/testbed.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("nodes: {H0: {port: net_af_packet0, netns: h0}, S0: {links: {H0: net_null0}}, H1: {command: [nc, x]}, H2: {socket: /a}}\n"))
	f.Add([]byte("nodes: {H0: ~}"))
	file := filepath.Join(f.TempDir(), "x.yaml")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		nodes, err := Read(file)
		if err != nil {
			if !strings.HasPrefix(err.Error(), file+":") || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		for name, n := range nodes.Nodes {
			if n.started() == (len(nodes.command(n)) > 0 || n.Name.IsSet() || n.Socket.IsSet()) {
				t.Fatalf("node %s is both here and there, or nowhere: %+v", name, n)
			}
		}
	})
}
