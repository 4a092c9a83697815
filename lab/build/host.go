package build

import (
	"photon/agent"
	"photon/dataplane"
	"photon/fabric"
	"photon/marking"
	"photon/units"
	"photon/wire"
)

// What measurements look at: hosts and switches at work, or what was recorded of them.

// Host is a host as measurements see it.
type Host interface {
	Flow(now units.Time, slot int) agent.FlowState
	Received(from wire.IP, qp uint32) agent.PeerState
	DataSent() uint64
	Timeouts() uint64
	Paused() uint8
	Stats(now units.Time) fabric.Stats
	TakeResults() []agent.Result
	Forget(from wire.IP, qp uint32) bool
	AddFlow(now units.Time, spec agent.FlowSpec) (int, error)
	StopFlow(now units.Time, slot int)
	SetLimit(now units.Time, slot int, limit units.Rate)
	Hash(slot int) uint32
}

// Switch is a switch as measurements see it.
type Switch interface {
	Ports() int
	QueueBytes(port, prio int) units.Size
	QueuePeak(port, prio int) units.Size
	Sent(port int) units.Size
	Paused(port int) uint8
	Pauses(port, prio int) uint64
	PausesSent() uint64
	TxFrames(port, prio int) uint64
	StaysStopped(in, prio int, silent func(port int) bool) bool // the peer of a port, as long as some ports send nothing
	Marked(port, prio int) (ce, ue uint64)
	Discarded(port, prio int) uint64
	Ternary(now units.Time, port, prio int) marking.TCDState
	Stats(now units.Time) fabric.Stats
}

var (
	_ Host   = (*agent.Host)(nil)
	_ Switch = (*dataplane.Switch)(nil)
)
