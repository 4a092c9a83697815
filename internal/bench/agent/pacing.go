package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"photon/agent"
	"photon/cnp"
	"photon/dataplane"
	"photon/fabric"
	"photon/lab/stat"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

const (
	portRate  = 10 * units.Gbps
	aggregate = 8 * units.Gbps
	frameFCS  = 1000 // bytes
	payload   = frameFCS - 4 - wire.EthernetLen - wire.IPv4Len - wire.UDPLen - wire.BTHLen - wire.ICRCLen
	onWire    = frameFCS - 4 + wire.Overhead
)

// host is a host with flows, and the port behind it.
type host struct {
	*agent.Host
	env   *fabric.Env
	now   units.Time
	free  units.Time // when the port has sent what it took
	burst [1]fabric.Frame
}

// newHost makes a host that sends so many flows. errs gets every frame's pacing
// error; nil: not recorded.
func newHost(flows int, errs *[]units.Time) (*host, error) {
	h := &host{env: fabric.NewEnv(fabric.NewHeaderPool(), 1)}
	pcn := &ratelimit.PCNParams{Line: portRate, WMin: 1. / 128, WMax: 0.5, Min: units.Mbps}
	rate := aggregate / units.Rate(flows)
	gap := rate.Serialize(onWire)
	random := rand.New(rand.NewPCG(1, uint64(flows)))
	starts := make([]units.Time, flows)
	for i := range starts {
		starts[i] = units.Time(random.Int64N(int64(gap)))
	}
	made := 0
	c := agent.Config{
		MAC: 2, IP: wire.IPv4(10, 0, 0, 1), Link: fabric.Link{Rate: portRate}, Lossless: 1 << 3, DSCP: dataplane.DefaultDSCP(), DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48,
		Carry: cnp.Carry{ECT: wire.ECT0}, Payload: payload, AckTimeout: units.Second, Senders: flows, Receivers: 1, Age: units.Second, NP: cnp.Silent{},
		NewRP: func(*ratelimit.Port) ratelimit.RP {
			rp := ratelimit.NewPCN(pcn)
			if errs == nil {
				return rp
			}
			made++
			return &probe{PCN: *rp, next: starts[made-1], gap: gap, errs: errs}
		},
	}
	var err error
	if h.Host, err = agent.New(c, h.env); err != nil {
		return nil, err
	}
	for i, at := range starts {
		if _, err := h.AddFlow(0, agent.FlowSpec{Peer: wire.IPv4(10, 1, byte(i>>8), byte(i)), PeerMAC: 4, QP: uint32(i + 1), Start: at, Limit: rate}); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// probe is a reaction point that compares its flow's departures with the schedule.
type probe struct {
	ratelimit.PCN
	next, gap units.Time
	errs      *[]units.Time
}

func (p *probe) Sent(now units.Time, bytes int) {
	*p.errs = append(*p.errs, now-p.next)
	p.next += p.gap
	p.PCN.Sent(now, bytes)
}

// Steady is false: it must be called for every frame.
func (p *probe) Steady() bool { return false }

// send lets the port take frames in virtual time; with contention one after the other.
func (h *host) send(frames int, contention bool) {
	for frames > 0 {
		if h.now = h.Next(h.now, 0); contention {
			h.now = max(h.now, h.free)
		}
		if h.Transmit(h.now, 0, h.burst[:]) == 0 {
			continue
		}
		h.env.Free(h.burst[0])
		h.free = h.now + portRate.Serialize(onWire)
		frames--
	}
}

// mostStep is how far the clock of sendWall goes between two polls: a core that
// was given to others for longer was not one's own.
const mostStep = 5 * time.Microsecond

// sendWall does so by the machine's clock for a span, stalls left out.
func (h *host) sendWall(span time.Duration) {
	passed, last := time.Duration(0), time.Now()
	for passed < span {
		at := time.Now()
		passed += min(at.Sub(last), mostStep)
		last = at
		if h.now = units.FromDuration(passed); h.now < h.free || h.Next(h.now, 0) > h.now || h.Transmit(h.now, 0, h.burst[:]) == 0 {
			continue
		}
		h.env.Free(h.burst[0])
		h.free = max(h.free, h.now) + portRate.Serialize(onWire)
	}
}

// spread is of pacing errors, in nanoseconds.
type spread struct {
	P50  float64 `json:"p50_ns"`
	P99  float64 `json:"p99_ns"`
	P999 float64 `json:"p999_ns"`
}

func spreadOf(errs []units.Time) spread {
	ns := make([]float64, len(errs))
	for i, e := range errs {
		ns[i] = float64(e) / float64(units.Nanosecond)
	}
	slices.Sort(ns)
	return spread{stat.Quantile(0.5, ns), stat.Quantile(0.99, ns), stat.Quantile(0.999, ns)}
}

// pacing is one line of the table.
type pacing struct {
	Flows    int     `json:"flows"`
	Before   spread  `json:"before_contention"`
	After    spread  `json:"after_contention"`
	Wall     spread  `json:"wall"`
	PerFrame float64 `json:"ns_per_frame"` // median
	Spread   float64 `json:"spread"`       // of the turns: (largest - smallest) / median
	Bytes    float64 `json:"bytes_per_flow"`
	perFrame []float64
}

// measurePacing measures errors for each count, and then costs, all counts in turn.
func measurePacing(counts []int, frames, turns int, wall time.Duration) (lines []*pacing, err error) {
	var hosts []*host
	for _, n := range counts {
		l := &pacing{Flows: n}
		if l.Bytes, err = bytesPerFlow(n); err != nil {
			return nil, err
		}
		for _, x := range []struct {
			into *spread
			send func(h *host)
		}{
			{&l.Before, func(h *host) { h.send(max(frames, 2*n), false) }}, {&l.After, func(h *host) { h.send(max(frames, 2*n), true) }},
			{&l.Wall, func(h *host) { h.sendWall(wall) }},
		} {
			errs := make([]units.Time, 0, max(frames, 2*n)+int(wall.Seconds()*1.3e6))
			h, err := newHost(n, &errs)
			if err != nil {
				return nil, err
			}
			x.send(h)
			if len(errs) == 0 {
				return nil, fmt.Errorf("%d flows: nothing was sent", n)
			}
			*x.into = spreadOf(errs)
		}
		h, err := newHost(n, nil)
		if err != nil {
			return nil, err
		}
		h.send(2*n, true) // all flows are under way
		lines, hosts = append(lines, l), append(hosts, h)
	}
	runtime.LockOSThread() // processor time is a thread's
	defer runtime.UnlockOSThread()
	runtime.GC()
	each := frames / turns
	for range turns {
		for i, l := range lines {
			hosts[i].send(min(each/4, 2*l.Flows), true) // the caches are another's
			begin := processorTime()
			hosts[i].send(each, true)
			l.perFrame = append(l.perFrame, float64(processorTime()-begin)/float64(each))
		}
	}
	for _, l := range lines {
		l.PerFrame, l.Spread = stat.Median(l.perFrame), stat.Spread(l.perFrame)
	}
	return lines, nil
}

// bytesPerFlow is what one flow more of n costs in memory.
func bytesPerFlow(n int) (float64, error) {
	allocated := func(n int) (uint64, error) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		h, err := newHost(n, nil)
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(h)
		return after.TotalAlloc - before.TotalAlloc - uint64(8*n), err // less the starts
	}
	one, err := allocated(1)
	if err != nil {
		return 0, err
	}
	all, err := allocated(n)
	return float64(all-one) / float64(n-1), err
}

// processorTime of this thread.
func processorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // Linux has it
	}
	return time.Duration(t.Nano())
}
