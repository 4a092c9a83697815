//go:build dpdk

package dpdk

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync/atomic"
	"testing"
	"time"

	"photon/fabric"
	"photon/units"
)

// runWorld has two hosts on a cable and polls for them until the function that
// is returned is called.
func runWorld(t *testing.T, o Options) (w World, stop func()) {
	t.Helper()
	w = newWorld(t, o)
	link := fabric.Link{Rate: rate, Delay: units.Microsecond}
	_, na := addHost(t, w, 1, link)
	_, nb := addHost(t, w, 2, link)
	if err := w.Connect(fabric.End{Node: na}, fabric.End{Node: nb}, link); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, units.Never) }()
	for rounds := uint64(0); rounds == 0; time.Sleep(time.Millisecond) { // until it runs
		w.DoBriefly(func(units.Time) { rounds = w.Pace().Rounds })
	}
	return w, func() {
		cancel()
		<-ended // with the context's error
		if err := w.Audit(); err != nil {
			t.Error(err)
		}
	}
}

// A worker never gives up its core by itself, however much the scheduler has to
// do: goroutines that never rest have its monitor ask every one for its P, and
// functions come in meanwhile.
func TestWorkersNeverSleep(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // that would stop the world
	w, stop := runWorld(t, Options{})
	defer stop()
	w.SeldomStop()
	look := func() Polls {
		var p [1]Polls
		w.DoBriefly(func(units.Time) { w.CopyPolls(p[:]) })
		return p[0]
	}
	count := func(buckets []uint64) (n uint64) {
		for _, b := range buckets {
			n += b
		}
		return n
	}
	var done atomic.Bool
	for range 2 {
		go func() {
			for spins := 0; !done.Load(); spins++ {
			}
		}()
	}
	before := look()
	const queries = 100
	for range queries { // each takes the monitor a few of its turns
		look()
		time.Sleep(5 * time.Millisecond)
	}
	done.Store(true)
	after := look()
	if n := count(after.Slept[:]) - count(before.Slept[:]); n > 0 {
		t.Errorf("the worker slept %d times, %v in all", n, after.SleptTime-before.SleptTime)
	}
	if n := count(after.Requests[:]) - count(before.Requests[:]); n != queries+1 {
		t.Errorf("%d functions were called, %d were counted", queries+1, n)
	}
	if after.RequestTime <= 0 || after.RequestTime > after.Time {
		t.Errorf("functions took %v of %v", after.RequestTime, after.Time)
	}
}

// The world stops although workers poll: for a collection, for what the runtime
// says of its memory, and for a profile of goroutines. Their polling goes on.
func TestTheWorldStops(t *testing.T) {
	for _, cores := range [][]int{{0}, {0, 0}} {
		t.Run(fmt.Sprintf("%d workers", len(cores)), func(t *testing.T) {
			w, stop := runWorld(t, Options{Workers: len(cores), Cores: cores})
			defer stop()
			rounds := func() (n uint64) {
				w.DoBriefly(func(units.Time) { n = w.Pace().Rounds })
				return n
			}
			for n := range 3 {
				before := rounds()
				var m runtime.MemStats
				start := time.Now()
				runtime.ReadMemStats(&m)
				read := time.Since(start)
				if n == 0 {
					runtime.GC()
					w.SeldomStop()
				}
				collected := time.Since(start) - read
				w.AllowStops(runtime.GC)
				allowed := time.Since(start) - read - collected
				var b bytes.Buffer
				if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil || !bytes.Contains(b.Bytes(), []byte("(*worker).poll")) {
					t.Errorf("a profile without the worker: %v\n%s", err, &b)
				}
				if rounds() == before {
					t.Error("no poll since")
				}
				t.Logf("the memory read in %v, collected in %v, in %v once stops are seldom, but for this", read, collected, allowed)
			}
		})
	}
}

// Functions that wait may do so in Do: here for each other.
func TestFunctionsMayWait(t *testing.T) {
	w, stop := runWorld(t, Options{})
	defer stop()
	for range 10 {
		there, back := make(chan int), make(chan int)
		go func() { back <- <-there + 1 }()
		w.Do(func(units.Time) {
			there <- 1
			if got := <-back; got != 2 {
				t.Error(got)
			}
		})
	}
}

// The gaps between polls are told apart: a rest that an idle worker chose is none, and
// a function that waits makes one in which the worker's thread slept.
func TestGapsAreToldApart(t *testing.T) {
	const nap, wait = 50 * units.Millisecond, 60 * units.Millisecond
	w, stop := runWorld(t, Options{Sleep: nap})
	defer stop()
	look := func() (p Polls, longest units.Time) {
		all := make([]Polls, 1)
		w.Do(func(units.Time) { w.CopyPolls(all); longest = w.Pace().LongestGap })
		return all[0], longest
	}
	long := func(buckets []uint64) (n uint64) { // those of half a nap and more
		for i := 1; i < len(buckets); i++ {
			if GapBound(i-1) >= nap/2 {
				n += buckets[i]
			}
		}
		return n
	}
	before, _ := look()
	const naps = 16
	for range naps {
		look() // it answers when its nap is over
	}
	idle, _ := look()
	// The kernel may take the core away between two naps, but not at most of them.
	if n := long(idle.Gaps[:]) - long(before.Gaps[:]); n > naps/2 {
		t.Errorf("%d gaps as long as half a nap in %d naps", n, naps)
	}
	w.Do(func(units.Time) { time.Sleep(wait.Duration()) })
	after, longest := look()
	if long(after.Slept[:]) == long(idle.Slept[:]) || after.SleptTime-idle.SleptTime < nap.Duration() {
		t.Errorf("a function waited for %v, and the worker's thread slept %v", wait, after.SleptTime-idle.SleptTime)
	}
	if long(after.Gaps[:]) == long(idle.Gaps[:]) || longest < nap {
		t.Errorf("a function waited for %v, and the longest gap is %v", wait, longest)
	}
}

// While a function has its turn no worker goes on, not even one that rested for
// the function before, and when the world ends neither.
func TestAllWorkersRest(t *testing.T) {
	for _, cores := range [][]int{{0, 1}, {0, 0, 1}} {
		t.Run(fmt.Sprintf("%d workers", len(cores)), func(t *testing.T) {
			w, stop := runWorld(t, Options{Workers: len(cores), Cores: cores})
			hold := make(chan struct{})
			look := func(wait func()) {
				w.Do(func(units.Time) {
					before := w.Pace().Rounds
					wait()
					if n := w.Pace().Rounds - before; n > 0 {
						t.Errorf("%d rounds while all were to rest", n)
					}
				})
			}
			for range 50 {
				look(func() { time.Sleep(time.Millisecond) })
			}
			for range 1000 {
				look(runtime.Gosched)
			}
			within, ended := make(chan struct{}), make(chan struct{})
			go func() {
				look(func() { close(within); <-hold })
				close(ended)
			}()
			<-within
			time.AfterFunc(20*time.Millisecond, func() { close(hold) })
			stop()
			<-ended
		})
	}
}
