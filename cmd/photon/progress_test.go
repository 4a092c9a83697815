package main

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	labrun "photon/lab/run"
)

// What is left is told by what was done here: runs that had ended before took no
// time. Parts count by their work.
func TestProgressTellsWhatIsLeft(t *testing.T) {
	var said bytes.Buffer
	p := newProgress(&said, 3, 1)
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
