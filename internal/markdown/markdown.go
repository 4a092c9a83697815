// Package markdown is what documents that photon writes itself have in common: docs/schemes.md and docs/reproduction.md.
package markdown

import (
	"strings"
	"unicode/utf8"
)

// columns is how long a line of a document may be.
const columns = 110

// Wrap breaks text into lines, at spaces only: what is broken at a hyphen is read as two words.
func Wrap(text string) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		length := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+length > columns:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += length
	}
	return b.String()
}

// Cell is text in one line that does not end a table's cell.
func Cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
