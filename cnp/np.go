package cnp

import "photon/units"

// NP is the notification point of one host. Flows are slots from 0 to the
// capacity it was made with. One goroutine at a time calls it.
type NP interface {
	// Data reports that a frame of a flow arrived, of bytes on the wire
	// (preamble and gap included), with an ECN codepoint.
	Data(now units.Time, flow int, ecn uint8, bytes int)
	// Next is when Poll will have a notice if no more data arrives, or Never.
	Next() units.Time
	// Poll returns a notice that is due at now and the flow to whose sender it goes. If there is none, Next is later
	// than now after it.
	Poll(now units.Time) (flow int, n Notice, ok bool)
	// Forget clears what is known of a flow, because its slot goes to another.
	Forget(flow int)
}

// Elastic is a notification point that may begin with a capacity of 0 and grow with
// the flows that there are.
type Elastic interface {
	NP
	// Room makes room for flows 0 to flows-1, no fewer than before; what is known stays.
	Room(flows int)
	// Quiet reports whether there will be no notice of a flow of which nothing more
	// arrives: it can be forgotten.
	Quiet(flow int) bool
}
