package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What documents show of a run is what it prints: the first experiment of one's own, which whoever is new compares.
func TestDocumentsShowWhatRunPrints(t *testing.T) {
	text, err := os.ReadFile("../../docs/getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "# file: victim.yaml\n")
	file, after, _ := strings.Cut(after, "```")
	_, after, _ = strings.Cut(after, "```text\n")
	want, _, found := strings.Cut(after, "```")
	if !found || !strings.Contains(want, "victim_bps") {
		t.Fatal("there is no victim.yaml with what it prints")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "victim.yaml")
	if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	c := newRoot()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs([]string{"run", path, "--out", filepath.Join(dir, "out")})
	if err := c.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("%v\n%s\nand docs/getting-started.md has\n%s", err, out.String(), want)
	}
}
