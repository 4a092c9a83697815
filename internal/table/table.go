// Package table prints what commands and benchmarks have to say in columns: words begin where their column begins, figures
// end where it ends. text/tabwriter finds out how wide the columns are.
package table

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

// Table has some columns of words, and after them columns of figures.
type Table struct {
	words int
	rows  [][]string
}

// New is a table whose first columns, so many, are words. Without a head it has none.
func New(words int, head ...string) *Table {
	t := &Table{words: words}
	if len(head) > 0 {
		t.rows = append(t.rows, head)
	}
	return t
}

// Underline has a line under each title.
func (t *Table) Underline() *Table {
	line := make([]string, len(t.rows[0]))
	for i, title := range t.rows[0] {
		line[i] = strings.Repeat("-", len([]rune(title)))
	}
	t.rows = append(t.rows, line)
	return t
}

// Row adds cells, as fmt.Sprint has them. The columns that a shorter row lacks end there: those of later rows may have other
// widths.
func (t *Table) Row(cells ...any) {
	r := make([]string, len(cells))
	for i, c := range cells {
		r[i] = visible(fmt.Sprint(c))
	}
	t.rows = append(t.rows, r)
}

// visible is a cell whose control characters are written out: a name that somebody chose neither breaks the table nor
// tells the terminal anything. A line break before a row is meant.
func visible(cell string) string {
	text, broken := strings.CutPrefix(cell, "\n")
	if !strings.ContainsFunc(text, unicode.IsControl) {
		return cell
	}
	var b strings.Builder
	if broken {
		b.WriteByte('\n')
	}
	for _, c := range text {
		if unicode.IsControl(c) {
			quoted := strconv.QuoteRune(c)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// gap is what stands between columns, at least.
const gap = 2

// Print writes the table. A tabwriter aligns all its columns alike, so figures have one of their own, and what it makes of
// a row's figures is the last word of that row.
func (t *Table) Print(w io.Writer) error {
	var figures, all bytes.Buffer
	right := tabwriter.NewWriter(&figures, 0, 0, gap, ' ', tabwriter.AlignRight)
	for _, r := range t.rows {
		if rest := r[min(t.words, len(r)):]; len(rest) > 0 {
			fmt.Fprint(right, strings.Join(rest, "\t"), "\t")
		}
		fmt.Fprintln(right)
	}
	left := tabwriter.NewWriter(&all, 0, 0, gap, ' ', 0)
	if err := right.Flush(); err != nil {
		return err
	}
	for _, r := range t.rows {
		line, err := figures.ReadString('\n')
		if err != nil {
			return err
		}
		words := append([]string{}, r[:min(t.words, len(r))]...)
		if line = strings.TrimSuffix(strings.TrimPrefix(line, strings.Repeat(" ", gap)), "\n"); line != "" {
			words = append(words, line)
		}
		fmt.Fprintln(left, strings.Join(words, "\t"))
	}
	if err := left.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(all.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}
