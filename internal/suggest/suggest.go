// Package suggest finds the known name that a misspelt one was meant to be. Keys of files, flags and the names of schemes
// and experiments share it; cobra has suggestions for commands.
package suggest

import (
	"strings"

	edlib "github.com/hbollon/go-edlib"
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
		if d := edlib.OSADamerauLevenshteinDistance(strings.ToLower(word), strings.ToLower(name)); d < least {
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
