package show

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table prints as switches do: a head, a line under it, columns to the right.
type table struct {
	head []string
	rows [][]string
}

func newTable(head ...string) *table { return &table{head: head} }

func (t *table) row(cells ...any) {
	r := make([]string, len(cells))
	for i, c := range cells {
		r[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, r)
}

func (t *table) write(w io.Writer) {
	width := make([]int, len(t.head))
	for _, r := range append([][]string{t.head}, t.rows...) {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	line := make([]string, len(t.head))
	for i := range line {
		line[i] = strings.Repeat("-", width[i])
	}
	for _, r := range append([][]string{t.head, line}, t.rows...) {
		var b strings.Builder
		for i, c := range r {
			b.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)))
			b.WriteString(c)
			b.WriteString("  ")
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// classes is the head of a table with a column a priority.
func classes(first, prefix string) []string {
	head := []string{first}
	for p := range 8 {
		head = append(head, fmt.Sprintf("%s%d", prefix, p))
	}
	return head
}

// perClass is a row of such a table.
func perClass[T any](t *table, first string, values [8]T) {
	row := []any{first}
	for _, v := range values {
		row = append(row, v)
	}
	t.row(row...)
}
