package ratelimit

import (
	"testing"

	"photon/units"
	"photon/wire"
)

// A flow that begins below line rate sends at that rate, and grows from there
// if nothing is heard of congestion and its scheme grows by itself.
func TestStartAt(t *testing.T) {
	pcn := &PCNParams{Line: line, WMin: 1. / 128, WMax: 0.5, Min: units.Mbps}
	for _, c := range []struct {
		name  string
		rp    Starter
		grows bool // by time and bytes alone
	}{
		{"pcn", NewPCN(pcn), false},
		{"qcn", NewQCN(qcnParams(), 1), true},
		{"dcqcn", NewDCQCN(dcqcnParams()), true},
		{"tcd", NewTCD(dcqcnParams(), false), true},
		{"dcqcn+", NewDCQCNPlus(plusParams(), nil), true},
		{"mlx", NewMlx(mlxParams()), true},
		{"ibcc", NewIBCC(ibccParams(), nil), true},
		{"timely", NewTimely(timelyParams()), false},
		{"hpcc", NewHPCC(hpccParams()), false},
		{"powertcp", NewPowerTCP(&PowerTCPParams{Line: line, Min: 100 * units.Mbps, BaseRTT: hpccParams().BaseRTT, Gamma: 0.9, AI: 1250}), false},
	} {
		full := c.rp.Rate(0)
		at := units.Millisecond
		for i := range units.Time(20) { // what was heard before does not count
			c.rp.Notify(at/2+i, wire.CE, 60)
		}
		c.rp.StartAt(at, full/4)
		if r := c.rp.Rate(at); !near(float64(r), float64(full/4), 1e-3) {
			t.Errorf("%s begins at %v, not %v", c.name, r, full/4)
		}
		if w, ok := c.rp.(Windower); ok && !near(float64(w.Window()), float64(full.Bytes(hpccParams().BaseRTT))/4, 1e-3) {
			t.Errorf("%s: a window of %v", c.name, w.Window())
		}
		later := c.rp.Rate(at + units.Second)
		if c.grows != (later > full/4) {
			t.Errorf("%s is at %v a second later", c.name, later)
		}
		c.rp.StartAt(at, 2*full)
		if r := c.rp.Rate(at); r != full {
			t.Errorf("%s begins at %v, above line rate", c.name, r)
		}
		c.rp.StartAt(at, 1)
		if r := c.rp.Rate(at); r <= 1 || r > full/2 {
			t.Errorf("%s begins at %v, not at its smallest rate", c.name, r)
		}
		c.rp.Start(at)
		if r := c.rp.Rate(at); r != full {
			t.Errorf("%s begins at %v, not at line rate", c.name, r)
		}
	}
}

// The rate at which a flow begins is where it wants to be: fast recovery does not lead it away from there, and the
// cycles of its timers and counters are whole.
func TestStartAtIsTheTarget(t *testing.T) {
	for _, c := range []struct {
		name  string
		rp    Starter
		first units.Time
	}{
		{"qcn", NewQCN(qcnParams(), 1), qcnParams().TimeReset},
		{"dcqcn", NewDCQCN(dcqcnParams()), dcqcnParams().RateTimer},
		{"dcqcn+", NewDCQCNPlus(plusParams(), nil), plusParams().Timer},
		{"mlx", NewMlx(mlxParams()), mlxParams().RateTimer},
	} {
		name, rp, first, at := c.name, c.rp, c.first, units.Second
		rp.StartAt(at, line/4)
		if r := rp.Rate(at + first*5/4); r != line/4 {
			t.Errorf("%s is at %v after its first cycle", name, r)
		}
		if q, ok := rp.(*QCN); ok {
			q.StartAt(at, line/4)
			for range 100 {
				q.Sent(at, int(q.params.ByteReset)/200)
			}
			if q.Rate(at + first/2); q.byteStage != 0 || q.timeStage != 0 {
				t.Errorf("half a cycle, and qcn is in stages %d and %d", q.byteStage, q.timeStage)
			}
		}
	}
	h := NewHPCC(hpccParams())
	w := h.Window()
	h.StartAt(units.Second, line/4)
	for i := range uint64(2) { // an idle link adds to the window of now, and not to that of line rate
		idle := make(wire.INT, wire.INTLen)
		idle.Push(wire.INTHop{Rate: line, Time: units.Time(i) * units.Microsecond})
		h.Ack(units.Second+units.Time(i)*units.Microsecond, &Ack{Packet: i, Next: i + 1, Hops: idle})
	}
	if h.Window() > w/4+2*h.params.AI {
		t.Errorf("hpcc has a window of %v, and began with a quarter of %v", h.Window(), w)
	}
	m := NewTimely(timelyParams())
	for i := range uint64(9) {
		m.Ack(units.Time(i)*units.Millisecond, &Ack{Packet: i, Next: i + 1, RTT: units.Millisecond})
	}
	m.StartAt(units.Second, line/4)
	if m.Ack(units.Second, &Ack{RTT: 100 * units.Millisecond, CE: true}); m.Rate(0) != line/4 {
		t.Errorf("the first round-trip time of a flow is compared with that of another: %v", m.Rate(0))
	}
}
