package scheme

import (
	"cmp"
	"errors"
	"fmt"
	"testing"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// Whatever value a parameter is given, it is refused, or the scheme works with it: no point goes on for ever, also
// after a silence of days, and a flow always may send something, no faster than the line.
func TestEndsOfRanges(t *testing.T) {
	values := []string{
		"0", "1", "2", "255", "16383", "65535", "1000000", "9223372036854775807", "1e-300", "1e-9", "0.001", "0.5", "0.999999999", "1e300",
		"0s", "1ps", "1ns", "100ns", "1us", "1ms", "1s", "2500h", "0B", "1B", "100B", "10KB", "1GB", "1TB", "9000000TB", "1bps", "1Mbps", "1Gbps", "25Gbps",
		"yes", "no", "tick", "mark", "first_packet", "fixed", "ack", "cn", "sl",
	}
	accepted := 0
	for _, name := range Names() {
		s, err := Get(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range s.Params {
			for _, v := range values {
				n := Network{Line: 25 * units.Gbps, RTT: 10 * units.Microsecond, Seed: 1}
				parts, err := s.Build(n, map[string]Override{p.Name: {v, "the test"}})
				if err != nil {
					continue
				}
				accepted++
				if err := cmp.Or(congest(parts, n.Line), react(parts, n.Line)); err != nil {
					t.Errorf("%s: %s = %s: %v", name, p.Name, v, err)
				}
			}
		}
	}
	if accepted < 500 {
		t.Errorf("only %d values were accepted", accepted)
	}
}

// mostCNPs is more than a congestion point may send at one instant: one for each flow that it tells apart.
const mostCNPs = 1 << 17

// congest shows a congestion point queues that come, are paused and go.
func congest(parts Parts, line units.Rate) error {
	now, p := units.Time(0), &marking.Packet{}
	p.Show(1500, wire.EthernetLen, make([]byte, 1500))
	cp := parts.CP(marking.Place{Port: 1, Prio: 3, Rate: line / 16})
	for i := range 200 {
		if now += units.Microsecond; i%100 == 99 {
			now += 10 * units.Second
		}
		q := marking.Queue{Bytes: units.Size(i%50) * 30_000, Frames: i % 50 * 20}
		if sampler, ok := cp.(marking.Sampler); ok {
			sampler.Enqueue(now, q, p)
		}
		if i%7 == 0 {
			cp.Resume(now, q)
		}
		cp.Dequeue(now, q, p)
		if notifier, ok := cp.(marking.Notifier); ok {
			for asked := 0; notifier.Next() <= now; asked++ {
				if asked == mostCNPs {
					return errors.New("CNPs that are due for ever")
				}
				notifier.Poll(now, q)
			}
		}
	}
	return nil
}

// react gives a sender what the receiver of its marked packets says, and notices and acknowledgements of all kinds.
func react(parts Parts, line units.Rate) error {
	rp, np := parts.RP(&ratelimit.Port{}), parts.NP(3)
	now, hops := units.Time(0), make(wire.INT, wire.INTLen)
	rp.Start(0)
	for i := range 500 {
		switch now += units.Microsecond; {
		case i == 250:
			now += 100 * 3600 * units.Second
		case i%100 == 99:
			now += 10 * units.Second
		}
		np.Data(now, i%3, []uint8{wire.CE, wire.CE, wire.ECT0}[i%3], 9000)
		for {
			_, n, ok := np.Poll(now)
			if !ok {
				break
			}
			rp.Notify(now, n.ECN, n.Word)
		}
		rp.Sent(now, 9000)
		if i%40 == 0 {
			rp.Notify(now, []uint8{wire.CE, cnp.TCDUndetermined, wire.NotECT}[i%3], []uint32{0, 1, 63, 1000, 65_000, 1<<32 - 1}[i/40%6])
		}
		clear(hops)
		hops.Push(wire.INTHop{Rate: line, Time: now, TxBytes: units.Size(i) * 9000, Queue: units.Size(i%100) * 8000})
		if a, ok := rp.(ratelimit.Acker); ok {
			a.Ack(now, &ratelimit.Ack{Packet: uint64(i), Next: uint64(i + 5), RTT: units.Time(i%7+1) * 10 * units.Microsecond, CE: i%2 == 0, Hops: hops})
		}
		if w, ok := rp.(ratelimit.Windower); ok && w.Window() <= 0 {
			return fmt.Errorf("a window of %v", w.Window())
		}
		if r := rp.Rate(now); r <= 0 || r > line {
			return fmt.Errorf("a rate of %v", r)
		}
	}
	return nil
}
