package units

import (
	"bytes"
	"math"
	"time"
)

// Time is an instant since a world began, or a span, in picoseconds.
type Time int64

// Spans.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond

	// Never is later than every instant: "no timer is armed".
	Never Time = math.MaxInt64
)

var timeUnits = []unit{
	{"ps", int64(Picosecond)}, {"ns", int64(Nanosecond)}, {"us", int64(Microsecond)}, {"\u00b5s", int64(Microsecond)},
	{"ms", int64(Millisecond)}, {"s", int64(Second)}, {"m", 60 * int64(Second)}, {"h", 3600 * int64(Second)},
	{"\u03bcs", int64(Microsecond)}, // the Greek letter, which looks like the micro sign
}

// ParseTime reads "50us", "1.5ms", "300s". Units: ps ns us µs ms s m h.
// Errors: ErrSyntax, ErrNoUnit, ErrUnit, ErrInexact (finer than 1 ps), ErrOverflow (beyond 106 days).
func ParseTime(s string) (Time, error) {
	v, err := parse("time", s, timeUnits)
	return Time(v), err
}

// String prints t so that ParseTime reads the same value; Never is "never".
func (t Time) String() string {
	if t == Never {
		return "never"
	}
	return format(int64(t), timeUnits)
}

// Seconds is for people and for plots; nothing that decides an order uses it.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// Duration rounds t down to the nanoseconds of the standard library.
func (t Time) Duration() time.Duration { return time.Duration(t / Nanosecond) }

// FromDuration converts d; spans beyond 106 days become Never.
func FromDuration(d time.Duration) Time {
	if d > time.Duration(Never/Nanosecond) {
		return Never
	}
	return Time(d) * Nanosecond
}

// Add returns t+d, or Never if that is out of range or either of them is Never.
func (t Time) Add(d Time) Time {
	if sum := t + d; d < 0 || sum >= t {
		return sum
	}
	return Never
}

// UnmarshalText implements encoding.TextUnmarshaler for configuration files.
func (t *Time) UnmarshalText(b []byte) (err error) { *t, err = ParseTime(string(b)); return err }

// UnmarshalJSON implements json.Unmarshaler: what MarshalText wrote, Never included, which no configuration may have.
func (t *Time) UnmarshalJSON(b []byte) error {
	text := string(bytes.Trim(b, `"`))
	if text == Never.String() {
		*t = Never
		return nil
	}
	return t.UnmarshalText([]byte(text))
}

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
