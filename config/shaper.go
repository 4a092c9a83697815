package config

import (
	"cmp"
	"fmt"

	"photon/dataplane"
	"photon/units"
)

// Shaper bounds what leaves a queue or a port.
type Shaper struct {
	Rate  Value[units.Rate] `yaml:"rate"`  // on the wire; 0bps: none
	Burst Value[units.Size] `yaml:"burst"` // what may leave at once, on the wire; what the rate makes in 1ms, or two frames of the longest kind
}

// or is what x says, and where it says nothing, what another does.
func (x Shaper) or(other Shaper) Shaper {
	pick(&x.Rate, other.Rate)
	pick(&x.Burst, other.Burst)
	return x
}

// line is where something of it stands.
func (x Shaper) line() int { return cmp.Or(x.Rate.Line, x.Burst.Line) }

// params are what the switch goes by, where frames take at most so many bytes on the wire.
func (x Shaper) params(longest units.Size) (s dataplane.Shaper, err error) {
	const usual, most = units.Millisecond, 1000 * units.Second
	switch rate, burst := x.Rate.V, x.Burst.V; {
	case !x.Rate.IsSet() && x.Burst.IsSet():
		return s, fail(x.Burst, "shaper: a burst needs a rate")
	case rate < 0:
		return s, fail(x.Rate, "shaper: rate %v must be positive (0bps: none)", rate)
	case rate == 0:
		return s, nil
	case !x.Burst.IsSet() && rate.Serialize(2*longest) > most:
		return s, fail(x.Rate, "shaper: rate %v: two of the longest frames would take longer than %v", rate, most)
	case !x.Burst.IsSet():
		return dataplane.Shaper{Rate: rate, Burst: max(rate.Bytes(usual), 2*longest)}, nil
	case burst < longest:
		return s, fail(x.Burst, "shaper: burst %v is less than the longest frame, %v on the wire: it could not leave", burst, longest)
	case rate.Serialize(burst) > most:
		return s, fail(x.Burst, "shaper: burst %v is more than %v of %v", burst, most, rate)
	default:
		return dataplane.Shaper{Rate: rate, Burst: burst}, nil
	}
}

func describeShaper(s dataplane.Shaper) string {
	return fmt.Sprintf("at most %v, %v at once", s.Rate, s.Burst)
}
