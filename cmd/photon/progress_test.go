package main

import (
	"bufio"
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	labrun "photon/lab/run"
)

// What is left is told by what was done here: runs that had ended before took no
// time. Parts count by their work.
func TestProgressTellsWhatIsLeft(t *testing.T) {
	var said bytes.Buffer
	p := newProgress(&said, logFlags{}, 3, 1)
	p.begin = time.Now().Add(-time.Hour)
	p.moved(1, "b", labrun.Progress{Done: 1, Ended: 1, Runs: 1, Resumed: true, Last: true})
	if part, left := p.status(); part != 0.25 || left != 0 || said.Len() > 0 {
		t.Errorf("before anything was done: %v of all, %v left, %q", part, left, said.String())
	}
	p.moved(0, "a", labrun.Progress{Done: 1. / 3, Ended: 1, Runs: 3, Last: true})
	part, left := p.status()
	if part != 0.5 || left < 2*time.Hour || left > 4*time.Hour { // a quarter of all took an hour, half is left
		t.Errorf("%v of all, %v left", part, left)
	}
	if !regexp.MustCompile(`^a has ended, 1 of 3; 50 % of all, about [23]h\S+ left\n$`).MatchString(said.String()) {
		t.Errorf("%q", said.String())
	}
	p.moved(0, "a", labrun.Progress{Done: 1, Ended: 3, Runs: 3, Last: true})
	if part, left := p.status(); part != 1 || left != 0 {
		t.Errorf("at the end: %v of all, %v left", part, left)
	}
}

// On a terminal a bar fills one line, however long a run's name is, and nothing stays of it.
func TestProgressOnATerminal(t *testing.T) {
	screen, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	defer terminal.Close()
	const columns = 60
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 5, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	seen := vt10x.New(vt10x.WithSize(columns, 5))
	from := bufio.NewReader(screen)
	// Everything that was printed ends with a mark: what comes before it has been read then.
	lines := func() []string {
		if _, err := terminal.WriteString("\x00"); err != nil {
			t.Fatal(err)
		}
		b, err := from.ReadBytes(0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := seen.Write(b[:len(b)-1]); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimRight(seen.String(), " \n"), "\n")
	}
	p := newProgress(terminal, logFlags{}, 1)
	p.begin = time.Now().Add(-time.Hour)
	p.moved(0, "pcn", labrun.Progress{Done: 0.5, Ended: 1, Runs: 2})
	if got := lines(); len(got) != 1 || !regexp.MustCompile(`^█+░+  50% pcn 1/2, about 1h`).MatchString(got[0]) {
		t.Errorf("%q", got)
	}
	p.drawn = p.drawn.Add(-drawEvery)
	p.moved(0, strings.Repeat("a long name ", 20), labrun.Progress{Done: 0.75, Ended: 1, Runs: 2})
	if got := lines(); len(got) != 1 || !strings.Contains(got[0], " 75% a long name") {
		t.Errorf("a long name: %q", got)
	}
	if err := p.aside(func() error { _, err := terminal.WriteString("a report\r\n"); return err }); err != nil {
		t.Fatal(err)
	}
	p.moved(0, "pcn", labrun.Progress{Done: 1, Ended: 2, Runs: 2, Last: true})
	if got := lines(); len(got) != 2 || strings.TrimRight(got[0], " ") != "a report" || !strings.Contains(got[1], "100% pcn 2/2") {
		t.Errorf("after a report: %q", got)
	}
	p.end()
	if got := lines(); len(got) != 1 || strings.TrimRight(got[0], " ") != "a report" {
		t.Errorf("at the end: %q", got)
	}
}

// A narrow terminal shows how far it is, too, and what runs.
func TestProgressOnANarrowTerminal(t *testing.T) {
	screen, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	defer terminal.Close()
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 5, Cols: 30}); err != nil {
		t.Fatal(err)
	}
	p := newProgress(terminal, logFlags{}, 1)
	p.moved(0, "mine", labrun.Progress{Done: 0.42, Ended: 1, Runs: 3})
	if _, err := terminal.WriteString("\x00"); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(screen).ReadString(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"42%", "mine 1/3"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q lacks %q", said, want)
		}
	}
}
