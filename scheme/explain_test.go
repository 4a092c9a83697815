package scheme

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"photon/units"
)

// docs/schemes.md is what the recipes say.
func TestDocumentIsUpToDate(t *testing.T) {
	var want bytes.Buffer
	if err := Markdown(&want); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../docs/schemes.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/schemes.md is old: photon explain --markdown > docs/schemes.md")
	}
}

// An explanation has every parameter with its value in the network at hand, and
// all that is open.
func TestExplain(t *testing.T) {
	n := Network{Line: 40 * units.Gbps, RTT: 30 * units.Microsecond}
	for _, name := range Names() {
		s, _ := Get(name)
		var b bytes.Buffer
		if err := s.Explain(&b, n); err != nil {
			t.Fatal(err)
		}
		for _, p := range s.Params {
			for _, want := range []string{"  " + p.Name + " = ", p.Doc, p.Source, p.Open} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s lacks %q", name, want)
				}
			}
			if rule := strings.Contains(b.String(), "default: "+p.Default+"\n"); rule != (p.Rule != nil) {
				t.Errorf("%s says where the default of %s comes from in words: %v", name, p.Name, rule)
			}
		}
	}
	var b bytes.Buffer
	s, _ := Get("pacc")
	if err := s.Explain(&b, n); err != nil || !strings.Contains(b.String(), "qth = 200KB") || !strings.Contains(b.String(), "on 40Gbps with a base RTT of 30us") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
