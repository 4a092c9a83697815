package fabric

import "photon/units"

// KeyPortBits is how many bits of a key are the port's number: see Span.
const KeyPortBits = 16

// Departure is a frame that leaves within a span.
type Departure struct {
	Frame
	Gone units.Time // when its last bit has left
	Port int32      // of the node
}

// Wire is what world and node tell each other of a port for a span: the world when Transmit is due as it begins, the
// node when it is due as it ends.
type Wire struct {
	At       units.Time // when Transmit is due; units.Never: nothing waits
	PerByte  uint16     // picoseconds that a byte takes; 0: there is no link
	Overhead int16      // bytes that the link adds to a frame
}

// Took is how long a frame of length bytes occupies the link.
func (w *Wire) Took(length uint16) units.Time {
	return units.Time(max(0, int(length)+int(w.Overhead))) * units.Time(w.PerByte)
}

// Span is a span of time at a node: what arrives within it, and what leaves.
type Span struct {
	Base, End units.Time // when it begins, and before when its events are
	// Keys say when frames arrive, in picoseconds from Base on, and in their lowest KeyPortBits at which port. They are
	// sorted. Behind the last is one that is beyond the span.
	Keys       []uint64
	Frames     []Frame     // that arrive, one for each key but the last: the node may change of them what does not travel
	Wires      []Wire      // by port
	Idle       int         // how often a port that was to be served had nothing to send
	Departures []Departure // of each port in order
}

// AddDeparture appends a place for one more frame that leaves, which the node fills in.
func (x *Span) AddDeparture() *Departure {
	n := len(x.Departures)
	if n == cap(x.Departures) {
		x.Departures = append(x.Departures, Departure{})
	}
	x.Departures = x.Departures[:n+1]
	return &x.Departures[n]
}

// Spanner is a Node that can be told all that arrives within a span, by a world that knows it: the simulator.
type Spanner interface {
	Server
	// Span does what Receive and Transmit would do if they were called for one event after the other, until the span
	// ends. In x.Wires it says when ports are to be served then, and in x.Departures what has left. It does not call
	// Env.Wake.
	Span(x *Span)
}

// Within is how many of keys, which are sorted, are of arrivals before the span's end. Of the first known it is known.
func (x *Span) Within(keys []uint64, known int) int {
	n := len(keys)
	for n > known && x.At(keys[n-1]) >= x.End {
		n--
	}
	return n
}

// At is the time of a key.
func (x *Span) At(key uint64) units.Time { return x.Base + units.Time(key>>KeyPortBits) }
