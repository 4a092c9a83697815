package agent

import (
	"errors"
	"fmt"
	"slices"

	"photon/fabric"
	"photon/units"
)

// Result describes a flow that ended.
type Result struct {
	FlowSpec
	FlowCounts
	Why error      // the sender gave up; nil: all of the flow has arrived
	End units.Time // when its last acknowledgement came, or the sender gave up
}

// FCT is the flow completion time: first bit out to last acknowledgement in.
func (r Result) FCT() units.Time { return r.End - r.FirstBit }

// Why a sender gives up.
var (
	ErrNoAnswer  = errors.New("agent: the receiver does not answer")
	ErrForgotten = errors.New("agent: the receiver has lost the connection")
	ErrOutOfStep = errors.New("agent: the receiver's queue pair is at other PSNs than the flow: " +
		"after a restart both ends begin anew")
)

// finish ends a flow whose last packet was acknowledged.
func (h *Host) finish(now units.Time, id int) {
	r := h.result(now, id, nil)
	bucket, _ := slices.BinarySearch(fabric.FCTBounds[:], r.FCT())
	h.stats.FCTs[bucket]++
	h.stats.FCTSum = h.stats.FCTSum.Add(r.FCT())
	h.stats.FlowsDone++
	if h.config.Reached != nil {
		h.reach(Milestone{Peer: r.Peer, QP: r.QP, What: Acknowledged})
	}
	h.StopFlow(now, id)
}

// giveUp ends a flow that gets nowhere.
func (h *Host) giveUp(now units.Time, id int, why error) {
	f := &h.flows[id]
	if n := f.acked - uint64(f.first); n > 0 {
		why = fmt.Errorf("%w: %d packets had arrived before", why, n)
	}
	h.result(now, id, why)
	h.StopFlow(now, id)
}

// result notes how a flow ended.
func (h *Host) result(now units.Time, id int, why error) Result {
	f := &h.flows[id]
	r := Result{FlowSpec: f.spec, Why: why, End: now}
	r.fill(h, f)
	h.done = append(h.done, r)
	return r
}

// TakeResults returns the flows that ended since the last call. The slice is valid until the next flow ends.
func (h *Host) TakeResults() []Result {
	r := h.done
	h.done = h.done[:0]
	return r
}

// StopFlow ends a flow whether it is complete or not.
func (h *Host) StopFlow(now units.Time, id int) {
	f := &h.flows[id]
	if !f.active() {
		return
	}
	h.pacer.Stop(id)
	h.byPeer.Delete(id)
	if f.shared != nil {
		h.quit(now, id)
	} else {
		h.idleRPs.put(f.prio, f.rp)
	}
	if f.spec.Pair != nil {
		h.detach(f.spec.Pair.queue, id)
	}
	f.rp, f.acker, f.windower = nil, nil, nil
	if id < len(h.ackHeadsTaken) {
		h.ackHeadsTaken[id].Forget() // what names the flow names another, or none, from now on
	}
}
