package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Mistakes on the command line have exit code 2, wherever they are found.
func TestMistakesAreBadInput(t *testing.T) {
	for _, line := range []string{
		"help foo", "help replay foo", "completion tcsh", "completion", "completion bash extra", "version now",
		"flow list 3",
		"sweep collct a.yaml", "list experiments schemes", "run -z",
		"list metrics --json --markdown", "explain pcn hpcc",
		"show ports --socket mistakes_test.go", "show ports --name a --socket b", "capture sw0 -w x -s 0",
		"switch mistakes_test.go",
	} {
		if got := run(strings.Fields(line)); got != exitBadInput {
			t.Errorf("photon %s: exit code %d, want %d", line, got, exitBadInput)
		}
	}
}

// What `photon report` cannot do is found before the page is written over.
func TestReportBadInputWritesNothing(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	if got := run([]string{"replay", "pcn/fig11", "--quick", "--schemes", "none", "--out", out}); got != 0 {
		t.Fatal("replay:", got)
	}
	page := filepath.Join(out, "report.html")
	const before = "the page of yesterday"
	if err := os.WriteFile(page, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	words := filepath.Join(dir, "words")
	if err := os.WriteFile(words, []byte("no JSON"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{
		{"--against", filepath.Join(dir, "nowhere")}, {"--against", dir},
		{"--compare", filepath.Join(dir, "nowhere")}, {"--compare", words},
		{"--update"}, {"--keep"}, {"--allow-unexplained"}, {"--out", dir},
		{"--out", filepath.Join(dir, "nowhere", "x.html")},
		{"--out", filepath.Join(words, "x.html")}, {"--out", "-"}, {"--reproduction", words}, {"--out", ""},
	} {
		if got := run(append([]string{"report", out}, flags...)); got != exitBadInput {
			t.Errorf("photon report %v: exit code %d, want %d", flags, got, exitBadInput)
		}
		if now, err := os.ReadFile(page); err != nil || string(now) != before {
			t.Errorf("photon report %v: the page was written (%v)", flags, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a folder was made")
	}
}
