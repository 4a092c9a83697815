package agent_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/agent"
	"photon/cnp"
	"photon/fabric"
	"photon/ratelimit"
	"photon/units"
)

// braked is a reaction point that notifications slow down until its flow begins again.
type braked struct {
	ratelimit.Unlimited
	rate units.Rate
}

func (r *braked) Start(units.Time)                       { r.rate = rate }
func (r *braked) Rate(units.Time) units.Rate             { return r.rate }
func (r *braked) Notify(_ units.Time, _ uint8, w uint32) { r.rate = units.Rate(w) * units.Mbps }
func (r *braked) Steady() bool                           { return false }

// A new flow finds room at its first frame as long as a flow is idle that nothing slows down, or that is silent for
// longer than age, wherever in the table those are, and whatever the others do. The pace of no other flow is lost.
func TestNICFlowsMakeRoomAtOnce(t *testing.T) {
	type idleFlow struct {
		flow int
		at   units.Time // of its last frame or notification
		slow bool
	}
	made, refused := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		flows := rapid.SampledFrom([]int{1, 3, 64}).Draw(r, "flows")
		b := newBench(t, func(c *agent.NICConfig) {
			c.Flows, c.Period = flows, 0
			c.NewRP = func(*ratelimit.Port) ratelimit.RP { return &braked{} }
		})
		lossy := rapid.IntRange(0, 4).Draw(r, "lossy")
		var order []idleFlow // in the table, the one that was heard of last behind the others
		find := func(flow int) int { return slices.IndexFunc(order, func(f idleFlow) bool { return f.flow == flow }) }
		send := func(flow int) {
			dscp, f := uint8(dscp26), idleFlow{flow: flow}
			if flow%5 < lossy {
				dscp = 0
			}
			if at := find(flow); at >= 0 {
				f = order[at]
				order = slices.Delete(order, at, at+1)
			}
			was, now := b.discards(agent.Application, fabric.DropTable), b.now
			b.receive(agent.Application, udpFrame(t, 1, 2, uint16(1000+flow), 6, dscp, 100))
			b.transmitAll()
			room := len(order) < flows
			for _, slow := range []bool{true, false} {
				i := slices.IndexFunc(order, func(f idleFlow) bool {
					return f.slow == slow && (!slow || now-f.at > units.Second)
				})
				if i >= 0 && !room {
					order, room = slices.Delete(order, i, i+1), true
					made++
				}
			}
			lost := b.discards(agent.Application, fabric.DropTable) - was
			if want := !room && dscp != 0; (lost == 1) != want {
				r.Fatalf("flow %d, %d of %d places taken: frames discarded: %d, want %v", flow, len(order), flows, lost, want)
			}
			if lost == 1 {
				refused++
			}
			if f.at = b.now; room {
				order = append(order, f)
			}
			if n := b.stats().NIC.Flows; n != len(order) {
				r.Fatalf("%d flows in the table, want %d", n, len(order))
			}
		}
		notify := func(flow int, to units.Rate) {
			b.receive(agent.Wire, cnpFor(uint16(1000+flow), 6, cnp.Notice{Word: uint32(to / units.Mbps)}))
			if at := find(flow); at >= 0 && flow%5 >= lossy {
				order = append(slices.Delete(order, at, at+1), idleFlow{flow, b.now, to < rate})
			}
		}
		next := 0
		for range rapid.IntRange(1, 20).Draw(r, "rounds") {
			b.now += units.Time(rapid.IntRange(0, 700).Draw(r, "after")) * ms
			on := rapid.Uint64().Draw(r, "which go on")
			slow, fast := rapid.Uint64().Draw(r, "slow"), rapid.Uint64().Draw(r, "fast")
			for i, f := range slices.Clone(order) {
				if on>>i&1 != 0 {
					send(f.flow)
				}
				if slow>>i&1 != 0 {
					notify(f.flow, rate/2)
				} else if fast>>i&1 != 0 {
					notify(f.flow, rate)
				}
			}
			for range rapid.IntRange(0, 70).Draw(r, "new") {
				send(next)
				if rapid.Bool().Draw(r, "slowed at once") {
					notify(next, rate/10)
				}
				next++
			}
		}
		b.transmitAll()
	})
	if made < 1000 || refused < 1000 {
		t.Errorf("%d flows made room, %d frames were refused: too few to say anything", made, refused)
	}
}

// Flows that were slowed down and are not any more, whose limit is no hindrance to their next frame, or that would be
// released with it, make room, too.
func TestNICFlowsMakeRoomWhenTheyMay(t *testing.T) {
	for what, c := range map[string]struct {
		rule    units.Rate
		release units.Time
		slow    bool // by a notification
		then    func(points []*braked)
		after   units.Time // there is room
	}{
		"limits":          {rule: units.Mbps, after: 10 * ms},
		"recovered":       {slow: true, then: func(points []*braked) { points[0].rate = rate }},
		"to be released":  {slow: true, release: 100 * ms, after: 101 * ms},
		"silent for long": {slow: true, after: 1001 * ms},
	} {
		var points []*braked
		b := newBench(t, func(n *agent.NICConfig) {
			n.Flows, n.Release = 4, c.release
			n.NewRP = func(*ratelimit.Port) ratelimit.RP {
				points = append(points, &braked{})
				return points[len(points)-1]
			}
			if c.rule > 0 {
				n.Rules = []agent.FlowRule{{Limit: c.rule}}
			}
		})
		for flow := range uint16(4) {
			b.receive(agent.Application, udpFrame(t, 1, 2, 100+flow, 6, dscp26, 100))
			b.transmit(agent.Wire)
			if c.slow {
				b.receive(agent.Wire, cnpFor(100+flow, 6, cnp.Notice{Word: 1}))
			}
		}
		dropped := func(port uint16) bool {
			was := b.discards(agent.Application, fabric.DropTable)
			b.receive(agent.Application, udpFrame(t, 1, 2, port, 6, dscp26, 100))
			return b.discards(agent.Application, fabric.DropTable) != was
		}
		if !dropped(200) {
			t.Errorf("%s: a pace is lost at once", what)
		}
		if b.now += c.after; c.then != nil {
			c.then(points)
		}
		if dropped(201) {
			t.Errorf("%s: there is no room after %v", what, c.after)
		}
	}
}
