package dpdk

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"photon/units"
)

// A gap is in the bucket whose bounds it lies between, whatever the clock's rate.
func TestPollsCountGaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hz := rapid.Uint64Range(1e9, 5e9).Draw(t, "hz")
		p := newPolls(hz)
		total := 0.0
		for range rapid.IntRange(1, 50).Draw(t, "gaps") {
			// As many of each magnitude.
			ticks := uint64(1) << rapid.IntRange(0, 34).Draw(t, "magnitude")
			ticks += rapid.Uint64Range(0, ticks).Draw(t, "ticks")
			before := p.Gaps
			p.gap(ticks)
			seconds := float64(ticks) / float64(hz)
			total += seconds
			for i := range p.Gaps {
				if p.Gaps[i] == before[i] {
					continue
				}
				const off = 1e-9 // a nanosecond of rounding
				if i > 0 && seconds < GapBound(i-1).Seconds()-off || i < GapBounds && seconds > GapBound(i).Seconds()+off {
					t.Fatalf("%d ticks of %d Hz, %v s, are in bucket %d", ticks, hz, seconds, i)
				}
			}
		}
		n := uint64(0)
		for _, c := range p.Gaps {
			n += c
		}
		if got := p.copy().Time.Seconds(); n == 0 || got < total*(1-1e-6)-1e-9 || got > total*(1+1e-6) {
			t.Fatalf("%v s in all, expected %v", got, total)
		}
	})
	if GapBound(0) != 64*units.Nanosecond || GapBound(GapBounds-1).Duration() < time.Second {
		t.Errorf("bounds from %v to %v", GapBound(0), GapBound(GapBounds-1))
	}
}

func TestPollsCountBursts(t *testing.T) {
	p := newPolls(2e9)
	for n := 1; n <= 128; n++ {
		p.rx(n)
	}
	p.tx(32)
	p.tx(1)
	if p.Rx != [BurstBounds]uint64{1, 1, 2, 4, 8, 16, 32, 64} || p.Tx != [BurstBounds]uint64{0: 1, 5: 1} || p.RxFrames != 128*129/2 || p.TxFrames != 33 {
		t.Errorf("%+v", p)
	}
	p.slept(200_000) // 100 us
	p.request(1_000)
	c := p.copy()
	q := c
	q.Add(&c)
	if q.Rx[5] != 32 || q.TxFrames != 66 || q.Slept[11] != 2 || q.Requests[4] != 2 || q.RequestTime != 2*time.Microsecond || (q.SleptTime-200*time.Microsecond).Abs() > 2 {
		t.Errorf("%+v", q)
	}
}

func BenchmarkPollsGap(b *testing.B) {
	p := newPolls(2_100_000_000)
	for i := uint64(0); b.Loop(); i++ {
		p.gap(200 + i&4095)
	}
}
