package config

import (
	"os"
	"path/filepath"
	"testing"
)

// The page is off unless it is asked for, on loopback unless it is told plainly.
func TestLive(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ lines, address, err string }{
		{"", "", ""},
		{"live: {listen: off}\n", "", ""},
		{"live: {listen: 127.0.0.1:9471}\n", "127.0.0.1:9471", ""},
		{"live: {listen: \"[::1]:9471\"}\n", "[::1]:9471", ""},
		{"live: {listen: 10.0.0.5:9471, remote: true}\n", "10.0.0.5:9471", ""},
		{"live: {listen: 10.0.0.5:9471}\n", "", "3: live: 10.0.0.5:9471 is not a loopback address: whoever reaches it could look (`remote: true` beside it allows that)"},
		{"live: {listen: 9471}\n", "", "3: live: \"9471\" is not an address (write it like 127.0.0.1:9470; port 0 takes any that is free)"},
		{"live: {remote: true}\n", "", "3: live: remote says who may look, and nothing listens (listen: 127.0.0.1:9471)"},
		{"live: {admin: true}\n", "", "3: unknown key \"admin\": it belongs at the top level"},
	} {
		for name, text := range map[string]string{"switch.yaml": "name: n\nports: [{device: net_null0}, {device: net_null1}]\n", "agent.yaml": "ip: 10.0.0.1\nport: {device: net_null0}\n"} {
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, []byte(text+c.lines), 0o644); err != nil {
				t.Fatal(err)
			}
			address, err := "", error(nil)
			if name == "switch.yaml" {
				var s *Switch
				if s, err = ReadSwitch(file); err == nil {
					address = s.Live.Address()
				}
			} else {
				var a *Agent
				if a, err = ReadAgent(file); err == nil {
					address = a.Live.Address()
				}
			}
			if c.err != "" && (err == nil || err.Error() != file+":"+c.err) || c.err == "" && (err != nil || address != c.address) {
				t.Errorf("%s with %q: address %q, %v", name, c.lines, address, err)
			}
		}
	}
}
