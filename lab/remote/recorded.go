package remote

import (
	"context"
	"errors"
	"fmt"

	"photon/agent"
	"photon/fabric"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/marking"
	"photon/telemetry/node"
	"photon/units"
	"photon/wire"
)

var (
	_ build.Host   = (*recordedHost)(nil)
	_ build.Switch = (*recordedSwitch)(nil)
)

// Recorded is a network of what its nodes, in the order of the plan, have recorded, and said of themselves afterwards.
// ports are those of a node by the plan's.
func Recorded(
	e *experiment.Experiment, plan *topology.Plan, flows []experiment.Flow, recordings []node.Recording, ports [][]int, after []node.Info,
) *build.Network {
	w := &playback{every: e.Measure.Sample}
	n := build.Recorded(e, w, plan)
	for i, rec := range recordings {
		n.IDs = append(n.IDs, i)
		columns := newColumns(w, rec)
		if plan.Nodes[i].Host {
			n.Hosts[i] = &recordedHost{columns: columns, flows: map[[2]uint32]int{}}
		} else {
			n.Switches[i] = &recordedSwitch{
				columns: columns, port: ports[i], lossless: n.Lossless, data: n.Data, after: after[i].Stats,
			}
		}
	}
	sent, of := map[int]int{}, map[int][]int{} // by sender
	for k, f := range flows {
		n.Flows.Add(build.Flow{Flow: f, Slot: int32(sent[f.From]), There: true})
		sent[f.From]++
		of[f.From] = append(of[f.From], k)
	}
	arrived := map[int]int{}
	for i := range plan.Nodes { // as Run has told the receivers
		for _, k := range of[i] {
			to := n.Hosts[flows[k].To].(*recordedHost)
			to.flows[[2]uint32{uint32(flows[k].From), build.QP(k)}] = arrived[flows[k].To]
			arrived[flows[k].To]++
		}
	}
	return n
}

// Play has those who watch such a network see what was recorded.
func Play(n *build.Network, until units.Time) { n.World.(*playback).play(until) }

// playback is a world whose time is that of recordings.
type playback struct {
	fabric.World // none: nothing is built or run in it
	every        units.Time
	now          units.Time
	at           int // sample
	do           []func(now units.Time)
}

// Every implements fabric.World: all spans are those of the samples.
func (w *playback) Every(_ units.Time, do func(now units.Time)) { w.do = append(w.do, do) }

// Now implements fabric.World.
func (w *playback) Now() units.Time { return w.now }

// Run implements fabric.World.
func (w *playback) Run(context.Context, units.Time) error {
	return errors.New("remote: a recording does not run")
}

// play goes through the samples.
func (w *playback) play(until units.Time) {
	for w.now+w.every <= until {
		w.now += w.every
		for _, do := range w.do {
			do(w.now)
		}
		w.at++
	}
	w.at-- // the last sample, for those who look afterwards
}

// columns are a node's recorded values, by name.
type columns struct {
	w     *playback
	begin map[string]int64
	value map[string][]int64
}

func newColumns(w *playback, r node.Recording) columns {
	c := columns{w, map[string]int64{}, map[string][]int64{}}
	for i, name := range r.Names {
		c.begin[name], c.value[name] = r.Begin[i], r.Values[i]
	}
	return c
}

// gauge is a value at the sample; zero if it was not recorded.
func (c *columns) gauge(format string, args ...any) int64 {
	if v := c.value[fmt.Sprintf(format, args...)]; c.w.at < len(v) {
		return v[c.w.at]
	}
	return 0
}

// counter is what was counted since the start.
func (c *columns) counter(format string, args ...any) int64 {
	return c.gauge(format, args...) - c.begin[fmt.Sprintf(format, args...)]
}

// recordedHost is an agent of a testbed.
type recordedHost struct {
	columns
	flows map[[2]uint32]int // received: sending node and queue pair
}

func (h *recordedHost) Flow(_ units.Time, slot int) agent.FlowState {
	return agent.FlowState{
		Active: h.gauge("active.%d", slot) != 0, Rate: units.Rate(h.gauge("allowed.%d", slot)),
		FlowCounts: agent.FlowCounts{
			Bytes: uint64(h.counter("sending.%d", slot)), Notified: uint64(h.counter("notified.%d", slot)), Repeated: uint64(h.counter("repeated.%d", slot)),
		},
	}
}

// Received goes by the addresses that hosts have in a plan.
func (h *recordedHost) Received(from wire.IP, qp uint32) agent.PeerState {
	node := uint32(from[13])<<16 | uint32(from[14])<<8 | uint32(from[15])
	k, ok := h.flows[[2]uint32{node, qp}]
	if !ok || from != topology.IP(int(node)) {
		return agent.PeerState{}
	}
	return agent.PeerState{Bytes: uint64(h.counter("received.%d", k))}
}

func (h *recordedHost) Timeouts() uint64                     { return 0 } // no agent records them
func (h *recordedHost) DataSent() uint64                     { return uint64(h.counter("sent")) }
func (h *recordedHost) Paused() uint8                        { return uint8(h.gauge("paused")) }
func (h *recordedHost) Stats(units.Time) fabric.Stats        { return fabric.Stats{} }
func (h *recordedHost) TakeResults() []agent.Result          { return nil } // they are there already
func (h *recordedHost) Forget(wire.IP, uint32) bool          { return true }
func (h *recordedHost) StopFlow(units.Time, int)             {}
func (h *recordedHost) SetLimit(units.Time, int, units.Rate) {}
func (h *recordedHost) Hash(int) uint32                      { return 0 }
func (h *recordedHost) AddFlow(units.Time, agent.FlowSpec) (int, error) {
	return 0, errors.New("remote: a recording takes no flows")
}

// noRoom are the reasons of what a switch discards for want of room, or by WRED.
var noRoom = []fabric.Reason{
	fabric.DropBuffer, fabric.DropTail, fabric.DropIngress, fabric.DropWRED, fabric.DropHeadroom, fabric.DropNoMemory,
}

// recordedSwitch is a switch of a testbed.
type recordedSwitch struct {
	columns
	port     []int // of the switch, by the plan's
	lossless uint8
	data     uint8 // priorities of which samples were taken
	after    fabric.Stats
}

func (s *recordedSwitch) Ports() int { return len(s.port) }

func (s *recordedSwitch) QueueBytes(port, prio int) units.Size {
	return units.Size(s.gauge("queue.%d.%d", s.port[port], prio))
}

// QueuePeak is the largest sample: a switch that runs for longer knows only the
// peak since its start.
func (s *recordedSwitch) QueuePeak(port, prio int) (peak units.Size) {
	for _, v := range s.value[fmt.Sprintf("queue.%d.%d", s.port[port], prio)] {
		peak = max(peak, units.Size(v))
	}
	return peak
}

func (s *recordedSwitch) Sent(port int) units.Size {
	return units.Size(s.counter("sent.%d", s.port[port]))
}
func (s *recordedSwitch) Paused(port int) uint8 { return uint8(s.gauge("paused.%d", s.port[port])) }

func (s *recordedSwitch) Ternary(_ units.Time, port, prio int) marking.TCDState {
	return marking.TCDState(s.gauge("state.%d.%d", s.port[port], prio))
}

func (s *recordedSwitch) Pauses(port, prio int) uint64 {
	return uint64(s.counter("xoffs.%d.%d", s.port[port], prio))
}

func (s *recordedSwitch) PausesSent() (sum uint64) {
	for port := range s.port {
		for prio := range 8 {
			if s.lossless>>prio&1 != 0 {
				sum += s.Pauses(port, prio)
			}
		}
	}
	return sum
}

func (s *recordedSwitch) TxFrames(port, prio int) uint64 {
	return uint64(s.counter("frames.%d.%d", s.port[port], prio))
}

// StaysStopped takes it that frames at every port came through the one: a recording does not know it.
func (s *recordedSwitch) StaysStopped(_, prio int, silent func(port int) bool) bool {
	for port := range s.port {
		if silent(port) && s.QueueBytes(port, prio) > 0 {
			return true
		}
	}
	return false
}

// Discarded is, of priorities of which no samples are taken, what the switch counted in all since the run began.
func (s *recordedSwitch) Discarded(port, prio int) (sum uint64) {
	if s.data>>prio&1 == 0 {
		for _, why := range noRoom {
			sum += s.after.Ports[s.port[port]].Discards[why][prio]
		}
		return sum
	}
	return uint64(s.counter("discarded.%d.%d", s.port[port], prio))
}

func (s *recordedSwitch) Marked(port, prio int) (ce, ue uint64) {
	return uint64(s.counter("marked.%d.%d", s.port[port], prio)), uint64(s.counter("ue.%d.%d", s.port[port], prio))
}

// Stats are those of the experiment's ports: peaks since the switch started, and what Run counts since the run began.
func (s *recordedSwitch) Stats(units.Time) (st fabric.Stats) {
	for _, port := range s.port {
		st.Ports = append(st.Ports, s.after.Ports[port])
	}
	return st
}
