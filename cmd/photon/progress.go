package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"charm.land/bubbles/v2/progress"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	labrun "photon/lab/run"
)

// progressLine shows how far several replays, or a sweep, are together, and how long
// they will still take: a bar on a terminal, now and then a line elsewhere.
type progressLine struct {
	mu          sync.Mutex
	w           io.Writer
	log         logFlags
	terminal    *os.File // nil: w is none
	bar         progress.Model
	drawn       time.Time // when the bar was drawn last
	begin       time.Time
	line        time.Time // of the last line
	work        []float64 // of each part, in any unit
	done        []float64 // of each part, of 1
	resumed     int       // runs that had ended before
	resumedPart float64   // part of the work that they were
}

const (
	lineEvery = 5 * time.Second        // where there is no bar
	drawEvery = 100 * time.Millisecond // the bar
	barWidth  = 36                     // with its percentage, where there is room
)

func newProgress(w io.Writer, log logFlags, work ...float64) *progressLine {
	p := &progressLine{w: w, log: log, begin: time.Now(), work: work, done: make([]float64, len(work))}
	if f, ok := w.(*os.File); ok && log.format != "json" && term.IsTerminal(int(f.Fd())) {
		p.terminal = f
		p.bar = progress.New(progress.WithWidth(barWidth), progress.WithColors(lipgloss.Green),
			progress.WithFillCharacters(progress.DefaultFullCharFullBlock, progress.DefaultEmptyCharBlock))
	}
	return p
}

// moved notes how far a part is; what names the run that moved.
func (p *progressLine) moved(part int, what string, s labrun.Progress) {
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
	about, left := p.left(), ""
	if about > 0 {
		left = fmt.Sprintf(", about %v left", about.Round(time.Second))
	}
	if p.terminal != nil && !(p.log.verbose && s.Last) {
		p.fit()
		p.draw(fmt.Sprintf("%s %s %d/%d%s", p.bar.ViewAs(all), what, s.Ended, s.Runs, left))
		return
	}
	if !s.Last || !p.log.verbose && time.Since(p.line) < lineEvery {
		return
	}
	p.line = time.Now()
	if p.log.format == "json" {
		logLine{"INFO", p.line, "a run has ended", &runEnded{what, s.Ended, s.Runs, all, about.Seconds()}}.write(p.w)
		return
	}
	p.clear()
	fmt.Fprintf(p.w, "%s has ended, %d of %d; %.0f %% of all%s\n", what, s.Ended, s.Runs, all*100, left)
}

// fit leaves half of a narrow terminal to what is beside the bar.
func (p *progressLine) fit() {
	if width, _, err := term.GetSize(int(p.terminal.Fd())); err == nil && width > 0 {
		p.bar.SetWidth(min(barWidth, max(width/2, 10)))
	}
}

// draw writes a line over the one before. It is cut at the terminal's edge, because a line that wraps cannot be
// cleared as one; and a line that cannot be drawn is no reason to stop.
func (p *progressLine) draw(line string) {
	if time.Since(p.drawn) < drawEvery {
		return
	}
	p.drawn = time.Now()
	if width, _, err := term.GetSize(int(p.terminal.Fd())); err == nil && width > 0 {
		line = ansi.Truncate(line, width-1, "")
	}
	_, _ = lipgloss.Fprint(p.w, "\r"+line+ansi.EraseLineRight)
}

// clear removes the line that was drawn.
func (p *progressLine) clear() {
	if !p.drawn.IsZero() {
		fmt.Fprint(p.w, "\r"+ansi.EraseLineRight)
		p.drawn = time.Time{}
	}
}

// left is the time still needed; 0: unknown.
func (p *progressLine) left() time.Duration {
	all := p.all()
	if fresh := all - p.resumedPart; fresh > 0.01 && all < 1 {
		return time.Duration(float64(time.Since(p.begin)) * (1 - all) / fresh)
	}
	return 0
}

// status is the part of all work that is done, and the time left.
func (p *progressLine) status() (part float64, left time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all(), p.left()
}

// all is the part of all work that is done.
func (p *progressLine) all() float64 {
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
func (p *progressLine) aside(print func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	return print()
}

func (p *progressLine) end() {
	p.clear()
	if p.resumed > 0 {
		fmt.Fprintf(p.w, "%d runs had ended before and were not run again\n", p.resumed)
	}
}
