package fabric

import (
	"photon/internal/memory"
	"photon/pfc"
	"photon/units"
)

// Env is what a world gives a node at construction, one per worker: buffers, a way to say that a
// port must be looked at, and a way out for frames that need not wait. Only that worker uses it.
type Env struct {
	*Pool
	exits []Exit   // per port of the node
	out   []uint16 // ports with frames in their exits, as many as left says
	left  int
	// Queue asks the node to queue what arrives, even where an exit is open.
	Queue Queueing

	woken         []uint16     // ports whose due time moved since the world looked
	due           []units.Time // per port: when it asked for Transmit
	receivePaused []bool       // ports from which the node takes nothing at present

	// Paused, if set, is called for each arriving PFC or PAUSE frame that stops or restarts a priority of a port.
	Paused func(now units.Time, port int, f pfc.Frame)
	// Queued, if set, is called with the bytes that wait at a port of a switch whenever that number changes. It is set
	// before the node is made. Frames that bypass the queues never waited.
	Queued func(now units.Time, port int, bytes units.Size)
	_      [32]byte // pads Env to whole cache lines
}

// Queueing says when what arrives is to be queued although an exit is open.
type Queueing uint8

const (
	// QueueNothing: what may leave past the queues does.
	QueueNothing Queueing = iota
	// QueueIfDependent: ports of the node are to be served at this instant, too. A node queues if what one of its ports
	// does depends on another.
	QueueIfDependent
	// QueueAll: another frame arrives at this instant, or nobody looks into exits afterwards.
	QueueAll
)

// Exit is a port's way out past its queues. A node may put frames there while it is in Receive or Poll,
// if they would be the next that Transmit returns; the world sends them when that has returned.
type Exit struct {
	Free    units.Time // the exit takes a frame from then on
	PerByte units.Time // by which each byte on the wire puts that off
	Frames  []Frame    // places of frames; none: the world has no way past Transmit
	N       int32      // of them are taken
	Open    uint8      // the node's: priorities of which it lets frames pass
	Unseen  uint8      // the node's: of these, those of which it need not look at the frames
	_       [2]uint8
	Inline  [1]Frame // a place for worlds that need no more
}

// NewEnv returns an Env for a node of so many ports.
func NewEnv(pool *Pool, ports int) *Env {
	e := &Env{Pool: pool, exits: memory.Isolated[Exit](ports), out: memory.Isolated[uint16](ports)}
	e.due, e.woken, e.receivePaused = memory.Isolated[units.Time](ports), memory.Isolated[uint16](2 * ports)[:0], memory.Isolated[bool](ports)
	for i := range e.due {
		e.due[i] = units.Never
	}
	return e
}

// Exit is a port's.
func (e *Env) Exit(port int) *Exit { return &e.exits[port] }

// Exits are those of all ports.
func (e *Env) Exits() []Exit { return e.exits }

// Left returns the ports with frames in their exits. The world empties these. The slice is valid
// until the next Receive.
func (e *Env) Left() []uint16 {
	n := e.left
	e.left = 0
	return e.out[:n]
}

// leave notes that a port has frames in its exit.
func (e *Env) Leave(port int) {
	e.out[e.left] = uint16(port)
	e.left++
}

// Wake tells the world that Transmit of port must be called at t or before. It
// must be called whenever anything but Transmit of that port itself makes the
// port's Next earlier: a frame was queued, a pause ended, a CNP arrived.
func (e *Env) Wake(port int, t units.Time) {
	if t < e.due[port] {
		e.due[port] = t
		e.woken = append(e.woken, uint16(port))
	}
}

// Due is when a port is to be served; the world reads it.
func (e *Env) Due(port int) units.Time { return e.due[port] }

// SetDue is for the world, after it served a port: the node's Next.
func (e *Env) SetDue(port int, t units.Time) { e.due[port] = t }

// Woken returns the ports that were woken since the last call. The slice is
// valid until the next Wake.
func (e *Env) Woken() []uint16 {
	w := e.woken
	e.woken = e.woken[:0]
	return w
}

// Wakes reports whether Woken has any.
func (e *Env) Wakes() bool { return len(e.woken) > 0 }

// ReportPause calls Paused for a PFC or PAUSE frame; the node calls it.
func (e *Env) ReportPause(now units.Time, port int, f pfc.Frame) {
	if e.Paused != nil {
		e.Paused(now, port, f)
	}
}

// SetReceivePaused asks the world to stop receiving from a port, or to start again: meanwhile frames wait in the
// device. A world may still deliver a burst that was on its way, and one without devices may deliver everything.
func (e *Env) SetReceivePaused(port int, paused bool) { e.receivePaused[port] = paused }

// ReceivePaused reports whether the node asked for that; the world reads it.
func (e *Env) ReceivePaused(port int) bool { return e.receivePaused[port] }

// Rebase implements units.Rebaser. A world has it done that sets back its clock.
func (e *Env) Rebase(by units.Time) {
	units.RebaseAll(e.due, by)
	for i := range e.exits {
		e.exits[i].Free.Rebase(by)
	}
}
