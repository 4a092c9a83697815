package top

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Options say what a view shows.
type Options struct {
	Order   string // one of Orders; empty: the first
	Reverse bool
	All     bool // priorities that nothing ever used, too
}

// find returns the order by its name.
func (o *Options) find() (at int, err error) {
	for i := range sortings {
		if o.Order == sortings[i].title || o.Order == "" {
			return i, nil
		}
	}
	return 0, fmt.Errorf("sort by %q: there are %v", o.Order, SortNames())
}

// Check says what is wrong with the options.
func (o *Options) Check() error {
	_, err := o.find()
	return err
}

// Print writes a view once, for scripts and pipes.
func (v *View) Print(w io.Writer, o Options) error {
	at, err := o.find()
	if err != nil {
		return err
	}
	v.sort(&sortings[at], o.Reverse)
	l := &layout{width: minWidth, paint: unpainted}
	lines := append([]string{l.status(v), l.totals(v), "", l.rowsHead()}, l.rowsAndFlows(v, o.All)...)
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// JSON writes a view once, for programs.
func (v *View) JSON(w io.Writer, o Options) error {
	at, err := o.find()
	if err != nil {
		return err
	}
	v.sort(&sortings[at], o.Reverse)
	v.Rows = v.shown(o.All)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
