package units

// A clock of picoseconds in 63 bits is full after 106 days. One that is to run for longer is set back by a lap
// now and then, and whoever keeps instants of it moves them back by as much. Spans stay what they are.

// Lap is how far a clock is set back at a time, about 27 days.
const Lap Time = 1 << 61

// longAgo is further back than anything needs to be told from what is later. From it to the end of a lap, and
// a lap further, spans are still below Never.
const longAgo = -Never / 2

// Rebaser keeps instants of a clock, and moves them when that is set back. By is a multiple of Lap. It is
// called while nothing else is.
type Rebaser interface{ Rebase(by Time) }

// Rebase has v move the instants that it keeps, if it keeps any.
func Rebase(v any, by Time) {
	if r, ok := v.(Rebaser); ok {
		r.Rebase(by)
	}
}

// Back is the instant t by a clock that was set back. Never stays, and so does what was long ago.
func (t Time) Back(by Time) Time {
	if t == Never || t <= longAgo {
		return t
	}
	return max(t-by, longAgo)
}

// Rebase moves an instant back.
func (t *Time) Rebase(by Time) { *t = t.Back(by) }

// RebaseSet moves an instant back that is zero while there is none.
func (t *Time) RebaseSet(by Time) {
	if *t == 0 {
		return
	}
	if *t = t.Back(by); *t == 0 {
		*t = 1
	}
}

// RebaseAll moves instants back.
func RebaseAll(all []Time, by Time) {
	for i := range all {
		all[i].Rebase(by)
	}
}

// SinceBegan is, in seconds, when t was by a clock that was set back so many laps since it began at zero.
func SinceBegan(laps uint64, t Time) float64 { return float64(laps)*Lap.Seconds() + t.Seconds() }
