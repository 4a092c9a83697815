// Package suggest finds the known name that a misspelt one was meant to be. Configuration files, commands and schemes
// share it.
package suggest

import (
	"strings"

	"github.com/agext/levenshtein"
)

// Closest returns which of names is most like word, or nothing if none is: one letter
// may be wrong, missing or too many, or two neighbours swapped; two letters in words
// of more than five. Upper and lower case are the same. A name that is word itself
// is not like it.
func Closest(word string, names []string) (best string) {
	least := 2
	if len(word) > 5 {
		least = 3
	}
	for _, name := range names {
		if name == word {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// Or is what an error says of a name that does not exist: the one that was meant,
// or else where or what the names are.
func Or(word string, names []string, otherwise string) string {
	if best := Closest(word, names); best != "" {
		return "is \"" + best + "\" meant?"
	}
	return otherwise
}

// distance is how many letters differ; two neighbours that are swapped count as one.
func distance(a, b string) int {
	d := levenshtein.Distance(a, b, nil)
	if d != 2 || len(a) != len(b) {
		return d
	}
	for i := 1; i < len(a); i++ {
		if a[:i-1]+a[i:i+1]+a[i-1:i]+a[i+1:] == b {
			return 1
		}
	}
	return d
}
