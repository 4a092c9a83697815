package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	heap "photon/internal/memory"
	"photon/units"
)

// measured is what one run of a case took.
type measured struct {
	Hash    string        `json:"hash"`
	Hops    uint64        `json:"hops"` // of data packets
	Events  uint64        `json:"events"`
	Frames  int           `json:"frames"` // most at a time
	Used    time.Duration `json:"used"`   // of the processor, while the clock ran
	SetUp   time.Duration `json:"set_up"` // of the processor, before that
	Wall    time.Duration `json:"wall"`   // while the clock ran
	Ended   time.Time     `json:"ended"`  // when the clock stopped
	RSS     int64         `json:"rss"`    // most bytes of memory in all
	Started int64         `json:"started"`
	Ran     int64         `json:"ran"` // most bytes while the clock ran
}

// measure runs a case here. The process must be a new one. It calls ready when the
// network is built and before the clock starts; an error of that is its own.
func measure(c *testCase, each bool, cores int, until units.Time, profile string, ready func() error) (m measured, err error) {
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return m, err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return m, err
		}
		defer pprof.StopCPUProfile()
	}
	var processor time.Duration
	var wall time.Time
	var notReady error
	out, err := c.run(context.Background(), each, cores, until, func(begins bool) {
		if begins {
			// What building the network needed and is not needed any more would hide
			// what the run adds.
			debug.FreeOSMemory()
			if c.large {
				heap.HugeHeap() // a part of the set-up, which the world would do when the clock runs
			}
			m.RSS, m.Started = memory("VmHWM"), memory("VmRSS")
			_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // VmHWM begins anew
			m.SetUp = used()
			notReady = ready()
			processor, wall = used(), time.Now()
			return
		}
		m.stop(processor, wall)
		m.Ran = memory("VmHWM")
		m.RSS = max(m.RSS, m.Ran)
	})
	m.Hash, m.Hops, m.Events, m.Frames = out.TraceHash, out.DataHops, out.Events, out.Frames
	return m, errors.Join(err, notReady)
}

// stop stops the clock, which was started when the processor time and the time were these.
func (m *measured) stop(processor time.Duration, wall time.Time) {
	m.Used, m.Ended = used()-processor, time.Now()
	m.Wall = m.Ended.Sub(wall)
}

// used is the processor time of this process.
func used() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // there is such a call, and r is there
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// memory reads a line of /proc/self/status; 0: it is not there.
func memory(name string) int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for l := range bytes.Lines(b) {
		if rest, ok := strings.CutPrefix(string(l), name+":"); ok {
			kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				return 0
			}
			return kilobytes << 10
		}
	}
	return 0
}

// benchmark is the run as one turn of a Go benchmark.
func (m *measured) benchmark(name string, each bool) (string, map[string]float64) {
	return fmt.Sprintf("Sim/%s/ack=%s", name, perWhat(each)), map[string]float64{
		"ns/op": float64(m.Used.Nanoseconds()), "hops/s": m.rate(), "ns/event": m.perEvent(), "rss-bytes": float64(m.RSS), "bytes/packet": m.perFrame(),
	}
}

func perWhat(each bool) string {
	if each {
		return "packet"
	}
	return "flow"
}

func (m *measured) rate() float64     { return float64(m.Hops) / m.Used.Seconds() }
func (m *measured) perEvent() float64 { return float64(m.Used.Nanoseconds()) / float64(m.Events) }

// perFrame is what the run added to the memory for each frame of the most there were.
func (m *measured) perFrame() float64 { return float64(max(0, m.Ran-m.Started)) / float64(m.Frames) }
