package testbed

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is wrong with a testbed is said in one line with the file's name.
func TestBadTestbeds(t *testing.T) {
	for text, want := range map[string]string{
		"nodes: {}":                              "needs nodes",
		"nodes: {S0: }":                          "node S0 says nothing",
		"nodes: {S0: {netns: x}}":                "neither devices",
		"nodes: {S0: {ssh: a, port: b}}":         "runs already",
		"nodes: {S0: {ssh: -oProxyCommand=x}}":   "not the name of a machine",
		"nodes: {S0: {command: [cat], name: a}}": "command stands instead",
		"nodes: {S0: {colour: blue}}":            "unknown key",
		"nodes: {S0: {ssh: a, delay: true}}":     "runs already",
		"response: fast\nnodes: {S0: {name: a}}": "bed.yaml:1",
	} {
		file := filepath.Join(t.TempDir(), "bed.yaml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "bed.yaml") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Other machines are reached as the user reaches them.
func TestCommands(t *testing.T) {
	read := func(text string) *Testbed {
		file := filepath.Join(t.TempDir(), "bed.yaml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := read("nodes: {A: {ssh: a, name: x}, B: {ssh: b, socket: /s}, C: {socket: /s}, D: {command: [sudo, me]}}")
	for name, want := range map[string]string{
		"A": "ssh -o BatchMode=yes a photon admin-proxy --name x", "B": "ssh -o BatchMode=yes b photon admin-proxy --socket /s", "C": "", "D": "sudo me",
	} {
		if got := strings.Join(b.command(b.Nodes[name]), " "); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	b = read("ssh: [ssh, -F, cfg]\nphoton: /opt/photon\nnodes: {A: {ssh: a, name: x}}")
	if got := b.command(b.Nodes["A"]); !slices.Equal(got, []string{"ssh", "-F", "cfg", "a", "/opt/photon", "admin-proxy", "--name", "x"}) {
		t.Error(got)
	}
	if err := b.Covers([]string{"A", "B"}); err == nil || !strings.Contains(err.Error(), "nodes B are nowhere") {
		t.Error(err)
	}
}
