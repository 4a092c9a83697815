package show

import (
	"fmt"

	"photon/internal/table"
)

// newTable prints as switches do: a head, a line under it, columns to the right.
func newTable(head ...string) *table.Table { return table.New(0, head...).Underline() }

// classes is the head of a table with a column a priority.
func classes(first, prefix string) []string {
	head := []string{first}
	for p := range 8 {
		head = append(head, fmt.Sprintf("%s%d", prefix, p))
	}
	return head
}

// perClass is a row of such a table.
func perClass[T any](t *table.Table, first string, values [8]T) {
	row := []any{first}
	for _, v := range values {
		row = append(row, v)
	}
	t.Row(row...)
}
