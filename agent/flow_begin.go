package agent

import (
	"errors"

	"photon/flowtable"
	"photon/ratelimit"
	"photon/units"
)

// Errors of AddFlow.
var (
	ErrFull      = errors.New("agent: no room for another flow")
	ErrDuplicate = errors.New("agent: the queue pair is in use")
)

// AddFlow takes up a flow, which begins at its start time, or now if that has passed, and returns its slot.
func (h *Host) AddFlow(now units.Time, spec FlowSpec) (int, error) {
	if err := h.checkSpec(&spec); err != nil {
		return 0, err
	}
	if h.clash(&spec) {
		return 0, ErrDuplicate
	}
	id, err := h.addFlow(now, keyOf(spec.Peer, spec.QP), spec)
	if err == nil {
		h.stats.FlowsBegun++
	}
	return id, err
}

// addFlow is AddFlow of a flow that is known to be right, under a name.
func (h *Host) addFlow(now units.Time, key peerKey, spec FlowSpec) (int, error) {
	id, fresh := h.byPeer.Insert(key, now)
	switch {
	case id == flowtable.None:
		return 0, ErrFull
	case !fresh:
		return 0, ErrDuplicate
	}
	h.moreFlows()
	if spec.DSCP == 0 {
		spec.DSCP = h.config.DataDSCP
	}
	if spec.Pair != nil && spec.Pair.queue == nil {
		spec.Pair = h.openPair(&spec, id)
	}
	start := max(now, spec.Start)
	f := h.reset(id, spec)
	h.giveRP(f, start)
	f.neverPlain = f.shared != nil || f.windower != nil || f.scoreboard != nil || spec.Pair != nil || h.config.Entropy.By != PerFlow
	psn := spec.PSN
	if !spec.FixedPSN && spec.Pair == nil {
		psn = h.drawPSN(now)
	}
	packets, payload := h.packets(&spec)
	f.last.payload = payload
	f.requester.start(psn, packets)
	h.encodeHead(f, id)
	h.pacer.Join(id, max(1, spec.Weight), spec.Tenant-1)
	h.pacer.Wait(id, f.prio, start)
	h.env.Wake(0, h.Next(now, 0))
	return id, nil
}

// reset makes a slot that of a new flow. What memory the slot's last flow had, it has.
func (h *Host) reset(id int, spec FlowSpec) *flow {
	f := &h.flows[id]
	scoreboard := f.scoreboard
	*f = flow{spec: spec, headOverflow: f.headOverflow[:0]}
	f.limit, f.prio = spec.Limit, h.config.DSCP[spec.DSCP]
	f.sending = h.pacer.Beside(id)
	*f.sending = sending{}
	if h.config.Selective != nil {
		if f.scoreboard = scoreboard; scoreboard == nil {
			f.scoreboard = newScoreboard(h.config.Selective, &h.recovery)
		}
	}
	return f
}

// giveRP gives a flow its reaction point, or that which it shares with others.
func (h *Host) giveRP(f *flow, start units.Time) {
	if f.spec.Shared != 0 {
		h.join(f, start)
	} else {
		f.rp = h.takeRP(f.prio)
		f.startRP(start, f.spec.Begin)
	}
	f.acker, f.wantsAcks = f.rp.(ratelimit.Acker)
	f.windower, _ = f.rp.(ratelimit.Windower)
}

func (h *Host) takeRP(prio uint8) ratelimit.RP {
	return h.idleRPs.take(prio, h.config.NewRP, &h.ports[prio])
}

// packets is how many packets a flow has, and the payload of the last; 0: the flow has no end, or is there to answer.
func (h *Host) packets(spec *FlowSpec) (n uint64, last uint16) {
	full := units.Size(h.config.Payload)
	switch {
	case spec.Pair != nil:
		return spec.Pair.packets(h.config.Payload), 0
	case spec.Size == 0:
		return 0, 0
	}
	before := (spec.Size - 1) / full
	return uint64(before + 1), uint16(spec.Size - before*full)
}

// psnStep is 2^24 by the golden ratio.
const psnStep = 10368889

// drawPSN draws the first PSN of an epoch. Those of a host follow each other by the golden ratio of their range, so
// that each is far from the ones before it: what is left of another flow in the network is not taken for this one's.
func (h *Host) drawPSN(now units.Time) uint32 {
	if h.epochs == 0 {
		h.psn = uint32(((h.config.Seed ^ uint64(now+h.laps)) * 0x9E3779B97F4A7C15) >> 40)
	}
	psn := (h.psn + h.epochs*psnStep) & psnMask
	h.epochs++
	return psn
}
