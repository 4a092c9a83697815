package testbed

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"photon/lab/nodecontrol"
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
		"nodes: {S0: {name: \"\"}}":              "bed.yaml:1: node S0: name: a value belongs here",
		"nodes: {S0: {socket: \"\"}}":            "bed.yaml:1: node S0: socket: a value belongs here",
		"nodes: {S0: {port: \"\"}}":              "bed.yaml:1: node S0: port: a value belongs here",
		"nodes:\n  S0: {links: {H0: \"\"}}":      "bed.yaml:2: node S0: links: H0: a device belongs here",
		"response: -1us\nnodes: {S0: {name: a}}": "bed.yaml:1: response -1us: ",
		"response: 2s\nnodes: {S0: {name: a}}":   "bed.yaml:1: response 2s: ",
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
	err := b.Covers([]nodecontrol.Spec{{Name: "A"}, {Name: "B"}})
	if err == nil || !strings.Contains(err.Error(), "nodes B are nowhere") {
		t.Error(err)
	}
}

// Devices and links of nodes that are not what the experiment's nodes are, or lead elsewhere, are mistakes before
// anything starts: otherwise they would be ignored, or found when other nodes run already.
func TestNodesThatDoNotFit(t *testing.T) {
	nodes := []nodecontrol.Spec{
		{Name: "H0", Neighbour: []string{"S0"}}, {Name: "S0", Switch: true, Neighbour: []string{"H0", "H1"}},
	}
	const host = "node H0: it is a host, which has a `port:`, and no `links:`"
	const sw = "node S0: it is a switch, which has `links:`, and no `port:`"
	const missing = "bed.yaml: node S0: links: that to "
	const away = "node S0: links: it has none to H2 in the experiment (H0, H1)"
	for text, want := range map[string]string{
		"H0: {port: a}\n  S0: {links: {H0: a, H1: b}}":                  "",
		"H0: {name: a}\n  S0: {name: a}":                                "",
		"H0: {name: a}\n  S0: {name: a, links: {H0: a, H1: b}}":         "",
		"H0: {links: {S0: a}}\n  S0: {name: a}":                         "bed.yaml: " + host,
		"H0: {netns: a, port: a, links: {S0: a}}\n  S0: {name: a}":      "bed.yaml: " + host,
		"H0: {port: a}\n  S0: {port: a, links: {H0: a, H1: b}}":         "bed.yaml: " + sw,
		"H0: {port: a}\n  S0: {port: a}":                                "bed.yaml: " + sw,
		"H0: {port: a}\n  S0:\n    links: {H0: a, H1: b,\n      H2: c}": "bed.yaml:5: " + away,
		"H0: {port: a}\n  S0: {name: a, links: {H0: a, H1: b, H2: c}}":  "bed.yaml:3: " + away,
		"H0: {port: a}\n  S0: {links: {H0: a}}":                         missing + "H1 is missing",
		"H0: {port: a}\n  S0: {socket: /a, links: {H1: a}}":             missing + "H0 is missing",
	} {
		b, err := Parse("bed.yaml", []byte("nodes:\n  "+text))
		if err == nil {
			err = b.Covers(nodes)
		}
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
