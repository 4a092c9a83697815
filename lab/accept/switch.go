package accept

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"photon/telemetry/show"
	"photon/units"
	"photon/wire"
)

// Thresholds of the switch under test. Few frames reach them, so that an XOFF comes soon.
const (
	switchXOFF = 128 * units.KB
	markFrom   = 30 * units.KB // Kmin
	markAll    = 31 * units.KB // Kmax: beyond it every frame that can be is marked
)

// Numbers of the streams of this stage.
const (
	losslessStream = 1
	besideStream   = 2
	ectStream      = 3
	notECTStream   = 4
	emptyStream    = 5
	learnStream    = 6
	secondStream   = 7
	throughStream  = 8
	waitingStream  = 9
)

// switchConfig is the file of a switch that has none.
func (p *Plan) switchConfig() string {
	var t strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&t, format+"\n", args...) }
	say("ports:")
	for _, c := range p.Cables {
		say("- {device: %q}", c.Switch.V)
	}
	if p.Rate.IsSet() {
		say("rate: %v", p.Rate.V)
	}
	say("scheme: {name: dcqcn, params: {kmin: %v, kmax: %v, pmax: 1, min_rate: %v}}", markFrom, markAll, leastRate)
	say("pfc: {priorities: [%d, %d], xoff: %v, response: %v}", lossless, second, switchXOFF, p.response())
	say("%s", p.dpdkConfig(p.switchCores()[0]))
	return t.String()
}

func (p *Plan) dpdkConfig(core int) string {
	text := fmt.Sprintf("dpdk: {hugepages: %v, cores: [%d]", p.huge(), core)
	if p.DPDK.Sleep.IsSet() {
		text += fmt.Sprintf(", sleep: %v", p.DPDK.Sleep.V)
	}
	return text + "}"
}

// toSwitch is the stage that has photon's switch on one end of each cable, and a station on the others.
func (p *Plan) toSwitch(ctx context.Context, r *report, dir string, ports []joined) (err error) {
	text, err := p.switchText(ports)
	if err != nil {
		return err
	}
	sw, err := start(ctx, dir, "switch", "accept-"+r.stage, text)
	if err != nil {
		return err
	}
	defer func() {
		if failed := sw.stop(); failed != nil && err == nil {
			err = r.add(
				Step{
					Name:     "accounts",
					Asserts:  "the switch accounts for every frame when it ends",
					Measured: failed.Error(),
					Verdict:  Failed,
				},
			)
		} else if err == nil {
			err = r.add(Step{Name: "accounts", Asserts: "the switch accounts for every frame when it ends", Measured: "exit code 0", Verdict: Passed})
		}
	}()
	var peers []string
	for _, j := range ports {
		peers = append(peers, j.peer)
	}
	b, err := p.open(ctx, peers)
	if err != nil {
		return err
	}
	defer b.end()
	b.up(ctx, p)
	if err := eventually(ctx, func() bool {
		var shown show.Ports
		return sw.shown(ctx, "ports", &shown) == nil &&
			!slices.ContainsFunc(ports, func(j joined) bool { return !shown.Ports[j.number].Up })
	}); err != nil {
		return r.add(Step{Name: "link", Asserts: "the switch's links come up", Measured: err.Error(), Verdict: Failed})
	}
	var router show.Routes
	if err := errors.Join(sw.shown(ctx, "routes", &router), sw.saveTopics(ctx, "before")); err != nil {
		return err
	}
	t := &trial{p: p, r: r, b: b, sw: sw, ports: ports, tried: map[member]bool{}}
	if router.MAC != "" {
		if err := t.router.UnmarshalText([]byte(router.MAC)); err != nil {
			return err
		}
	}
	return errors.Join(t.run(ctx), p.polls(ctx, r, b, sw), sw.saveTopics(ctx, "after"), ctx.Err())
}

// trial is a switch under test, and the station that tests it.
type trial struct {
	p      *Plan
	r      *report
	b      *bench
	sw     *child
	ports  []joined
	router wire.MAC        // the switch's own, if it routes
	tried  map[member]bool // frames came in, or left, there
}

// run tries all ways, and then the routes and VLANs that these did not need.
func (t *trial) run(ctx context.Context) error {
	ways, missing := t.p.ways(t.ports)
	for _, port := range missing {
		if err := t.r.add(Step{
			Name: "through the switch", Port: port, Asserts: "frames come in by it, and leave by it",
			Verdict: NotPossible, Why: noWay,
		}); err != nil {
			return err
		}
	}
	for i := range ways {
		w := t.at(&ways[i])
		if err := t.way(ctx, w, i); err != nil {
			return err
		}
	}
	return t.others(ctx, ways)
}

// at is a way with the addresses of its ends.
func (t *trial) at(w *way) *way {
	w.src, w.dst, w.router = t.b.ports[w.from].mac, t.b.ports[w.to].mac, t.router
	return w
}

// way has all steps of the i-th way.
func (t *trial) way(ctx context.Context, w *way, i int) error {
	from, to := t.b.ports[w.from], t.b.ports[w.to]
	prio := max(w.stop, 0)
	t.b.betweenPolls(func(units.Time) {
		for _, q := range t.b.ports {
			q.obeys, q.lossless = false, arrived{}
		}
		from.prio, to.prio, from.obeys = prio, prio, true
		from.pfc, from.pauses, from.odd, from.xoffs, from.xons, from.strange = 0, 0, 0, 0, 0, 0
	})
	t.b.forget(losslessStream, besideStream, ectStream, notECTStream, emptyStream, secondStream, waitingStream)
	t.learn(ctx, w)
	return errors.Join(t.through(ctx, w), t.waiting(ctx, w), t.pauses(ctx, w, i), t.marking(ctx, w), ctx.Err())
}

// learn has the switch learn where a way ends, by a frame to all that comes in there.
func (t *trial) learn(ctx context.Context, w *way) {
	if w.hop == 0 {
		_ = t.follows(ctx, w)
	}
}

// follows waits until a frame that the peer at a way's end sends has come to where the way begins: all that the peer
// has said before was received, too. Where none comes, it waits as long as that may take.
func (t *trial) follows(ctx context.Context, w *way) error {
	most := t.p.reach(t.b.ports[w.to].rate, w.outName).Duration() + 10*time.Millisecond
	if w.hop != 0 {
		return wait(ctx, most)
	}
	b := template(w.dst, broadcast, learnStream, 0, false, 128)
	if w.leavesTag {
		b = append(make([]byte, wire.VLANLen), b...)
		wire.PushVLANTag(b, uint16(w.leavesIn))
	}
	before := t.b.arrivedAt(w.from, learnStream).n
	t.b.send(w.to, &stream{frame: b, left: 1})
	_ = within(ctx, most, func() bool { return t.b.arrivedAt(w.from, learnStream).n > before })
	return wait(ctx, 10*time.Millisecond)
}

// passes waits until a frame that is sent now has come to the end of a way, in a priority that no XOFF stops: all that
// was sent before is in the switch.
func (t *trial) passes(ctx context.Context, w *way) error {
	most := 10*time.Millisecond + 2*t.p.response().Duration()
	k, can := w.kindOf(w.beside)
	if w.beside < 0 || !can {
		return wait(ctx, most)
	}
	before := t.b.arrivedAt(w.to, learnStream).n
	t.b.send(w.from, &stream{frame: w.frame(learnStream, k, false, 128), left: 1})
	_ = within(ctx, most, func() bool { return t.b.arrivedAt(w.to, learnStream).n > before })
	return wait(ctx, 10*time.Millisecond)
}

// polls tells whether the machine was on time: what is late, or lost because of that, is neither the card's fault nor
// the switch's.
func (p *Plan) polls(ctx context.Context, r *report, b *bench, sw *child) error {
	of, err := sw.Live(ctx, 0)
	if err != nil {
		return err
	}
	var peer units.Time
	b.betweenPolls(func(units.Time) { peer = b.world.Pace().LongestGap })
	response := p.response()
	gap := units.Time(of.Poll.Longest * float64(units.Second))
	return r.add(Step{
		Name:     "polls",
		Asserts:  fmt.Sprintf("the switch and its peer poll every %v at least, as `response` says", response),
		Measured: fmt.Sprintf("longest gap %v of the switch, %v of its peer", gap, peer),
		Verdict:  verdict(max(gap, peer) <= response),
		Values:   map[string]float64{"switch_s": gap.Seconds(), "peer_s": peer.Seconds()},
	})
}
