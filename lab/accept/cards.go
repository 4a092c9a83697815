package accept

import (
	"context"
	"errors"
	"fmt"
	"time"

	"photon/dataplane/dpdk"
	"photon/pfc"
	"photon/units"
)

// Numbers of the streams of this stage.
const (
	pausedStream = 1
	fullStream   = 2
	wiringStream = 4
)

// cards is the stage that has a station on every port: nothing of photon's switch is in it.
func (p *Plan) cards(ctx context.Context, r *report, dir string) error {
	specs := p.Devices()
	b, err := p.open(ctx, specs)
	if err != nil {
		return err
	}
	defer b.end()
	stats := b.up(ctx, p)
	if err := b.saveCounters(dir, "before"); err != nil {
		return err
	}
	for _, device := range p.withoutCable() {
		if err := r.add(Step{
			Name: "link", Port: device, Asserts: "it is accepted as the others are", Verdict: NotPossible,
			Why: "no cable of the plan leads to it",
		}); err != nil {
			return err
		}
	}
	allUp := true
	for i, d := range stats {
		d.FlowControl = b.devices[i].FlowControl
		allUp = allUp && d.LinkUp
		if err := p.linkSteps(r, specs[i], &b.devices[i], &d); err != nil {
			return err
		}
	}
	if !allUp {
		return r.add(
			Step{
				Name:    "wiring",
				Asserts: "the cables are where the plan says",
				Verdict: NotPossible,
				Why:     "a link is down",
			},
		)
	}
	for _, step := range []struct {
		name string
		run  func(context.Context, *report, *bench, []string, int, int) error
	}{{"wiring", p.wiring}, {"passed up", p.passedUp}, {"not acted on", p.ignored}, {"line rate", p.fullRate}} {
		for at := range specs {
			if !r.wants(step.name) {
				break
			}
			if err := step.run(ctx, r, b, specs, at, at^1); err != nil {
				return err
			}
		}
	}
	for i, d := range b.world.Devices() {
		lost := d.RxNoBuffer + d.RxErrors + d.TxErrors
		if err := r.add(Step{
			Name: "errors", Port: specs[i], Asserts: "the card counts no errors", Verdict: verdict(lost == 0),
			Measured: fmt.Sprintf("%d rx errors, %d without a buffer, %d tx errors, %d missed", d.RxErrors, d.RxNoBuffer, d.TxErrors, d.RxMissed),
		}); err != nil {
			return err
		}
	}
	return errors.Join(b.saveCounters(dir, "after"), ctx.Err())
}

func (p *Plan) linkSteps(r *report, spec string, d *dpdk.Device, s *dpdk.DeviceStats) error {
	state := "down"
	if s.LinkUp {
		state = "up"
	}
	link := Step{
		Name:     "link",
		Port:     spec,
		Asserts:  "the link is up, and the driver tells its rate",
		Measured: fmt.Sprintf("%s, %v, driver %s", state, s.Rate, d.Driver),
	}
	if d.Firmware != "" {
		link.Measured += ", firmware " + d.Firmware
	}
	link.Verdict = verdict(s.LinkUp && (s.Rate > 0 || d.Virtual))
	link.Values = map[string]float64{
		"rate_bps":       float64(s.Rate),
		"numa_node":      float64(d.Node),
		"rx_descriptors": float64(d.Ring),
	}
	if err := r.add(link); err != nil {
		return err
	}
	ok := d.FlowControl == dpdk.FlowControlOff || d.FlowControl == dpdk.FlowControlNotNeeded
	return r.add(
		Step{
			Name:     "flow control",
			Port:     spec,
			Asserts:  "the driver has switched off what the card does with pauses by itself",
			Measured: d.FlowControl.String(),
			Verdict:  verdict(ok),
		},
	)
}

// wiring sends some frames from a port, which must arrive at the other end of its cable as they are, and nowhere else.
func (p *Plan) wiring(ctx context.Context, r *report, b *bench, specs []string, from, to int) error {
	const each = 2
	const id = wiringStream
	b.forget(id)
	frames := wiringFrames(b.ports[from].mac, b.ports[to].mac, id)
	n := uint64(each * len(frames))
	var all []*stream
	for _, f := range frames {
		all = append(all, &stream{frame: f, every: units.Millisecond, left: each})
	}
	b.betweenPolls(func(units.Time) { b.ports[to].wanted[id] = frames })
	b.send(from, all...)
	got := b.quiet(ctx, to, id, n)
	b.send(from)
	elsewhere := uint64(0)
	b.betweenPolls(func(units.Time) {
		for i, q := range b.ports {
			if i != to {
				elsewhere += q.got[id].n
			}
		}
	})
	return r.add(Step{
		Name: "wiring", Port: specs[from],
		Asserts: "what it sends arrives unchanged at " + specs[to] +
			", whatever its length, tag and destination, and nowhere else",
		Measured: fmt.Sprintf("%d of %d, %d of them changed, %d elsewhere", got.n, n, got.changed, elsewhere),
		Verdict:  verdict(got.n == n && got.changed == 0 && elsewhere == 0),
	})
}

// passedUp sends MAC control frames from a port to the other end of its cable, where photon must see them all.
func (p *Plan) passedUp(ctx context.Context, r *report, b *bench, specs []string, from, to int) error {
	const n = 8 // of each kind
	var before, now port
	b.betweenPolls(func(units.Time) {
		before = *b.ports[to]
		for range n { // none of them stops anything
			b.ports[from].control = append(b.ports[from].control, pause(0), xon(lossless))
		}
	})
	b.behind(ctx, from, to, func() bool {
		b.betweenPolls(func(units.Time) { now = *b.ports[to] })
		return now.pauses-before.pauses >= n && now.pfc-before.pfc >= n
	})
	pauses, pfcs := now.pauses-before.pauses, now.pfc-before.pfc
	return r.add(Step{
		Name: "passed up", Port: specs[to], Asserts: "the card passes up the PAUSE and PFC frames that it receives", Measured: fmt.Sprintf("%d and %d of %d each", pauses, pfcs, n),
		Verdict: verdict(
			pauses == n && pfcs == n,
		), Values: map[string]float64{"pause": float64(pauses), "pfc": float64(pfcs), "sent": n},
	})
}

// ignored has a port send although its peer stops everything, by PAUSE and by PFC: photon's station does not obey here,
// so a card that obeys by itself shows.
func (p *Plan) ignored(ctx context.Context, r *report, b *bench, specs []string, stopped, by int) error {
	for _, kind := range []struct {
		name string
		stop *pfc.Frame
		end  *pfc.Frame
	}{{"PAUSE", pause(pfc.MaxQuanta), pause(0)}, {"PFC", everything(), &pfc.Frame{Enable: 0xFF}}} {
		if err := p.ignoredOne(ctx, r, b, specs, stopped, by, kind.name, kind.stop, kind.end); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) ignoredOne(
	ctx context.Context,
	r *report,
	b *bench,
	specs []string,
	stopped, by int,
	name string,
	stop, end *pfc.Frame,
) error {
	src, dst := b.ports[stopped], b.ports[by]
	least := max(100*time.Millisecond, 2*pfc.Duration(pfc.MaxQuanta, src.card).Duration())
	window := max(least, 2*p.response().Duration())
	gap := src.rate.Serialize(onWire(256)) * 20 // a twentieth of the link
	b.betweenPolls(func(units.Time) { src.firstControl = 0 })
	b.pausePeer(by, stop)
	passedOn := b.behind(ctx, by, stopped, func() (yes bool) {
		b.betweenPolls(func(units.Time) { yes = src.firstControl > 0 })
		return yes
	})
	before := b.arrivedAt(by, pausedStream)
	st := &stream{frame: template(src.mac, dst.mac, pausedStream, 0, false, 256), every: gap, left: endless}
	b.send(stopped, st)
	if err := wait(ctx, least); err != nil {
		return err
	}
	var sent, got uint64
	_ = within(ctx, window-least, func() bool {
		b.betweenPolls(func(units.Time) { sent, got = st.sent, dst.got[pausedStream].n-before.n })
		return sent > 0 && 2*got > sent
	})
	b.send(stopped)
	b.release(by, end)
	b.behind(ctx, by, stopped, func() bool { return false }) // so that nothing of this is on its way afterwards
	b.quiet(ctx, by, pausedStream, before.n+sent)
	step := Step{
		Name: "not acted on", Port: specs[stopped], Asserts: "the card goes on sending while its peer repeats " + name + " for everything", Measured: fmt.Sprintf("%d of %d frames arrived within %v", got, sent, window),
		Verdict: verdict(
			sent > 0 && 2*got > sent,
		), Values: map[string]float64{"sent": float64(sent), "arrived": float64(got)},
	}
	if !passedOn {
		step.Measured += fmt.Sprintf(" (photon saw no %s there)", name)
	}
	return r.add(step)
}

// fullRate sends frames of full length as fast as the link takes them.
func (p *Plan) fullRate(ctx context.Context, r *report, b *bench, specs []string, from, to int) error {
	step := Step{
		Name:    "line rate",
		Port:    specs[from],
		Asserts: fmt.Sprintf("frames of %d B to %s fill the link, and none is lost", longest, specs[to]),
	}
	if step.Why = p.slow(specs[from], b.ports[from].card); step.Why != "" {
		step.Verdict = NotPossible
		return r.add(step)
	}
	rate := b.ports[from].rate
	n := int64(rate.Bytes(units.Second) / onWire(longest))
	before := b.world.Devices()[to]
	b.send(from, &stream{frame: template(b.ports[from].mac, b.ports[to].mac, fullStream, 0, false, longest), left: n})
	a := b.quiet(ctx, to, fullStream, uint64(n))
	b.send(from)
	after := b.world.Devices()[to]
	b.betweenPolls(func(units.Time) { b.ports[to].got[fullStream] = arrived{} })
	share := 0.
	if a.n > 1 {
		share = float64(units.RateOf(units.Size(a.n-1)*onWire(longest), a.last-a.first)) / float64(rate)
	}
	step.Measured = fmt.Sprintf(
		"%d of %d frames, %.2f %% of %v, %d missed, %d out of order%s",
		a.n,
		n,
		100*share,
		rate,
		after.RxMissed-before.RxMissed,
		a.disorder,
		a.otherLengths(longest),
	)
	step.Verdict = verdict(a.n == uint64(n) && share > 0.99 && a.disorder == 0 && a.otherLengths(longest) == "")
	step.Values = map[string]float64{
		"share":   share,
		"sent":    float64(n),
		"arrived": float64(a.n),
		"missed":  float64(after.RxMissed - before.RxMissed),
	}
	return r.add(step)
}
