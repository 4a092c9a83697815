package pfc

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// A history agrees with what is counted beside it: as many pauses end as there are transitions, as long together as
// the time that was spent paused, and no two of one priority and direction overlap; and its last ones are those that a
// history with room for all has last.
func TestHistoryAgreesWithTheCounters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const lossless = 1<<3 | 1<<4
		e := NewEgress(lossless, 10*units.Gbps)
		g := NewIngress(IngressConfig{Enabled: lossless, Rate: 10 * units.Gbps, Thresholds: [Classes]Thresholds{
			3: {XOFF: 1000, XON: 500, Headroom: 1 << 20}, 4: {XOFF: 1000, XON: 500, Headroom: 1 << 20}}})
		all, last := NewHistory(1<<12), NewHistory(5)
		twin := NewEgress(lossless, 10*units.Gbps)
		e.SetHistory(all)
		g.SetHistory(all)
		twin.SetHistory(last)
		now := units.Time(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += units.Time(rapid.Int64Range(0, int64(2*ms)).Draw(t, "wait"))
			prio := rapid.Uint8Range(3, 4).Draw(t, "priority")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				f := Frame{Enable: 1 << prio}
				f.Quanta[prio] = rapid.SampledFrom([]uint16{0, 0, 1, 1000, MaxQuanta}).Draw(t, "quanta")
				for _, x := range []*Egress{&e, &twin} {
					x.Expire(now)
					x.Receive(now, &f)
				}
			case 1:
				g.Admit(prio, 700)
			case 2:
				if n := int64(g.Bytes(prio)); n > 0 {
					g.Release(prio, n)
				}
			case 3:
				e.Expire(now)
				twin.Expire(now)
			}
			var f Frame
			g.Poll(now, &f)
		}
		list, ever := all.Ended(nil)
		list = g.Lasting(e.Lasting(now, list))
		rx, tx := e.Counters(now), g.Counters(now)
		var count, lasting [2][Classes]uint64
		var time, end [2][Classes]units.Time
		for _, p := range list {
			way := 0
			if p.Sent {
				way = 1
			}
			until := p.Until
			if until == units.Never {
				until = now
				lasting[way][p.Priority]++
			} else if count[way][p.Priority]++; until > now {
				t.Fatalf("%+v ends after %v", p, now)
			}
			if p.From < end[way][p.Priority] || until < p.From {
				t.Fatalf("%+v overlaps with the one before, which ended at %v", p, end[way][p.Priority])
			}
			end[way][p.Priority] = until
			time[way][p.Priority] += until - p.From
		}
		if time != [2][Classes]units.Time{rx.Paused, tx.Paused} {
			t.Fatalf("%v paused, counted %v and %v", time, rx.Paused, tx.Paused)
		}
		for p := range Classes {
			if n := count[0][p]; n != rx.Transitions[p] || count[1][p] != tx.Transitions[p] {
				t.Fatalf("priority %d: %d and %d pauses ended, counted %d and %d", p, n, count[1][p], rx.Transitions[p], tx.Transitions[p])
			}
			if lasting[1][p] != uint64(tx.PausedNow>>p&1) || lasting[0][p] != uint64(rx.PausedNow>>p&1) {
				t.Fatalf("priority %d: pauses last that nobody holds", p)
			}
		}
		var received []Pause
		for _, p := range list[:min(uint64(len(list)), ever)] {
			if !p.Sent {
				received = append(received, p)
			}
		}
		few, n := last.Ended(nil)
		if n != uint64(len(received)) || len(few) != min(5, len(received)) {
			t.Fatalf("%d of %d are kept, of %d", len(few), n, len(received))
		}
		for i, p := range few {
			if p != received[len(received)-len(few)+i] {
				t.Fatalf("%+v is kept in the place of %+v", p, received[len(received)-len(few)+i])
			}
		}
	})
}
