package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"photon/lab/experiment"
)

// How many experiments there are stands in two documents.
func TestDocumentsCountRight(t *testing.T) {
	all, err := experiment.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]string{
		"../../README.md":               {fmt.Sprintf("%d experiments of six papers", len(all))},
		"../../docs/getting-started.md": {fmt.Sprintf("There are %d more experiments", len(all)-1)},
	} {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(page), w) {
				t.Errorf("%s does not say %q", file, w)
			}
		}
	}
}

// Whoever is woken by an alert finds what to do about it.
func TestEveryAlertHasAdvice(t *testing.T) {
	rules, err := os.ReadFile("../../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	alerts := regexp.MustCompile(`- alert: (\w+)`).FindAllSubmatch(rules, -1)
	if len(alerts) == 0 {
		t.Fatal("there are no alerts")
	}
	for _, a := range alerts {
		if !strings.Contains(string(page), "| `"+string(a[1])+"` |") {
			t.Errorf("docs/operate.md does not say what to do about %s", a[1])
		}
	}
}
