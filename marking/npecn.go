package marking

import "photon/units"

// NPECN is PCN's Non-PAUSE ECN (NSDI'20 section 5.1, figure 7): frames that
// waited because the port was paused are not marked; of the others, each that
// leaves a queue behind is, the threshold being zero. Thereby a port in real
// congestion marks everything, one without congestion nothing, and one in
// quasi-congestion, whose queue comes from pauses, a part.
//
// Edges that the paper leaves open: the queue is what remains after the frame
// left, so a frame that empties the queue is not marked; and only a change from
// paused to running counts as a RESUME, the pause timer running out included.
// Another RESUME of a running queue would unmark frames that were never paused.
type NPECN struct {
	pn int // paused frames still to leave, PN in figure 7
}

var (
	_ Runner  = (*NPECN)(nil)
	_ Idler   = (*NPECN)(nil)
	_ Flusher = (*NPECN)(nil)
)

// NewNPECN returns the congestion point of PCN.
func NewNPECN() *NPECN { return &NPECN{} }

// Dequeue lets the paused frames pass and marks any other that leaves a queue behind.
func (n *NPECN) Dequeue(_ units.Time, q Queue, _ *Packet) Mark {
	if n.pn > 0 {
		n.pn--
		return Unchanged
	}
	if q.Bytes > 0 {
		return Congestion
	}
	return Unchanged
}

// DequeueRun judges several frames at once: the paused ones come first, and only the last frame of all
// can leave an empty queue.
func (n *NPECN) DequeueRun(_ units.Time, q Queue, sizes []uint16) (marked uint64) {
	end := len(sizes)
	paused := min(n.pn, end)
	n.pn -= paused
	if q.Frames == end {
		end--
	}
	return 1<<(uint(end)&63) - 1<<(uint(min(paused, end))&63)
}

// LeavesUnqueuedUnchanged says that a frame alone leaves no queue behind. None was paused: those stood in the queue.
func (n *NPECN) LeavesUnqueuedUnchanged() {}

// Resume counts the frames that were paused: PN = N.
func (n *NPECN) Resume(_ units.Time, q Queue) { n.pn = q.Frames }

// Flush forgets the paused frames: they will not leave.
func (n *NPECN) Flush() { n.pn = 0 }
