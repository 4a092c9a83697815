package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	labrun "photon/lab/run"
)

// progress shows how far several replays, or a sweep, are together, and how long
// they will still take: a bar on a terminal, now and then a line elsewhere.
type progress struct {
	mu          sync.Mutex
	w           io.Writer
	bar         *progressbar.ProgressBar // nil: no terminal
	begin       time.Time
	line        time.Time // of the last line
	work        []float64 // of each part, in any unit
	done        []float64 // of each part, of 1
	resumed     int       // runs that had ended before
	resumedPart float64   // part of the work that they were
}

// lineEvery is the time between two lines where there is no bar.
const lineEvery = 5 * time.Second

func newProgress(w io.Writer, work ...float64) *progress {
	p := &progress{w: w, begin: time.Now(), work: work, done: make([]float64, len(work))}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(1000, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	return p
}

// moved notes how far a part is; what names the run that moved.
func (p *progress) moved(part int, what string, s labrun.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.all()
	p.done[part] = s.Done
	all := p.all()
	if s.Resumed {
		p.resumed++
		p.resumedPart += all - before
		return
	}
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("%s %d/%d", what, s.Ended, s.Runs))
		_ = p.bar.Set(int(all * 1000)) // a bar that cannot be drawn is no reason to stop
		return
	}
	if !s.Last || time.Since(p.line) < lineEvery {
		return
	}
	p.line = time.Now()
	left := ""
	if about := p.left(); about > 0 {
		left = fmt.Sprintf(", about %v left", about.Round(time.Second))
	}
	fmt.Fprintf(p.w, "%s has ended, %d of %d; %.0f %% of all%s\n", what, s.Ended, s.Runs, all*100, left)
}

// left is the time still needed; 0: unknown.
func (p *progress) left() time.Duration {
	all := p.all()
	if fresh := all - p.resumedPart; fresh > 0.01 && all < 1 {
		return time.Duration(float64(time.Since(p.begin)) * (1 - all) / fresh)
	}
	return 0
}

// status is the part of all work that is done, and the time left.
func (p *progress) status() (part float64, left time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all(), p.left()
}

// all is the part of all work that is done.
func (p *progress) all() float64 {
	sum, all := 0.0, 0.0
	for i, w := range p.work {
		sum += w * p.done[i]
		all += w
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

// aside clears the bar while something else is printed.
func (p *progress) aside(print func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear() // see above
	}
	return print()
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear() // see above
	}
	if p.resumed > 0 {
		fmt.Fprintf(p.w, "%d runs had ended before and were not run again\n", p.resumed)
	}
}
