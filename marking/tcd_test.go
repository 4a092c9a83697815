package marking

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// tcdEvent is a RESUME or a frame that left the queue.
type tcdEvent struct {
	at     units.Time
	resume bool
	queue  units.Size // left behind
	size   int
	ecn    uint8
}

func (e tcdEvent) on(c *TCD) (m Mark) {
	if e.resume {
		c.Resume(e.at, queued(e.queue))
		return Unchanged
	}
	return c.Dequeue(e.at, queued(e.queue), carrying(e.size, e.ecn))
}

// carrying is a packet of so many bytes with an ECN codepoint, in IPv4.
func carrying(size int, ecn uint8) *Packet {
	b := make([]byte, wire.EthernetLen+wire.IPv4Len)
	b[wire.EthernetLen], b[wire.EthernetLen+1] = 0x45, ecn
	return &Packet{Size: size, L3: wire.EthernetLen, Bytes: b}
}

// stepTCD marks CE exactly above 100 KB, so that the queue says what RED decides.
func stepTCD(interval units.Time) TCDParams {
	return TCDParams{REDParams{Kmin: 100_000, Kmax: 100_000, Pmax: 1}, interval}
}

// Every row of the authors' state machine, and both sides of every limit in it.
func TestTCDRows(t *testing.T) {
	const (
		T     = 40 * us
		above = 100_001 // RED says CE
		below = 100_000 // and here it does not
	)
	frame := func(at units.Time, queue units.Size) tcdEvent { return tcdEvent{at, false, queue, 1000, wire.ECT1} }
	resume := func(at units.Time, queue units.Size) tcdEvent { return tcdEvent{at, true, queue, 0, 0} }
	// Resumed at 100 us with 50 KB, so that the pattern ends after 140 us.
	undetermined := []tcdEvent{resume(100*us, 50_000), frame(110*us, 60_000)}
	// Watched since 150 us, at 49 KB.
	trend := append(undetermined[:2:2], frame(150*us, 49_000))
	congestion := []tcdEvent{frame(50*us, above)}
	for _, c := range []struct {
		name   string
		before []tcdEvent
		event  tcdEvent
		mark   Mark
		state  TCDState
	}{
		{"begins without congestion", nil, frame(0, below), Unchanged, TCDNone},
		{"a frame at the moment of RESUME", []tcdEvent{resume(100*us, 50_000)}, frame(100*us, above), Undetermined, TCDUndetermined},
		{"the interval belongs to the pattern", []tcdEvent{resume(100*us, 50_000)}, frame(140*us, above), Undetermined, TCDUndetermined},
		{"an empty queue is undetermined as well", []tcdEvent{resume(100*us, 0)}, frame(140*us, 0), Undetermined, TCDUndetermined},
		{"UE does not overwrite CE", []tcdEvent{resume(100*us, 0)}, tcdEvent{120 * us, false, above, 1000, wire.CE}, Unchanged, TCDUndetermined},
		{"UE stays UE", []tcdEvent{resume(100*us, 0)}, tcdEvent{120 * us, false, above, 1000, wire.ECT0}, Undetermined, TCDUndetermined},
		{"past a pattern in which no frame left", []tcdEvent{resume(100*us, 50_000)}, frame(141*us, below), Unchanged, TCDNone},
		{"a second RESUME prolongs", append(undetermined[:2:2], resume(130*us, 9_000)), frame(170*us, above), Undetermined, TCDUndetermined},
		{"and its queue counts", append(undetermined[:2:2], resume(130*us, 9_000)), frame(171*us, 9_000), Unchanged, TCDCongestion},

		{"the queue grew: congestion", undetermined, frame(140*us+1, above), Congestion, TCDCongestion},
		{"the queue is the same: congestion, RED does not mark", undetermined, frame(140*us+1, 50_000), Unchanged, TCDCongestion},
		{"the queue fell: watched", undetermined, frame(140*us+1, 49_999), Unchanged, tcdTrend},
		{"the queue fell to nothing: watched still", undetermined, frame(140*us+1, 0), Unchanged, tcdTrend},

		{"watched for less than an interval", trend, frame(190*us-1, above), Unchanged, tcdTrend},
		{"and more than two frames are left", trend, frame(160*us, 2001), Unchanged, tcdTrend},
		{"two frames are left: over", trend, frame(160*us, 2000), Unchanged, TCDNone},

		{"still falling", trend, frame(190*us, 30_000), Unchanged, tcdTrend},
		{"nine tenths of a frame more are falling", trend, frame(190*us, 49_899), Unchanged, tcdTrend},
		{"falling, and gone", trend, frame(190*us, 2000), Unchanged, TCDNone},
		{"a look begins a new interval", append(trend[:3:3], frame(190*us, 30_000)), frame(230*us-1, above), Unchanged, tcdTrend},
		{"and is what the next one is held against", append(trend[:3:3], frame(190*us, 30_000)), frame(230*us, 30_900), Unchanged, TCDCongestion},
		{"a longer frame, a longer step", trend, tcdEvent{190 * us, false, 50_349, 1500, wire.ECT1}, Unchanged, tcdTrend},
		// 0.9 of 1001 bytes are 900.9.
		{"parts of a byte count", trend, tcdEvent{190 * us, false, 49_900, 1001, wire.ECT1}, Unchanged, tcdTrend},

		{"falls no more: congestion, RED does not mark", trend, frame(190*us, 49_900), Unchanged, TCDCongestion},
		{"falls no more: congestion, RED marks", trend, frame(190*us, above), Congestion, TCDCongestion},
		{"a RESUME ends the watch", append(trend[:3:3], resume(160*us, 0)), frame(161*us, above), Undetermined, TCDUndetermined},

		{"non-congestion, RED marks", []tcdEvent{frame(50*us, below)}, frame(51*us, above), Congestion, TCDCongestion},
		{"congestion, RED marks", congestion, frame(51*us, above), Congestion, TCDCongestion},
		{"congestion, RED does not mark", congestion, frame(51*us, below), Unchanged, TCDNone},
		{"CE overwrites UE", congestion, tcdEvent{51 * us, false, above, 1000, wire.ECT0}, Congestion, TCDCongestion},
		{"from congestion by the trend to none", append(undetermined[:2:2], frame(150*us, above)), frame(151*us, below), Unchanged, TCDNone},
		{"from none after the watch", append(trend[:3:3], frame(160*us, 2000)), frame(161*us, above), Congestion, TCDCongestion},
	} {
		point := NewTCD(stepTCD(T), 1)
		for _, e := range c.before {
			e.on(point)
		}
		if mark := c.event.on(point); mark != c.mark || point.State() != c.state {
			t.Errorf("%s: mark %d, state %d; want %d, %d", c.name, mark, point.State(), c.mark, c.state)
		}
	}
}

// slowTCD is the same table read from top to bottom, by name.
type slowTCD struct {
	interval units.Time
	red      func(e tcdEvent) bool

	state   string
	resumes bool // there was a RESUME
	tResume units.Time
	qResume units.Size
	tRec    units.Time
	qRec    units.Size
}

func (s *slowTCD) dequeue(e tcdEvent) Mark {
	small := e.queue <= 2*units.Size(e.size)
	ce := func() Mark {
		if s.red(e) {
			return Congestion
		}
		return Unchanged
	}
	// In tenths of a byte.
	falling := 10*e.queue < 10*s.qRec+9*units.Size(e.size)
	recent := s.resumes && e.at-s.tResume <= s.interval
	switch {
	case recent && e.ecn == wire.CE:
		s.state = "undetermined"
		return Unchanged
	case recent:
		s.state = "undetermined"
		return Undetermined
	case s.state == "undetermined" && e.queue >= s.qResume:
		s.state = "congestion"
		return ce()
	case s.state == "undetermined" && e.queue < s.qResume:
		s.state, s.tRec, s.qRec = "trend-check", e.at, e.queue
		return Unchanged
	case s.state == "trend-check" && e.at-s.tRec < s.interval && small:
		s.state = "non-congestion"
		return Unchanged
	case s.state == "trend-check" && e.at-s.tRec < s.interval:
		return Unchanged
	case s.state == "trend-check" && falling && small:
		s.state = "non-congestion"
		return Unchanged
	case s.state == "trend-check" && falling:
		s.tRec, s.qRec = e.at, e.queue
		return Unchanged
	case s.state == "trend-check":
		s.state = "congestion"
		return ce()
	}
	s.state = "non-congestion"
	m := ce()
	if m == Congestion {
		s.state = "congestion"
	}
	return m
}

func TestTCDAgainstSlowTwin(t *testing.T) {
	names := map[string]TCDState{"non-congestion": TCDNone, "congestion": TCDCongestion, "undetermined": TCDUndetermined, "trend-check": tcdTrend}
	seen := map[string]int{}
	thousands(t, func(t *rapid.T) {
		p := stepTCD(units.Time(evenly(1, 100).Draw(t, "interval")) * us)
		s := &slowTCD{interval: p.Interval, state: "non-congestion"}
		s.red = func(e tcdEvent) bool { return e.queue > 100_000 }
		seed := rapid.Uint64().Draw(t, "seed")
		if rapid.Bool().Draw(t, "curve") { // drawn exactly where the table asks for it: one draw more, and the two part
			p.REDParams = REDParams{Kmin: 5_000, Kmax: 200_000, Pmax: 0.5}
			red := NewRED(p.REDParams, seed)
			s.red = func(e tcdEvent) bool { return red.Dequeue(e.at, queued(e.queue), nil) == Congestion }
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		c := NewTCD(p, seed)
		e := tcdEvent{queue: 60_000}
		step := evenly(1, int64(p.Interval)).Draw(t, "step")
		drift := evenly(-8000, 6000).Draw(t, "drift")
		for range evenly(1, 100).Draw(t, "events") {
			e.at += units.Time(evenly(0, step).Draw(t, "later"))
			e.size = int(evenly(64, 9000).Draw(t, "size"))
			e.ecn = uint8(rapid.IntRange(0, 3).Draw(t, "ecn"))
			e.resume = evenly(0, 20).Draw(t, "what") == 0
			switch evenly(0, 9).Draw(t, "queue") {
			case 0: // just where a limit is
				e.queue = s.qResume + units.Size(rapid.IntRange(-1, 1).Draw(t, "off"))
			case 1:
				e.queue = s.qRec + units.Size(e.size)*9/10 + units.Size(rapid.IntRange(-1, 1).Draw(t, "off"))
			case 2:
				e.queue = 2*units.Size(e.size) + units.Size(rapid.IntRange(-1, 1).Draw(t, "off"))
			default:
				e.queue += units.Size(drift + evenly(-3000, 3000).Draw(t, "change"))
			}
			e.queue = min(max(0, e.queue), 250_000)
			if e.resume {
				s.resumes, s.tResume, s.qResume = true, e.at, e.queue
				e.on(c)
			} else if got, want := e.on(c), s.dequeue(e); got != want {
				t.Fatalf("%+v: %d, want %d", e, got, want)
			}
			if c.State() != names[s.state] {
				t.Fatalf("%+v: state %d, want %s", e, c.State(), s.state)
			}
			seen[s.state]++
		}
	})
	for name := range names {
		if seen[name] < 1000 {
			t.Errorf("the sequences reach %q %d times only", name, seen[name])
		}
	}
}
