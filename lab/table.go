package lab

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Table prints the claims beside what the worlds measured, for a terminal.
func Table(w io.Writer, results []*Result) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	head := "claim\tpaper"
	for _, r := range results {
		head += "\t" + r.World
	}
	fmt.Fprintln(t, head+"\tverdict")
	for i, c := range results[0].Claims {
		row := c.ID + "\t" + number(c.Paper, c.Unit)
		var verdicts []string
		for _, r := range results {
			row += "\t" + number(r.Claims[i].Measured, c.Unit)
			if v := string(r.Claims[i].Verdict); !slices.Contains(verdicts, v) {
				verdicts = append(verdicts, v)
			}
		}
		fmt.Fprintln(t, row+"\t"+strings.Join(verdicts, " | "))
	}
	return t.Flush()
}
