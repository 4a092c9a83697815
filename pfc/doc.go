// Package pfc is priority-based flow control (IEEE 802.1Qbb, now IEEE 802.1Q
// clause 36) as the two ends of a link see it.
//
//   - Frame encodes and decodes PFC and 802.3x PAUSE frames.
//   - Ingress is the receiving end: it accounts the bytes that came in through
//     one port per priority, and says when to send XOFF, XON and refreshes.
//   - Egress is the sending end: it keeps which priorities the peer has paused,
//     until XON or until the pause timer runs out, whichever is first.
//   - Headroom computes how many bytes can still arrive after XOFF was sent.
//
// Nothing here knows a clock, a queue or a device: time comes in as an
// argument and frames go out as values.
//
// The files, in the order in which they build on each other:
//
//	frame.go                           PFC and PAUSE frames
//	thresholds.go, headroom.go         XOFF and XON; what still arrives
//	ingress.go, pool.go                accounts of a port; the shared buffer
//	configure.go                       thresholds change while a port runs
//	egress.go, stops.go                what the peer has paused; what a node asks of it
//	watchdog.go, history.go, probe.go  storms; pauses that have ended; deadlocks
//	rebase.go                          the clock is set back
package pfc

// Classes is the number of priorities.
const Classes = 8

// Priorities are those of a set, the lowest first.
func Priorities(set uint8) []int {
	list := []int{}
	for prio := range Classes {
		if set>>prio&1 != 0 {
			list = append(list, prio)
		}
	}
	return list
}
