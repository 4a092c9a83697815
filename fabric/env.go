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
	used  []uint16 // ports with frames in their exits, the first inUse of them
	inUse int
	// Queue asks the node to queue what arrives, even where an exit is open.
	Queue Queueing

	woken         []uint16     // ports whose due time moved since the world looked
	due           []units.Time // per port: when it asked for Transmit
	receivePaused []bool       // ports from which the node takes nothing at present

	// Paused, if set, is called for each PFC or PAUSE frame that arrives at a port and is not malformed.
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
	PerByte units.Time // by which each byte of a frame that is put there puts that off; 0: the world alone changes Free
	Frames  []Frame    // places of frames; none: the world has no way past Transmit
	N       int32      // of them are taken
	Open    uint8      // the node's: priorities of which it lets frames pass
	Unseen  uint8      // the node's: of these, those of which it need not look at the frames
	_       [2]uint8
	Inline  [1]Frame // memory for Frames of worlds that need one place
}

// Takes reports that the exit takes a frame now, and that the world alone says when it takes the next.
func (x *Exit) Takes(now units.Time) bool {
	return uint(x.N) < uint(len(x.Frames)) && x.Free <= now && x.PerByte == 0
}

// NewEnv returns an Env of one worker, for a node of so many ports. Worlds call it.
func NewEnv(pool *Pool, ports int) *Env {
	e := &Env{Pool: pool, exits: memory.Isolated[Exit](ports), used: memory.Isolated[uint16](ports)}
	e.due, e.woken, e.receivePaused = memory.Isolated[units.Time](ports), memory.Isolated[uint16](2 * ports)[:0], memory.Isolated[bool](ports)
	for i := range e.due {
		e.due[i] = units.Never
	}
	return e
}

// Exit is that of a port; worlds and nodes keep it.
func (e *Env) Exit(port int) *Exit { return &e.exits[port] }

// Exits are those of all ports, by number.
func (e *Env) Exits() []Exit { return e.exits }

// UsedExits returns the ports with frames in their exits, and begins anew. The world asks after each Receive and Poll,
// and empties these exits. The slice is valid until the next Receive or Poll.
func (e *Env) UsedExits() []uint16 {
	n := e.inUse
	e.inUse = 0
	return e.used[:n]
}

// Pass puts a frame, of which both halves are given, into a port's exit, which has room.
func (e *Env) Pass(port int, x *Exit, where, what uint64) {
	n := x.N
	if n == 0 {
		e.used[e.inUse] = uint16(port)
		e.inUse++
	}
	x.Frames[n].Put(where, what)
	x.N = n + 1
}

// Wake tells the world that Transmit of port must be called at t or before. The node
// must call it whenever anything but Transmit of that port itself makes the
// port's Next earlier: a frame was queued, a pause ended, a CNP arrived.
func (e *Env) Wake(port int, t units.Time) {
	if t < e.due[port] {
		e.due[port] = t
		e.woken = append(e.woken, uint16(port))
	}
}

// Due is when Transmit of a port is to be called, as the node has asked for last; the world reads it.
func (e *Env) Due(port int) units.Time { return e.due[port] }

// SetDue says when Transmit of a port is to be called: the world, with the node's Next after it has called it, or Never
// before, so that a Wake in between is heard of.
func (e *Env) SetDue(port int, t units.Time) { e.due[port] = t }

// Woken returns the ports that were woken since the last call, some of them more than once. The world asks after each
// call of the node. The slice is valid until the next Wake.
func (e *Env) Woken() []uint16 {
	w := e.woken
	e.woken = e.woken[:0]
	return w
}

// Wakes reports whether Woken would return any.
func (e *Env) Wakes() bool { return len(e.woken) > 0 }

// ReportPause calls Paused, if that is set; the node calls it, before it obeys the frame.
func (e *Env) ReportPause(now units.Time, port int, f pfc.Frame) {
	if e.Paused != nil {
		e.Paused(now, port, f)
	}
}

// SetReceivePaused asks the world to stop receiving from a port, or to start again; the node calls it. Meanwhile frames
// wait in the device. A world may still deliver a burst that was on its way, and one without devices may deliver
// everything.
func (e *Env) SetReceivePaused(port int, paused bool) { e.receivePaused[port] = paused }

// ReceivePaused reports whether the node has asked for that; the world reads it.
func (e *Env) ReceivePaused(port int) bool { return e.receivePaused[port] }

// Rebase implements units.Rebaser, for worlds that set back their clock.
func (e *Env) Rebase(by units.Time) {
	units.RebaseAll(e.due, by)
	for i := range e.exits {
		e.exits[i].Free.Rebase(by)
	}
}
