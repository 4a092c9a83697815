package agent_test

import (
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/pfc"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// cnpLeaves is when the first CNP for a marked frame passes the wire, with a
// delay of the notification point.
func cnpLeaves(t *testing.T, np func() cnp.NP, delay units.Time) (at units.Time, all int) {
	p := newPair(t, nil, func(c *agent.Config) {
		c.NP, c.NPDelay = np(), delay
		c.NewRP = func(*ratelimit.Port) ratelimit.RP { return ratelimit.Unlimited{Line: rate} } // CNPs must not change what comes
	})
	p.wire.drop = func(b []byte) bool {
		var h wire.Header
		if wire.Parse(b, &h); h.BTH == 0 {
			return false
		}
		switch wire.BTH(b[h.BTH:]).Opcode() {
		case wire.OpCNP:
			if all++; at == 0 {
				at = p.Now()
			}
		case wire.OpSendFirst, wire.OpSendMiddle, wire.OpSendLast, wire.OpSendOnly:
			wire.SetECN(b[h.L3:], wire.CE)
		}
		return false
	}
	p.send(1, 100*units.KB, ms)
	p.run(4 * ms)
	if sent := p.b.Stats(p.Now()).NPSent; int(sent) != all {
		t.Errorf("%d CNPs sent, %d passed", sent, all)
	}
	return at, all
}

// Every CNP is later by the delay to the picosecond, and none is lost by it: of a
// notification point that answers at once, and of one with periods.
func TestNPDelay(t *testing.T) {
	for name, np := range map[string]func() cnp.NP{
		"dcqcn": func() cnp.NP { return cnp.NewDCQCN(cnp.DCQCNParams{Interval: 50 * units.Microsecond}, 4) },
		"pcn":   func() cnp.NP { return cnp.NewPCN(cnp.PCNParams{Period: 50 * units.Microsecond, Percent: 95}, 4) },
	} {
		at, all := cnpLeaves(t, np, 0)
		if all < 2 {
			t.Fatalf("%s: %d CNPs", name, all)
		}
		for _, delay := range []units.Time{1, 10 * units.Microsecond, 55 * units.Microsecond, ms} {
			if later, n := cnpLeaves(t, np, delay); later != at+delay || n != all {
				t.Errorf("%s, delay %v: the first of %d CNPs at %v, without it the first of %d at %v", name, delay, n, later, all, at)
			}
		}
	}
}

// pausedFor runs a sender that is paused at 1 ms for so many quanta and returns
// how many frames it sends after that, and for how long it was paused by then.
func pausedFor(t *testing.T, delay units.Time, frames ...pfc.Frame) (sent uint64, paused units.Time) {
	p := newPair(t, cnp.Silent{}, func(c *agent.Config) { c.PauseDelay = delay })
	p.send(1, 0, 0)
	p.run(ms)
	before := p.a.Flow(p.Now(), 0).Frames
	b := make([]byte, pfc.FrameLen)
	for _, f := range frames {
		f.Encode(b, mac(9))
		p.inject(b)
	}
	p.run(2 * ms)
	return p.a.Flow(p.Now(), 0).Frames - before, p.a.Stats(p.Now()).Ports[0].Egress.Paused[3]
}

// A port goes on sending for exactly the delay, and is paused as long as it was told to.
func TestPauseDelay(t *testing.T) {
	xoff, xon := pfc.Frame{Enable: 1 << 3}, pfc.Frame{Enable: 1 << 3}
	xoff.Quanta[3] = 1000 // 51.2 us
	frame := units.Rate(rate).Serialize(1082)
	all, _ := pausedFor(t, 0)
	for _, delay := range []units.Time{0, 20 * units.Microsecond, 100 * units.Microsecond} {
		sent, paused := pausedFor(t, delay, xoff)
		lost := all - sent
		if want := uint64(51_200 * units.Nanosecond / frame); paused != 51_200*units.Nanosecond || lost+1 < want || lost > want+1 {
			t.Errorf("delay %v: paused for %v, %d frames fewer", delay, paused, lost)
		}
		if _, paused := pausedFor(t, delay, xoff, xon); paused != 0 {
			t.Errorf("delay %v: an XON right after the XOFF, and paused for %v", delay, paused)
		}
	}
	xoff.Quanta[3] = 65_535
	frames := func(delay units.Time) uint64 { n, _ := pausedFor(t, delay, xoff); return n }
	if at0, at50 := frames(0), frames(50*units.Microsecond); at50-at0 < uint64(50*units.Microsecond/frame) || at50-at0 > uint64(50*units.Microsecond/frame)+1 {
		t.Errorf("%d frames after a long pause came, %d with 50 us of delay: the difference is not what 50 us carry", at0, at50)
	}
}

// A flood of PFC frames costs bounded memory, and the last of them counts.
func TestPauseDelayUnderFlood(t *testing.T) {
	p := newPair(t, cnp.Silent{}, func(c *agent.Config) { c.PauseDelay = ms })
	p.send(1, 0, 0)
	p.run(ms)
	b := make([]byte, pfc.FrameLen)
	for i := range 100_000 {
		f := pfc.Frame{Enable: 1 << 3}
		f.Quanta[3] = uint16(i%2) * 65_535
		f.Encode(b, mac(9))
		p.inject(b)
	}
	p.run(2*ms + 10*units.Microsecond)
	if st := p.a.Stats(p.Now()).Ports[0]; p.a.Paused() != 1<<3 || st.Egress.Pauses[3] != 50_000 || st.Egress.Resumes[3] != 50_000 {
		t.Errorf("paused %b, %+v", p.a.Paused(), st.Egress)
	}
}
