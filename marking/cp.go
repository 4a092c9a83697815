package marking

import "photon/units"

// Queue is what a CP may know of its egress queue at one moment.
type Queue struct {
	Bytes  units.Size
	Frames int
}

// Mark is the verdict on one frame.
type Mark uint8

// Verdicts.
const (
	Keep       Mark = iota // leave the ECN field alone
	Congestion             // set CE
)

// CP is the congestion point of one egress queue. One goroutine at a time calls it.
type CP interface {
	// Dequeue judges a frame of size bytes that just left the queue; q is what it leaves behind.
	Dequeue(now units.Time, q Queue, size int) Mark
	// Resume tells that the queue may send again after a pause, by XON or because the pause timer ran out.
	Resume(now units.Time, q Queue)
}
