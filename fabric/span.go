package fabric

import "photon/units"

// KeyPortBits is how many bits of a key say the port: see Span.
const KeyPortBits = 16

// Departure is a frame that leaves within a span.
type Departure struct {
	Frame
	Gone units.Time // when all of it has left
	Port int32
}

// Wire is what a world says of a port for a span.
type Wire struct {
	At       units.Time // when the port sends what waits; units.Never: nothing waits
	PerByte  uint16     // picoseconds that a byte takes; 0: there is no link
	Overhead int16      // bytes that the link adds to a frame
}

// took is how long a frame occupies the link.
func (w *Wire) Took(length uint16) units.Time {
	return units.Time(max(0, int(length)+int(w.Overhead))) * units.Time(w.PerByte)
}

// Span is a span of time at a node: what arrives within it, and what leaves.
type Span struct {
	Base, End units.Time
	// Keys say when frames arrive, in picoseconds from Base on, and in their lowest KeyPortBits at which port. They are
	// sorted. Behind the last is one that is beyond the span.
	Keys   []uint64
	Frames []Frame     // that arrive: the node may change of them what does not travel
	Wires  []Wire      // by port
	Idle   int         // how often a port that was to be served had nothing to send
	Left   []Departure // of each port in order
}

// leave makes place for one more frame that leaves.
func (x *Span) Leave() *Departure {
	n := len(x.Left)
	if n == cap(x.Left) {
		x.Left = append(x.Left, Departure{})
	}
	x.Left = x.Left[:n+1]
	return &x.Left[n]
}

// Spanner is a Node that can be told all that arrives within a span.
type Spanner interface {
	Server
	// Span does what Receive and Transmit would do if they were called for one event after the other, until the span
	// ends. In x.Wires it says when ports are to be served then, and in x.Left what has left. It does not call Env.Wake.
	Span(x *Span)
}

// within is how many of some keys, of which so many are, are of arrivals within the span.
func (x *Span) Within(keys []uint64, some int) int {
	n := len(keys)
	for n > some && x.At(keys[n-1]) >= x.End {
		n--
	}
	return n
}

// at is the time of a key.
func (x *Span) At(key uint64) units.Time { return x.Base + units.Time(key>>KeyPortBits) }
