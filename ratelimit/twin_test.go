package ratelimit

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// What the slow twins of the reaction points share.

// alarm is a timer of a twin.
type alarm struct {
	at   units.Time
	rank int // who comes first at one instant
	out  func(at units.Time)
}

// agenda is a sorted list of alarms, at most one of each rank.
type agenda []alarm

func (a *agenda) set(rank int, at units.Time, out func(units.Time)) {
	a.cancel(rank)
	*a = append(*a, alarm{at, rank, out})
	slices.SortFunc(*a, func(x, y alarm) int {
		if x.at != y.at {
			return int(max(min(x.at-y.at, 1), -1))
		}
		return x.rank - y.rank
	})
}

func (a *agenda) cancel(rank int) {
	*a = slices.DeleteFunc(*a, func(x alarm) bool { return x.rank == rank })
}

// runTo rings every alarm that is due at now, one at a time.
func (a *agenda) runTo(now units.Time) {
	for len(*a) > 0 && (*a)[0].at <= now {
		first := (*a)[0]
		*a = (*a)[1:]
		first.out(first.at)
	}
}

// later draws when the next event happens: often at once, or at the very
// instant of the next alarm or just before it, where an off-by-one shows.
func (a *agenda) later(t *rapid.T, now, most units.Time) units.Time {
	switch when := rapid.IntRange(0, 7).Draw(t, "when"); {
	case when == 0:
		return now
	case when <= 2 && len(*a) > 0:
		return max(now, (*a)[0].at-units.Time(when-1))
	}
	return now + most*units.Time(rapid.Int64Range(1, 1000).Draw(t, "dt"))/1000
}

// often checks a property twenty times as often as rapid does by default.
func often(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	for range 20 {
		rapid.Check(t, property)
	}
}

// tally counts what the random sequences reached: a twin that agrees about
// nothing but the easy cases proves little.
type tally map[string]int

func (n tally) reached(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if n[name] < 50 {
			t.Errorf("only %d times: %s", n[name], name)
		}
	}
}

// same allows for the truncation to whole bits per second.
func same(got units.Rate, want float64) bool {
	return math.Abs(float64(got)-want) <= 1+1e-9*math.Abs(want)
}

func mbps(t *rapid.T, least, most int64, name string) units.Rate {
	return units.Rate(rapid.Int64Range(least, most).Draw(t, name)) * units.Mbps
}

func micros(t *rapid.T, least, most int64, name string) units.Time {
	return units.Time(rapid.Int64Range(least, most).Draw(t, name)) * units.Microsecond
}
