package config

import (
	"fmt"
	"strconv"
	"strings"

	"photon/units"
)

// Length is how long a cable is, in metres.
type Length float64

// perMetre is how long light takes in a fibre, and a signal in copper, about.
const perMetre = 5 * units.Nanosecond

// UnmarshalText reads 40m, as SONiC writes the lengths of cables.
func (l *Length) UnmarshalText(b []byte) error {
	number, ok := strings.CutSuffix(string(b), "m")
	v, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(v >= 0 && v <= 100_000) {
		return fmt.Errorf("length %q: write it in metres, like 40m, up to 100000m", b)
	}
	*l = Length(v)
	return nil
}

// Delay is how long a signal takes to the other end.
func (l Length) Delay() units.Time { return units.Time(float64(l) * float64(perMetre)) }
