package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"photon/lab"
)

// How many experiments there are stands in two documents.
func TestDocumentsCountRight(t *testing.T) {
	all, err := lab.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]string{
		"../../README.md":               {fmt.Sprintf("%d experiments of five papers", len(all))},
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
