package sim

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"photon/units"
)

// A sampler that rests sees all that one sees which is called at each of its instants, at the same instants, whatever
// other samplers do, and in any number of parts; and it is called less often.
func TestWhoRestsMissesNothing(t *testing.T) {
	for seed := range uint64(20) {
		type sight struct {
			seen  []string
			calls int
		}
		play := func(rests bool, parts int) (s sight) {
			d := newDumbbell(t, "dcqcn", units.Microsecond)
			d.SetParts(parts)
			r := rand.New(rand.NewPCG(seed, 2))
			due := units.Time(r.Int64N(int64(3 * units.Millisecond))) // the sampler itself makes a flow then
			last, qp, ended := "", 0, 0
			look := func(now units.Time) units.Time {
				s.calls++
				state := ""
				for _, h := range d.hosts {
					ended += len(h.TakeResults())
					state += fmt.Sprint(h.DataSent(), " ")
				}
				state += fmt.Sprint(ended, " ")
				for _, sw := range d.switches {
					state += fmt.Sprint(sw.QueueBytes(0, 3), sw.QueueBytes(1, 3), " ")
				}
				if state != last {
					s.seen = append(s.seen, fmt.Sprint(now, " ", state))
					last = state
				}
				if due <= now {
					due = units.Never
					d.flow(t, 1, 2, 99, 3000, now+200*units.Microsecond)
				}
				return due
			}
			other := func() {
				d.Every(units.Time(50+r.IntN(400))*units.Microsecond, func(now units.Time) {
					if r.IntN(4) == 0 && qp < 10 {
						qp++
						d.flow(t, 0, 3, qp, units.Size(1+r.IntN(20_000)), now+units.Time(r.Int64N(int64(300*units.Microsecond))))
					}
				})
			}
			first := seed%2 == 0
			if first {
				other()
			}
			if span := units.Time(1+r.IntN(20)) * units.Microsecond; rests {
				d.EveryBusy(span, look)
			} else {
				d.Every(span, func(now units.Time) { look(now) })
			}
			if !first {
				other()
			}
			for range 4 {
				d.run(t, d.Now()+units.Millisecond)
				qp++
				d.flow(t, 2, 1, 50+qp, 10_000, d.Now()+units.Time(r.Int64N(int64(300*units.Microsecond))))
			}
			return s
		}
		always := play(false, 1)
		for parts := 1; parts <= 2; parts++ {
			if got := play(true, parts); !reflect.DeepEqual(got.seen, always.seen) || got.calls >= always.calls {
				t.Fatalf("seed %d, %d parts: %d calls, %d without rest; seen\n%v\nwithout rest\n%v", seed, parts, got.calls, always.calls, got.seen, always.seen)
			}
		}
		if len(always.seen) < 10 {
			t.Errorf("seed %d: %d things to see", seed, len(always.seen))
		}
	}
}

// The instants at which a sampler is called stay those of its span, whatever is left out.
func TestSkippedInstants(t *testing.T) {
	for _, c := range []struct{ next, before, want units.Time }{
		{10, 9, 10}, {10, 10, 10}, {10, 19, 10}, {10, 20, 20}, {10, 29, 20}, {10, units.Never, units.Never / 10 * 10},
	} {
		s := sampler{every: 10, next: c.next}
		if s.skip(c.before); s.next != c.want && (c.before != units.Never || s.next < units.Never-20 || s.next%10 != 0 || s.next >= units.Never) {
			t.Errorf("from %d, idle until %d: next at %d, want %d", c.next, c.before, s.next, c.want)
		}
	}
}

// What is called at its own times is called at these, once each, whatever other samplers do that rest meanwhile, and in
// any number of parts; what it makes a node do begins at once.
func TestAtKeepsItsTimes(t *testing.T) {
	for seed := range uint64(20) {
		for parts := 1; parts <= 2; parts++ {
			r := rand.New(rand.NewPCG(seed, 3))
			want := []units.Time{units.Time(r.IntN(2)) * units.Millisecond}
			for range 7 { // receivers here know eight flows
				want = append(want, want[len(want)-1]+1+units.Time(r.Int64N(int64(3*units.Millisecond))))
			}
			d := newDumbbell(t, "dcqcn", units.Microsecond)
			d.SetParts(parts)
			d.EveryBusy(7*units.Microsecond, func(units.Time) units.Time { return units.Never })
			var got []units.Time
			ended := 0
			take := func() {
				for _, h := range d.hosts {
					ended += len(h.TakeResults())
				}
			}
			d.At(want[0], func(now units.Time) units.Time {
				take()
				d.flow(t, 0, 3, len(got)+1, 1000, now)
				if got = append(got, now); len(got) == len(want) {
					return units.Never
				}
				return want[len(got)]
			})
			if err := d.Run(t.Context(), 40*units.Millisecond); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %d parts: called at %v, not at %v", seed, parts, got, want)
			}
			if take(); ended != len(want) {
				t.Errorf("seed %d, %d parts: %d of %d flows ended", seed, parts, ended, len(want))
			}
		}
	}
}
