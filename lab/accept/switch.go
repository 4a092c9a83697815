package accept

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"photon/telemetry/show"
	"photon/units"
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
	throughStreams = 8 // and the next, one for each direction
	waitingStreams = 10
)

// switchConfig is the file of the switch under test.
func (p *Plan) switchConfig() string {
	var t strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&t, format+"\n", args...) }
	say("ports:\n- {device: %q}\n- {device: %q}", p.Cables[0].Switch.V, p.Cables[1].Switch.V)
	if p.Rate.IsSet() {
		say("rate: %v", p.Rate.V)
	}
	say("scheme: {name: dcqcn, params: {kmin: %v, kmax: %v, pmax: 1, min_rate: %v}}", markFrom, markAll, leastRate)
	say("pfc: {priorities: [%d, %d], xoff: %v, response: %v}",
		lossless, second, switchXOFF, p.Response.Or(defaultResponse))
	say("%s", p.dpdkConfig(0))
	return t.String()
}

func (p *Plan) dpdkConfig(side int) string {
	text := fmt.Sprintf("dpdk: {hugepages: %v, cores: [%d]", p.huge(), p.core(side))
	if p.DPDK.Sleep.IsSet() {
		text += fmt.Sprintf(", sleep: %v", p.DPDK.Sleep.V)
	}
	return text + "}"
}

// toSwitch is the stage that has photon's switch on one end of each cable, and a station on the others.
func (p *Plan) toSwitch(ctx context.Context, r *report, dir string) (err error) {
	sw, err := start(ctx, dir, "switch", "accept-switch", p.switchConfig())
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
	b, err := p.open(ctx, []string{p.Cables[0].Peer.V, p.Cables[1].Peer.V})
	if err != nil {
		return err
	}
	defer b.end()
	b.up(ctx, p)
	if err := eventually(ctx, func() bool {
		var ports show.Ports
		return sw.shown(ctx, "ports", &ports) == nil && ports.Ports[0].Up && ports.Ports[1].Up
	}); err != nil {
		return r.add(Step{Name: "link", Asserts: "the switch's links come up", Measured: err.Error(), Verdict: Failed})
	}
	b.betweenPolls(func(units.Time) { b.ports[0].obeys, b.ports[1].obeys = true, true })
	learn := template(b.ports[1].mac, b.ports[0].mac, learnStream, 0, false, 128)
	b.send(1, &stream{frame: learn, left: 1}) // the switch learns where it is
	b.quiet(ctx, 0, learnStream, 1)
	if err := sw.saveTopics(ctx, "before"); err != nil {
		return err
	}
	for from := range b.ports {
		to := 1 - from
		if err := errors.Join(p.through(ctx, r, b, from, to), p.waiting(ctx, r, b, from, to)); err != nil {
			return err
		}
		if err := errors.Join(p.pauses(ctx, r, b, sw, from, to), p.marking(ctx, r, b, from, to)); err != nil {
			return err
		}
	}
	return errors.Join(p.polls(ctx, r, b, sw), sw.saveTopics(ctx, "after"), ctx.Err())
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
	response := p.Response.Or(defaultResponse)
	gap := units.Time(of.Poll.Longest * float64(units.Second))
	return r.add(Step{
		Name:     "polls",
		Asserts:  fmt.Sprintf("the switch and its peer poll every %v at least, as `response` says", response),
		Measured: fmt.Sprintf("longest gap %v of the switch, %v of its peer", gap, peer),
		Verdict:  verdict(max(gap, peer) <= response),
		Values:   map[string]float64{"switch_s": gap.Seconds(), "peer_s": peer.Seconds()},
	})
}

// marking fills a queue that is stopped, lets it go, and counts the frames that come marked.
func (p *Plan) marking(ctx context.Context, r *report, b *bench, from, to int) error {
	const n = 60 // frames; they stay below XOFF
	src, dst := b.ports[from].mac, b.ports[to].mac
	link := b.ports[from].rate
	slow := 20 * link.Serialize(onWire(longest)) // no queue
	b.send(
		from,
		&stream{
			frame: template(src, dst, emptyStream, dataDSCP, true, longest),
			every: slow,
			left:  n,
		},
	)
	empty := b.quiet(ctx, to, emptyStream, n)
	if err := r.add(Step{
		Name: "marking", Port: p.Cables[to].Switch.V, Asserts: "frames that leave no queue behind are not marked",
		Measured: fmt.Sprintf("%d of %d marked, %d arrived", empty.marked, n, empty.n),
		Verdict:  verdict(empty.n == n && empty.marked == 0),
	}); err != nil {
		return err
	}
	for _, kind := range []struct {
		id  int
		ect bool
	}{{ectStream, true}, {notECTStream, false}} {
		b.pausePeer(to, xoff(lossless))
		if err := wait(ctx, 10*time.Millisecond+p.Response.Or(defaultResponse).Duration()); err != nil {
			return err
		}
		st := &stream{frame: template(src, dst, kind.id, dataDSCP, kind.ect, longest), left: n}
		wanted := [][]byte{st.frame}
		if kind.ect {
			wanted = append(wanted, marked(st.frame))
		}
		b.betweenPolls(func(units.Time) { b.ports[to].wanted[kind.id] = wanted })
		b.send(from, st)
		if err := eventually(ctx, func() (all bool) {
			b.betweenPolls(func(units.Time) { all = st.sent == n })
			return all
		}); err != nil {
			return err
		}
		if err := wait(ctx, 10*time.Millisecond+2*p.Response.Or(defaultResponse).Duration()); err != nil { // the last are in the queue
			return err
		}
		b.release(to, xon(lossless))
		got := b.quiet(ctx, to, kind.id, n)
		step := Step{
			Name:   "marking",
			Port:   p.Cables[to].Switch.V,
			Values: map[string]float64{"sent": n, "arrived": float64(got.n), "marked": float64(got.marked)},
		}
		if kind.ect {
			// A frame is marked by the bytes that it leaves behind; the buffer's cells take up to 1600 B for one.
			least, most := n-1-int(markAll/longest)-1, n-int(markFrom/1600)
			step.Asserts = fmt.Sprintf(
				"of %d ECN-capable frames in a queue those are marked that leave more than %v behind, which are %d to %d",
				n,
				markAll,
				least,
				most,
			)
			few, many := int(got.marked) < least, int(got.marked) > most
			step.Verdict = verdict(got.n == n && got.changed == 0 && !few && !many)
		} else {
			step.Asserts = fmt.Sprintf("of %d frames in a queue that are not ECN-capable none is", n)
			step.Verdict = verdict(got.n == n && got.changed == 0 && got.marked == 0)
		}
		step.Measured = fmt.Sprintf(
			"%d, %d arrived, %d of them changed but for the mark", got.marked, got.n, got.changed,
		)
		if err := r.add(step); err != nil {
			return err
		}
	}
	b.send(from)
	return nil
}
