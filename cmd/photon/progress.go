package main

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far a replay is: a bar on a terminal, a line for each
// scheme elsewhere.
type progress struct {
	w    io.Writer
	bar  *progressbar.ProgressBar // nil: no terminal
	last string
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(1000, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(true),
			progressbar.OptionOnCompletion(func() { fmt.Fprintln(w) }), progressbar.OptionThrottle(100_000_000))
	}
	return p
}

func (p *progress) show(what string, done float64) {
	if p.bar != nil {
		p.bar.Describe(what)
		_ = p.bar.Set(int(done * 1000)) // a bar that cannot be drawn is no reason to stop
		return
	}
	if what != p.last {
		p.last = what
		fmt.Fprintf(p.w, "%s ...\n", what)
	}
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
