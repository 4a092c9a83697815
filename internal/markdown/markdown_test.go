package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Every line is as full as it may be, and no word is lost or broken.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.StringMatching(`[a-zµ|-]{1,130}`)).Draw(t, "words"), " ")
		wrapped := Wrap(text)
		if strings.ReplaceAll(wrapped, "\n", " ") != text {
			t.Fatalf("%q became %q", text, wrapped)
		}
		lines := strings.Split(wrapped, "\n")
		for i, l := range lines {
			if n := utf8.RuneCountInString(l); n > 110 && strings.Contains(l, " ") {
				t.Errorf("%d columns: %q", n, l)
			}
			if i > 0 {
				word, _, _ := strings.Cut(l, " ")
				if utf8.RuneCountInString(lines[i-1])+1+utf8.RuneCountInString(word) <= 110 {
					t.Errorf("%q has room on the line before", word)
				}
			}
		}
	})
}

func TestCell(t *testing.T) {
	if got := Cell("a |b|\n  c"); got != `a \|b\| c` {
		t.Errorf("%q", got)
	}
}
