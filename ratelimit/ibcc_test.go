package ratelimit

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

func ibccParams() *IBCCParams {
	table, err := NewCCT(127, 1, 0)
	if err != nil {
		panic(err)
	}
	return &IBCCParams{Line: line, Table: table, Increase: 1, Limit: 127, Timer: 150 * CCTUnit}
}

// Entries as the annex has them: two bits of shift, fourteen of multiplier. A gap of m/2^s packet times leaves 1/(1+m/2^s).
func TestCCT(t *testing.T) {
	for _, c := range []struct {
		entry uint16
		rate  units.Rate
	}{
		{0x0000, 40 * units.Gbps},
		{0x0001, 20 * units.Gbps},
		{0x0003, 10 * units.Gbps},
		{0x4001, 40 * units.Gbps * 2 / 3},
		{0x8004, 20 * units.Gbps},
		{0xC008, 20 * units.Gbps},
		{0xC001, 40 * units.Gbps * 8 / 9},
		{0x3FFF, 40 * units.Gbps / 16384},
	} {
		if r := (CCT{c.entry}).Rate(0, 40*units.Gbps); r != c.rate {
			t.Errorf("%04x: %v, want %v", c.entry, r, c.rate)
		}
	}
	table, err := NewCCT(3, 5, 2)
	if want := [4]uint16{0x8000, 0x8005, 0x800A, 0x800F}; err != nil || [4]uint16(table) != want {
		t.Errorf("%x, %v", table, err)
	}
	for _, bad := range [][3]int{{-1, 1, 0}, {16384, 1, 0}, {1, -1, 0}, {1, 16384, 0}, {127, 130, 0}, {1 << 40, 1 << 40, 0}, {1, 1, -1}, {1, 1, 4}} {
		if _, err := NewCCT(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%v is a table", bad)
		}
	}
}

// Step by step: up by the increase at a BECN, as far as the limit; down by one at each expiry of a timer that the first
// BECN starts, and no other moves.
func TestIBCCSteps(t *testing.T) {
	const tick = 150 * CCTUnit
	p := ibccParams()
	p.Increase, p.Limit, p.Min = 4, 10, 1
	b := NewIBCC(p, nil)
	at := func(now units.Time, index units.Rate) {
		t.Helper()
		if r := b.Rate(now); r != line/(1+index) {
			t.Errorf("at %v: %v, and index %d is %v", now, r, index, line/(1+index))
		}
	}
	at(0, 1) // CCTI_Min
	b.Notify(100*units.Microsecond, wire.NotECT, 0)
	at(100*units.Microsecond, 5)
	at(100*units.Microsecond+tick-1, 5)
	at(100*units.Microsecond+tick, 4)
	b.Notify(100*units.Microsecond+tick+tick/2, wire.NotECT, 0)
	at(100*units.Microsecond+tick+tick/2, 8)
	at(100*units.Microsecond+2*tick, 7) // the timer goes on
	b.Notify(100*units.Microsecond+2*tick, wire.NotECT, 0)
	at(100*units.Microsecond+2*tick, 10) // CCTI_Limit
	at(100*units.Microsecond+10*tick, 2)
	at(100*units.Microsecond+11*tick, 1)
	at(units.Second, 1)
	if !b.Steady() {
		t.Error("what is at its smallest is not steady")
	}
	b.Notify(units.Second+1, wire.NotECT, 0) // a new timer begins here
	at(units.Second+tick, 5)
	at(units.Second+tick+1, 4)
	if b.Steady() {
		t.Error("what is to come down is steady")
	}
	b.Start(units.Second + tick + 1)
	at(units.Second+tick+1, 1)
}

// Behind TCD a notice of undetermined ports leaves the index, and takes the place of an expiry.
func TestIBCCHolds(t *testing.T) {
	const tick = 150 * CCTUnit
	p := ibccParams()
	p.Ternary = true
	for name, b := range map[string]RP{"notices": NewIBCC(p, nil), "acknowledgements": AckedIBCC{NewIBCC(p, nil)}} {
		tell := func(now units.Time, ecn uint8) {
			if a, ok := b.(Acker); ok {
				a.Ack(now, &Ack{CE: ecn == wire.CE, UE: ecn == ue})
			} else {
				b.Notify(now, ecn, 0)
			}
		}
		at := func(now units.Time, index units.Rate) {
			t.Helper()
			if r := b.Rate(now); r != line/(1+index) {
				t.Errorf("%s, at %v: %v, and index %d is %v", name, now, r, index, line/(1+index))
			}
		}
		tell(0, ue) // nothing is to be held
		at(0, 0)
		tell(0, wire.CE)
		tell(0, wire.CE)
		tell(0, wire.CE)
		tell(tick/2, ue)
		tell(tick/2, ue) // once for any number
		at(tick, 3)
		at(2*tick, 2)
		tell(2*tick, ue)
		tell(2*tick, wire.CE)
		at(3*tick, 3)
		at(4*tick, 2)
	}
	plain := AckedIBCC{NewIBCC(ibccParams(), nil)}
	if plain.Steady() {
		t.Error("what acknowledgements may slow down at any time is steady")
	}
	plain.Ack(0, &Ack{UE: true})
	plain.Ack(0, &Ack{})
	if plain.Rate(0) != line {
		t.Error("an acknowledgement without BECN slows a flow down")
	}
}

// All flows of a priority have one index, if the port says so; flows of other ports have theirs.
func TestIBCCShared(t *testing.T) {
	p := ibccParams()
	p.Shared = true
	port, other := &Port{}, &Port{}
	a, b, c := NewIBCC(p, port), NewIBCC(p, port), NewIBCC(p, other)
	a.Notify(0, wire.NotECT, 0)
	if a.Rate(0) != line/2 || b.Rate(0) != line/2 || c.Rate(0) != line || b.Steady() {
		t.Errorf("%v, %v, %v", a.Rate(0), b.Rate(0), c.Rate(0))
	}
	if b.Start(0); b.Rate(0) != line/2 {
		t.Error("a flow that begins makes the others quick")
	}
	if b.StartAt(0, line/8); a.Rate(0) != line/8 {
		t.Errorf("begun at %v", a.Rate(0))
	}
	if b.StartAt(0, line/4); a.Rate(0) != line/8 {
		t.Errorf("begun at %v", a.Rate(0))
	}
}

// slowCCTI has a list of what is to happen, and looks entries up by their bits.
type slowCCTI struct {
	p      *IBCCParams
	agenda agenda
	n      tally
	index  int
	runs   bool
	skip   bool
}

func (s *slowCCTI) becn(now units.Time) {
	for range s.p.Increase {
		if s.index < s.p.Limit {
			s.index++
		} else {
			s.n["limit"]++
		}
	}
	if !s.runs && s.index > s.p.Min {
		s.runs = true
		s.agenda.set(0, now+s.p.Timer, s.expire)
		s.n["timer begins"]++
	}
}

func (s *slowCCTI) undetermined() {
	if s.runs {
		s.skip = true
		s.n["held"]++
	}
}

func (s *slowCCTI) expire(at units.Time) {
	if s.skip {
		s.skip = false
	} else {
		s.index--
	}
	if s.index > s.p.Min {
		s.agenda.set(0, at+s.p.Timer, s.expire)
	} else {
		s.runs = false
		s.n["timer ends"]++
	}
}

// rate is the line's, by the time that a packet and its gap take.
func (s *slowCCTI) rate() float64 {
	gap := float64(s.p.Table[s.index] % 16384)
	for range s.p.Table[s.index] / 16384 {
		gap /= 2
	}
	return float64(s.p.Line) / (1 + gap)
}

func TestIBCCAgainstSlowTwin(t *testing.T) {
	n := tally{}
	often(t, func(t *rapid.T) {
		p := &IBCCParams{
			Line: mbps(t, 1_000, 400_000, "line"), Increase: rapid.IntRange(0, 9).Draw(t, "increase"), Limit: rapid.IntRange(0, 40).Draw(t, "limit"),
			Timer: CCTUnit * units.Time(rapid.IntRange(1, 200).Draw(t, "timer")), Shared: rapid.Bool().Draw(t, "shared"), Ternary: true,
		}
		p.Min = rapid.IntRange(0, p.Limit).Draw(t, "min")
		p.Table = rapid.SliceOfN(rapid.Uint16(), p.Limit+1, p.Limit+5).Draw(t, "table")
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		slow, port := &slowCCTI{p: p, n: n, index: p.Min}, &Port{}
		flows := []*IBCC{NewIBCC(p, port)}
		if p.Shared {
			flows = append(flows, NewIBCC(p, port), NewIBCC(p, port))
		}
		now := units.Time(0)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			now = slow.agenda.later(t, now, 3*p.Timer)
			rp := rapid.SampledFrom(flows).Draw(t, "flow")
			slow.agenda.runTo(now)
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				rp.Notify(now, wire.CE, 0)
				slow.becn(now)
			case 2:
				rp.Notify(now, ue, 0)
				slow.undetermined()
			}
			if got := rapid.SampledFrom(flows).Draw(t, "asked").Rate(now); !same(got, slow.rate()) {
				t.Fatalf("at %v: %v, want %.0f at index %d", now, got, slow.rate(), slow.index)
			}
		}
	})
	n.reached(t, "limit", "timer begins", "timer ends", "held")
}

// Flows of one port share an index only where it is said so.
func TestIBCCAlone(t *testing.T) {
	p, port := ibccParams(), &Port{}
	p.Shared = false
	a, b := NewIBCC(p, port), NewIBCC(p, port)
	if a.Notify(0, wire.CE, 0); a.Rate(0) == line || b.Rate(0) != line {
		t.Errorf("after a notice to one they are at %v and %v", a.Rate(0), b.Rate(0))
	}
}

// An acknowledgement without a mark changes nothing, behind TCD's switches neither: the index goes on falling.
func TestAcknowledgementsWithoutAMark(t *testing.T) {
	p := *ibccParams()
	p.Ternary = true
	a, b := AckedIBCC{NewIBCC(&p, nil)}, NewIBCC(&p, nil)
	a.Ack(0, &Ack{CE: true})
	b.Notify(0, wire.CE, 0)
	a.Ack(1, &Ack{})
	for now := units.Time(0); now < units.Millisecond; now += 10 * units.Microsecond {
		if a.Rate(now) != b.Rate(now) {
			t.Fatalf("at %v: %v, without the acknowledgement %v", now, a.Rate(now), b.Rate(now))
		}
	}
	if a.Rate(units.Millisecond) != line {
		t.Errorf("a millisecond later it is at %v", a.Rate(units.Millisecond))
	}
}
