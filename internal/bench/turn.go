package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"photon/lab/stat"
)

// A contestant is a process that forwards frames while it is not stopped.
type contestant interface {
	pid() int
	// forwarded is how many frames were transmitted since it was started.
	forwarded() (uint64, error)
	// begin is called when the hosts are known, before frames come.
	begin() error
	// finish ends it; notes is what it says about what it saw.
	finish() (notes string, err error)
}

// starter is a contestant by its name.
type starter struct {
	name  string
	start func(c testCase, dir string, environment []string) (contestant, error)
	lacks func(*kind) string // why it cannot do a kind; nil: it can do all
	exact bool               // it does all that a kind is about, and frames are looked at when they leave
}

// starters are in the order of the table.
var starters = []starter{
	{"photon", startPhoton, nil, true},
	{"ovs", startOVS, func(k *kind) string { return k.notOVS }, true},
	{"macswap", startTestpmd("macswap"), nil, false},
	{"mac", startTestpmd("mac"), nil, false},
}

// outcome is what a contestant did in a case.
type outcome struct {
	rates []float64 // million frames per second, one per turn
	feed  []float64 // nanoseconds per frame that the feed took and the contestant did not
	notes string
}

// entrant is a contestant in a case.
type entrant struct {
	starter
	contestant // nil: it has not started, or has ended
	feed       *feed
	fed        uint64 // frames, when it began to count
	sent       uint64
	outcome    outcome
}

// measure runs one case.
func measure(c testCase, dir, library string, only []string, runs int, span time.Duration) (map[string]outcome, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	all := map[string]outcome{}
	var entrants []*entrant
	for _, s := range starters {
		switch {
		case !slices.Contains(only, s.name):
		case s.lacks != nil && s.lacks(c.kind) != "":
			all[s.name] = outcome{notes: "it cannot do this: " + s.lacks(c.kind)}
		default:
			e := &entrant{starter: s}
			defer e.close()
			entrants = append(entrants, e)
		}
	}
	err := together(entrants, func(e *entrant) error { return e.enter(c, filepath.Join(dir, e.name), library) })
	if err != nil {
		return nil, err
	}
	for range runs {
		for _, e := range entrants {
			if err := e.turn(c.threads(), span); err != nil {
				return nil, fmt.Errorf("%s: %w", e.name, err)
			}
		}
	}
	if err := together(entrants, func(e *entrant) error { return e.leave(c) }); err != nil {
		return nil, err
	}
	for _, e := range entrants {
		all[e.name] = e.outcome
	}
	return all, nil
}

// together does the same with all at once, for what is not measured.
func together(entrants []*entrant, do func(*entrant) error) error {
	var all sync.WaitGroup
	errs := make([]error, len(entrants))
	for i, e := range entrants {
		all.Go(func() {
			if err := do(e); err != nil {
				errs[i] = fmt.Errorf("%s: %w", e.name, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// enter starts a contestant, lets it learn and get frames, and stops it.
func (e *entrant) enter(c testCase, dir, library string) (err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if e.feed, err = newFeed(c, filepath.Join(dir, "feed")); err != nil {
		return err
	}
	if e.contestant, err = e.start(c, dir, e.feed.environment(library)); err != nil {
		e.contestant = nil
		return err
	}
	if err := e.feed.learn(); err != nil {
		return err
	}
	if err := e.begin(); err != nil {
		return err
	}
	if e.sent, err = e.forwarded(); err != nil {
		return err
	}
	e.fed = e.feed.received()
	if err := e.feed.circulate(); err != nil {
		return err
	}
	halt(e.pid())
	return nil
}

// close ends what did not end as it was to.
func (e *entrant) close() {
	if e.contestant != nil {
		resume(e.pid())
		e.finish()
	}
	if e.feed != nil {
		e.feed.close()
	}
}

// turn lets a contestant run until each of its polling threads has had a span of
// processor time.
func (e *entrant) turn(threads int, span time.Duration) error {
	if err := e.work(threads, span/8); err != nil { // the caches are another's
		return err
	}
	before, err := e.usage()
	if err != nil {
		return err
	}
	if err := e.work(threads, span); err != nil {
		return err
	}
	after, err := e.usage()
	if err != nil {
		return err
	}
	slowest, cost := 0.0, 0.0
	for id, a := range after {
		b := before[id]
		n := float64(a.frames - b.frames)
		own := a.busy - b.busy - e.feed.time(a.ticks-b.ticks)
		if n == 0 || own <= 0 {
			return fmt.Errorf("thread %d gets %.0f frames in %v of its own", id, n, own)
		}
		if rate := n / own.Seconds() / 1e6; slowest == 0 || rate < slowest {
			slowest, cost = rate, float64(e.feed.time(a.ticks-b.ticks))/n
		}
	}
	e.outcome.rates = append(e.outcome.rates, slowest*float64(threads))
	e.outcome.feed = append(e.outcome.feed, cost)
	return nil
}

// used is what a polling thread had.
type used struct {
	fed
	busy time.Duration
}

// usage is that of all polling threads.
func (e *entrant) usage() (map[int]used, error) {
	all := map[int]used{}
	for id, f := range e.feed.threads() {
		busy, err := processorTime(e.pid(), id)
		if err != nil {
			return nil, err
		}
		all[id] = used{f, busy}
	}
	return all, nil
}

// work lets it run until its polling threads have had a span of processor time.
func (e *entrant) work(threads int, span time.Duration) error {
	start, err := e.usage()
	if err != nil {
		return err
	}
	resume(e.pid())
	defer halt(e.pid())
	least := time.Duration(0)
	for late := time.Now().Add(patience); least < span; {
		if time.Now().After(late) {
			return fmt.Errorf("%d threads that poll had %v of processor time in %v", len(start), least, patience)
		}
		time.Sleep(max(span/16, span-least))
		now, err := e.usage()
		if err != nil {
			return err
		}
		if len(now) > threads {
			return fmt.Errorf("%d threads poll, and were to be %d", len(now), threads)
		}
		if len(now) == threads { // all have begun
			least = patience
			for id, u := range now {
				least = min(least, u.busy-start[id].busy)
			}
		}
	}
	return nil
}

// leave ends it, and holds it to what it was to do.
func (e *entrant) leave(c testCase) error {
	resume(e.pid())
	saw := ""
	if e.exact && c.Vdev == "net_ring" {
		if err := e.feed.sampled(c.left); err != nil {
			return err
		}
		saw = fmt.Sprintf("; %d frames looked at as they left each port", samplesAPort)
	}
	received, sent, err := e.counted()
	if err != nil {
		return err
	}
	if float64(sent) < 0.999*float64(received) || float64(sent) > 1.001*float64(received) {
		return fmt.Errorf("%d frames came in and %d went out", received, sent)
	}
	notes, err := e.finish()
	e.contestant = nil
	if err != nil {
		return err
	}
	cost := stat.Median(e.outcome.feed)
	e.outcome.notes = fmt.Sprintf("%s; %d frames in, %d out%s; feed %.2f ns", notes, received, sent, saw, cost)
	return nil
}

// counted gives it no more frames, waits until none leaves, and says how many did.
func (e *entrant) counted() (received, sent uint64, err error) {
	e.feed.set(hold)
	err = wait(func() error {
		before := sent
		time.Sleep(100 * time.Millisecond)
		if sent, err = e.forwarded(); err == nil && sent != before {
			return fmt.Errorf("it does not cease to send")
		}
		return err
	})
	return e.feed.received() - e.fed, sent - e.sent, err
}

// processorTime is what a thread has had.
func processorTime(pid, thread int) (time.Duration, error) {
	file := fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, thread)
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(b), " ")
	ns := int64(0)
	if _, err := fmt.Sscan(first, &ns); err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	return time.Duration(ns), nil
}
