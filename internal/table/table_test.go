package table

import (
	"strings"
	"testing"
)

func TestPrint(t *testing.T) {
	for name, c := range map[string]struct {
		table *Table
		want  string
	}{
		"words and figures": {New(2, "case", "ack", "Mhops/s", "±"), "case   ack   Mhops/s   ±\na      flow       12  3%\nlonge  –           1\nb\n"},
		"words only":        {New(3, "a", "b", "c"), "a      b     c\na      flow  12  3%\nlonge  –     1\nb\n"},
		"figures only":      {New(0, "No.", "Port").Underline(), "  No.  Port\n  ---  ----\n    a  flow  12  3%\nlonge     –   1\n    b\n"},
		"no head":           {New(1), "a      flow  12  3%\nlonge     –   1\nb\n"},
	} {
		c.table.Row("a", "flow", 12, "3%")
		c.table.Row("longe", "–", 1)
		c.table.Row("b")
		var got strings.Builder
		if err := c.table.Print(&got); err != nil || got.String() != c.want {
			t.Errorf("%s: %v\n%swant\n%s", name, err, got.String(), c.want)
		}
	}
}

func TestNothing(t *testing.T) {
	var got strings.Builder
	if err := New(2).Print(&got); err != nil || got.Len() > 0 {
		t.Errorf("%v, %q", err, got.String())
	}
}

// A name with control characters stays in its cell, and tells a terminal nothing.
func TestControlCharactersAreWrittenOut(t *testing.T) {
	var b strings.Builder
	tab := New(1, "Name", "Size")
	tab.Row("a\nb", 1)
	tab.Row("c\td", 22)
	tab.Row("\x1b[2Je", 333)
	if err := tab.Print(&b); err != nil {
		t.Fatal(err)
	}
	const want = "Name      Size\na\\nb         1\nc\\td        22\n\\x1b[2Je   333\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
