package dataplane_test

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/credits"
	"photon/dataplane"
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// stepper is a world that asks a switch for one event after the other, slowly and obviously.
type stepper struct {
	sw    *dataplane.Switch
	env   *fabric.Env
	wires []fabric.Wire // PerByte and Overhead
	due   []units.Time
	now   units.Time
	left  []string // what left the ports: when and what
	waits []string // what was told of what waits
}

// coming is a frame that arrives.
type coming struct {
	at    units.Time
	port  int
	bytes []byte
}

// newStepper makes one. If somebody wants to be told what waits, spans are handled in order.
func newStepper(t *rapid.T, c dataplane.SwitchConfig, told bool) *stepper {
	w := &stepper{env: fabric.NewEnv(fabric.NewHeaderPoolOf(2048), len(c.Ports))}
	if told {
		w.env.Queued = func(now units.Time, port int, bytes units.Size) {
			w.waits = append(w.waits, fmt.Sprintf("%v at port %d: %v", now, port, bytes))
		}
	}
	var err error
	if w.sw, err = dataplane.NewSwitch(clone(c), []*fabric.Env{w.env}); err != nil {
		t.Fatal(err)
	}
	for i := range c.Ports {
		w.env.Exit(i).Frames = w.env.Exit(i).Inline[:]
		link := c.Ports[i].Link
		wire := fabric.Wire{PerByte: uint16(link.Rate.Serialize(1)), Overhead: int16(link.WireBytes(0))}
		w.wires = append(w.wires, wire)
		w.due = append(w.due, w.sw.Next(0, i))
	}
	return w
}

func (w *stepper) frame(b []byte) fabric.Frame {
	f, _ := w.env.Alloc(len(b))
	copy(w.env.Header(f), b)
	f.Digest = w.env.Digest(&f)
	return f
}

func (w *stepper) leaves(port int, gone units.Time, f *fabric.Frame) {
	w.left = append(w.left, fmt.Sprintf("port %d, %v: %x", port, gone, w.env.Bytes(f)))
	w.env.Free(*f)
}

// send puts a frame on a port's link.
func (w *stepper) send(port int, f *fabric.Frame) {
	e, x := w.env.Exit(port), w.wires[port]
	e.Free = w.now + units.Time(int(f.Len)+int(x.Overhead))*units.Time(x.PerByte)
	w.leaves(port, e.Free, f)
}

// timer is when a port is to be served.
func (w *stepper) timer(port int) units.Time {
	if w.due[port] == units.Never {
		return units.Never
	}
	return max(w.due[port], w.env.Exit(port).Free, w.now)
}

// wake notes which ports the switch has woken.
func (w *stepper) wake() {
	for _, port := range w.env.Woken() {
		w.due[port] = w.env.Due(int(port))
	}
}

// step handles all events before an instant, one after the other: arrivals first, then ports in their order.
func (w *stepper) step(end units.Time, all []coming) {
	for {
		port := 0
		for i := range w.due {
			if w.timer(i) < w.timer(port) {
				port = i
			}
		}
		at := w.timer(port)
		if len(all) > 0 && all[0].at <= at {
			if w.now = all[0].at; w.now >= end {
				return
			}
			a := all[0]
			all = all[1:]
			switch w.env.Queue = fabric.QueueNothing; {
			case len(all) > 0 && all[0].at == w.now:
				w.env.Queue = fabric.QueueAll
			case at == w.now:
				w.env.Queue = fabric.QueueIfDependent
			}
			w.receive(a.port, a.bytes)
		} else {
			if at >= end {
				return
			}
			w.now = at
			w.env.SetDue(port, units.Never)
			var f fabric.Frame
			sent, next := w.sw.Serve(w.now, port, &f)
			if sent {
				w.send(port, &f)
			}
			w.env.SetDue(port, next)
			w.due[port] = next
		}
		w.wake()
	}
}

// receive has frames arrive at once.
func (w *stepper) receive(port int, frames ...[]byte) {
	var burst []fabric.Frame
	for _, b := range frames {
		burst = append(burst, w.frame(b))
	}
	w.sw.Receive(w.now, port, burst)
	for _, out := range w.env.UsedExits() {
		e := w.env.Exit(int(out))
		e.N = 0
		w.send(int(out), &e.Inline[0])
	}
}

// span hands over what arrives before an instant at once.
func (w *stepper) span(t *rapid.T, end units.Time, all []coming) {
	x := &fabric.Span{Base: w.now, End: end}
	for i := range w.wires {
		wire := w.wires[i]
		wire.At = w.timer(i)
		x.Wires = append(x.Wires, wire)
	}
	for _, a := range all {
		x.Keys = append(x.Keys, uint64(a.at-w.now)<<fabric.KeyPortBits|uint64(a.port))
		x.Frames = append(x.Frames, w.frame(a.bytes))
	}
	x.Keys = append(x.Keys, 1<<64-1)
	w.sw.Span(x)
	if woken := w.env.Woken(); len(woken) > 0 {
		t.Fatalf("a span wakes ports %v", woken)
	}
	for i := range x.Departures {
		w.leaves(int(x.Departures[i].Port), x.Departures[i].Gone, &x.Departures[i].Frame)
	}
	for i := range x.Wires {
		w.env.SetDue(i, x.Wires[i].At)
		w.due[i] = x.Wires[i].At
	}
}

// link has a port's link go or come back.
func (w *stepper) link(t *rapid.T, port int, state dataplane.LinkState) {
	ch, err := w.sw.PrepareLink(port, state)
	if err != nil {
		t.Fatal(err)
	}
	w.sw.SetLink(w.now, ch)
	w.wake()
}

// samples are what port 0 sampled since the last call.
func (w *stepper) samples() (list []string) {
	counts, _ := w.sw.Samples(0, func(s *dataplane.Sample) {
		list = append(list, fmt.Sprintf("%d: %x", s.Length, s.Head()))
	})
	return append(list, fmt.Sprint(counts))
}

// byPort sorts what left by port, in the order in which it left.
func byPort(left []string) []string {
	left = slices.Clone(left)
	slices.SortStableFunc(left, func(a, b string) int {
		return cmp.Compare(a[:bytes.IndexByte([]byte(a), ',')], b[:bytes.IndexByte([]byte(b), ',')])
	})
	return left
}

// spanConfig draws a switch, most often one at which ports do not concern each other, unless something of anyConfig's
// is in the way.
func spanConfig(t *rapid.T) dataplane.SwitchConfig {
	c := anyConfig(t)
	if rapid.IntRange(0, 3).Draw(t, "anything") == 0 {
		return c
	}
	c.Cell = draw[units.Size](t, "cell", 0, 0, 200)
	if len(c.VLANs) > 0 || rapid.IntRange(0, 2).Draw(t, "router") > 0 {
		c.Router = dataplane.Router{}
	}
	c.Learn, c.VLANs, c.Static, c.NoUnknown = false, nil, nil, false
	for i := range c.Ports {
		p := &c.Ports[i]
		p.Lossless, p.Asymmetric, p.Pause, p.MTU = nil, false, false, 0
		p.Classes, p.PCPOut, p.Addresses, p.Accept = nil, nil, nil, dataplane.AcceptUsual
		e := dataplane.StaticEntry{MAC: hostMAC(i), Ports: []uint16{uint16(i)}}
		if j := (i + 1) % len(c.Ports); j != i && rapid.IntRange(0, 2).Draw(t, "equal paths") == 0 {
			e.Ports = append(e.Ports, uint16(j))
			slices.Sort(e.Ports)
		}
		c.Static = append(c.Static, e)
	}
	if rapid.IntRange(0, 5).Draw(t, "CNPs soon") == 0 {
		p := marking.PACCParams{
			Period: 3 * units.Microsecond, Phase: units.Microsecond, Gap: units.Microsecond / 2,
			QTh: 500, QBurst: 100, BTh: 100, Beta1: 1, Beta2: 1, Unit: 100, W: 1, Flows: 64,
		}
		c.CP = func(marking.Place) marking.CP { return marking.NewPACC(p) }
	}
	ways := rapid.IntRange(0, 4).Draw(t, "nothing in the way")
	if ways < 4 {
		c.Deadlock = 0
		limits := rapid.IntRange(0, 2).Draw(t, "limits of ports") == 0
		for i := range c.Ports {
			p := &c.Ports[i]
			if p.LossyLimit, p.LossyAlpha = 0, 0; limits {
				p.LossyLimit = draw[units.Size](t, "limit of a port", 0, 3000, 20_000)
				p.LossyAlpha = draw(t, "alpha of a port", 0, 0.05, 1)
			}
			for prio := range p.Queues {
				p.Queues[prio].Alpha, p.Queues[prio].Min = 0, 0
			}
		}
	}
	if ways < 2 {
		c.Watchdog, c.Weights = pfc.WatchdogConfig{}, [8]int{}
		for i := range c.Ports {
			c.Ports[i].Shaper, c.Ports[i].Queues = dataplane.Shaper{}, [8]dataplane.QueueConfig{}
		}
	}
	if c.Lossless != 0 && rapid.Bool().Draw(t, "much room") {
		for prio := range c.PFC {
			c.PFC[prio].XOFF, c.PFC[prio].XON = max(c.PFC[prio].XOFF, 100_000), min(c.PFC[prio].XON, 100_000)
		}
		c.Tail = 1_000_000
	}
	if c.Paths = (dataplane.Paths{By: draw(t, "paths", dataplane.ByFlow, dataplane.ByFlow, dataplane.ByRoundRobin, dataplane.AtRandom, dataplane.ByFlowlet, dataplane.ByQueue)}); c.Paths.By == dataplane.ByFlowlet {
		c.Paths.Gap = 3 * units.Microsecond
	}
	if c.Lossless != 0 && rapid.IntRange(0, 5).Draw(t, "credits") == 0 {
		c.Credits = &credits.Config{Buffer: draw(t, "lane", 5*units.KB, 64*units.KB)}
		c.Cell, c.Watchdog = 0, pfc.WatchdogConfig{}
	}
	c.Headroom, c.Buffer = 0, 1
	c.Buffer = max(reserved(c), c.Reserved()) + units.Size(draw(t, "pool", 1_000_000, 1_000_000, 100_000, 10_000))
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	return c
}

// A span is handled as its events would be one after the other: the same frames leave at the same instants, and the
// switch counts the same.
func TestSpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := spanConfig(t)
		told := rapid.IntRange(0, 3).Draw(t, "told what waits") == 0
		one, many := newStepper(t, c, told), newStepper(t, c, told)
		if rapid.IntRange(0, 3).Draw(t, "samples") == 0 {
			one.sw.Sampling(0, 3)
			many.sw.Sampling(0, 3)
		}
		x := &arrivals{t: t, config: c}
		load := draw(t, "load", 0.3, 0.9, 1.5)
		hostile := draw(t, "one frame of so many is odd", 0, 0, 50, 5)
		pauses := draw(t, "one frame of so many is of flow control", 0, 0, 100, 20)
		if c.Credits != nil {
			pauses = draw(t, "one frame of so many has credits", 20, 5)
		}
		whole := rapid.IntRange(0, 3).Draw(t, "whole microseconds") == 0
		free := make([]units.Time, len(c.Ports))
		for at := units.Time(0); at < 100*units.Microsecond; {
			end := at + units.Time(rapid.IntRange(1, 30).Draw(t, "us"))*units.Microsecond
			var all []coming
			for port := range c.Ports {
				for free[port] = max(free[port], at); ; {
					a := coming{port: port, bytes: x.plain(port)}
					if whole {
						a.bytes = append(a.bytes, make([]byte, 1250)...)[:1250-wire.Overhead] // 1 us at 10 Gbps
					}
					if hostile > 0 && rapid.IntRange(1, hostile).Draw(t, "odd") == 1 {
						a.bytes = x.anyFrame(port)
					}
					if pauses > 0 && rapid.IntRange(1, pauses).Draw(t, "flow control") == 1 {
						if a.bytes = x.anyControl(); c.Credits != nil {
							a.bytes = someCredits(t)
						}
					}
					took := one.wires[port].PerByte
					gap := units.Time(float64(len(a.bytes)+wire.Overhead) * float64(took) / load)
					if whole || rapid.Bool().Draw(t, "at a whole microsecond") {
						gap += (units.Microsecond - (free[port]+gap)%units.Microsecond) % units.Microsecond
					}
					if a.at = free[port] + gap; a.at >= end || len(all) > 150 {
						free[port] = end
						break
					}
					free[port] = a.at
					all = append(all, a)
				}
			}
			slices.SortStableFunc(all, func(a, b coming) int {
				return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.port, b.port))
			})
			one.now, many.now = at, at
			if port := rapid.IntRange(0, 4*len(c.Ports)).Draw(t, "served for nothing"); port < len(c.Ports) {
				for _, w := range []*stepper{one, many} {
					w.due[port] = min(w.due[port], at+3*units.Microsecond)
					w.env.SetDue(port, w.due[port])
				}
			}
			if port := rapid.IntRange(0, 30).Draw(t, "link that changes"); port < len(c.Ports) {
				state := dataplane.LinkState{Up: rapid.Bool().Draw(t, "up")}
				one.link(t, port, state)
				many.link(t, port, state)
			}
			if port := rapid.IntRange(0, 20).Draw(t, "port of a burst"); port < len(c.Ports) { // as a link that reorders has
				var frames [][]byte
				for range rapid.IntRange(2, 5).Draw(t, "frames of a burst") {
					frames = append(frames, x.plain(port))
				}
				for _, w := range []*stepper{one, many} {
					w.env.Queue = fabric.QueueAll
					w.receive(port, frames...)
					w.wake()
				}
			}
			one.step(end, all)
			many.span(t, end, all)
			got, want := byPort(many.left), byPort(one.left)
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("before %v: %d and %d frames left, and the %dth is\n%s, one after the other\n%s",
						end, len(got), len(want), i, entry(got, i), entry(want, i))
				}
			}
			if !slices.Equal(many.waits, one.waits) {
				got, want := strings.Join(many.waits, "\n"), strings.Join(one.waits, "\n")
				t.Fatalf("before %v: what waited was\n%s, one after the other\n%s", end, got, want)
			}
			if got, want := many.sw.Stats(end), one.sw.Stats(end); !reflect.DeepEqual(got, want) {
				for i := range want.Ports {
					if s := difference(got.Ports[i], want.Ports[i]); s != "" {
						t.Fatalf("before %v: port %d: %s", end, i, s)
					}
				}
				t.Fatalf("before %v: %+v, one after the other %+v", end, got, want)
			}
			if got, want := many.sw.Buffer(), one.sw.Buffer(); !reflect.DeepEqual(got, want) {
				t.Fatalf("before %v: %v of the buffer are used and %v were at most, one after the other %v and %v",
					end, got.LossyUsed, got.LossyPeak, want.LossyUsed, want.LossyPeak)
			}
			if got, want := many.samples(), one.samples(); !slices.Equal(got, want) {
				t.Fatalf("before %v: the samples are %v, one after the other %v", end, got, want)
			}
			if err := many.sw.Audit(); err != nil {
				t.Fatal(err)
			}
			at = end
			if rapid.IntRange(0, 9).Draw(t, "clear peaks") == 0 {
				for _, w := range []*stepper{one, many} {
					w.sw.ClearPools()
					w.sw.ClearWatermarks(0)
				}
			}
		}
	})
}

// someCredits is what a peer may say of a lane.
func someCredits(t *rapid.T) []byte {
	lane := draw[uint8](t, "lane", 3, 3, 6, 0)
	list := []credits.Packet{{
		Init: rapid.IntRange(0, 9).Draw(t, "begins") == 0, Lane: lane, Sent: rapid.Uint16Range(0, 4095).Draw(t, "sent"),
		Limit: rapid.Uint16Range(0, 4095).Draw(t, "limit"),
	}}
	b := make([]byte, credits.FrameLen(len(list)))
	credits.Encode(b, hostMAC(77), list)
	return b
}

// entry is one of a list, if it has so many.
func entry(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "none"
}
