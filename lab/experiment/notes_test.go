package experiment

import (
	"regexp"
	"testing"
)

// Notes on claims have two sentences at most: what differs, and why. Longer stories are the experiment's.
func TestNotesAreShort(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	end := regexp.MustCompile("[.!?]\\s+[A-Z(`]")
	notes := 0
	for _, e := range all {
		for _, c := range e.Claims {
			if c.Note != "" {
				notes++
			}
			if n := len(end.FindAllString(c.Note, -1)); n > 1 {
				t.Errorf("%s, claim %s: %d sentences", e.ID, c.ID, n+1)
			}
		}
	}
	if notes < 50 {
		t.Errorf("only %d notes", notes)
	}
}
