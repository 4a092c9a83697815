package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
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
	contestant
	feed     *feed
	fed      uint64 // frames, when it began to count
	sent     uint64
	outcome  outcome
	finished bool
}

// measure runs one case.
func measure(c testCase, dir, library string, only []string, runs int, span time.Duration) (map[string]outcome, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	var running []*entrant
	defer func() {
		for _, e := range running {
			if !e.finished {
				resume(e.pid())
				e.finish()
			}
			e.feed.close()
		}
	}()
	all := map[string]outcome{}
	for _, s := range starters {
		if !slices.Contains(only, s.name) {
			continue
		}
		if s.lacks != nil && s.lacks(c.kind) != "" {
			all[s.name] = outcome{notes: "it cannot do this: " + s.lacks(c.kind)}
			continue
		}
		e, err := enter(s, c, filepath.Join(dir, s.name), library)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		running = append(running, e)
	}
	for range runs {
		for _, e := range running {
			if err := e.turn(c.threads(), span); err != nil {
				return nil, fmt.Errorf("%s: %w", e.name, err)
			}
		}
	}
	for _, e := range running {
		if err := e.leave(c); err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
		all[e.name] = e.outcome
	}
	return all, nil
}

// enter starts a contestant, lets it learn and get frames, and stops it.
func enter(s starter, c testCase, dir, library string) (*entrant, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := newFeed(c, filepath.Join(dir, "feed"))
	if err != nil {
		return nil, err
	}
	r, err := s.start(c, dir, f.environment(library))
	if err != nil {
		f.close()
		return nil, err
	}
	e := &entrant{starter: s, contestant: r, feed: f}
	if err = f.learn(); err == nil {
		if err = r.begin(); err == nil {
			if e.sent, err = r.forwarded(); err == nil {
				e.fed = f.received()
				err = f.circulate()
			}
		}
	}
	halt(r.pid())
	if err != nil {
		resume(r.pid())
		r.finish()
		f.close()
		return nil, err
	}
	return e, nil
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
	e.finished = true
	notes, err := e.finish()
	if err != nil {
		return err
	}
	cost := median(e.outcome.feed)
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
