package accept

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/lab/stat"
	"photon/pfc"
	"photon/telemetry/show"
	"photon/units"
)

// round is what one pause of the switch came to.
type round struct {
	reaction units.Time // from the XOFF to the last frame that came
	bytes    uint64     // that came in it, without FCS
	back     units.Time // from the XON to the first frame that came
}

// effects counts what XOFFs did.
type effects struct{ stopped, wentOn, resumed int }

// reach is how long what a station sends a port of the switch may take to show in what the switch sends there: a poll
// at either end, and what is on its way.
func (p *Plan) reach(rate units.Rate, spec string) units.Time {
	ring := units.Time(0)
	if dpdk.IsPCI(spec) {
		ring = dpdk.Ahead(fabric.Link{Rate: rate})
	}
	parts := pfc.HeadroomOf(rate, 500*units.Nanosecond, 0, ring, longest)
	return rate.Serialize(parts.Sum()) + 2*p.response()
}

// load is what takes a way while its end is paused.
type load struct {
	*way
	st, other, lossy *stream    // of the lossless priority that is stopped, another, and one without PFC; nil: none
	rate             units.Rate // of the slower end
	hold             units.Time // a pause takes no longer
	least            units.Time // and no less, so that the streams beside have come several times
}

// besides are the priorities that go on.
func (l *load) besides() (all []int) {
	for _, prio := range []int{l.beside, l.second} {
		if prio >= 0 {
			all = append(all, prio)
		}
	}
	return all
}

// load makes what takes a way: the stream at the link's rate, and others beside it.
func (t *trial) load(w *way) *load {
	rate := min(t.b.ports[w.from].rate, t.b.ports[w.to].rate)
	every := 50 * rate.Serialize(onWire(256))
	o := &load{way: w, rate: rate, hold: t.p.hold(rate), least: max(10*units.Millisecond, 6*every)}
	k, _ := w.kindOf(w.stop)
	o.st = &stream{frame: w.frame(losslessStream, k, false, longest), left: endless, lossless: true}
	aside := func(id, prio int) *stream {
		k, can := w.kindOf(prio)
		if !can {
			return nil
		}
		return &stream{frame: w.frame(id, k, false, 256), every: every, left: endless}
	}
	o.lossy, o.other = aside(besideStream, w.beside), aside(secondStream, w.second)
	return o
}

// all are the streams that there are.
func (l *load) all() []*stream {
	return slices.DeleteFunc([]*stream{l.lossy, l.other, l.st}, func(s *stream) bool { return s == nil })
}

// flows reports whether frames of the stopped priority come again, which they may take as long as a pause.
func (t *trial) flows(ctx context.Context, l *load) (yes bool, err error) {
	now := func() (n uint64) {
		t.b.betweenPolls(func(units.Time) { n = t.b.ports[l.to].lossless.n })
		return n
	}
	before := now()
	if err := wait(ctx, 10*time.Millisecond); err != nil {
		return false, err
	}
	err = within(ctx, l.hold.Duration(), func() bool { yes = now() > before; return yes })
	return yes, ctxError(ctx, err)
}

// ctxError is the error of a wait that was interrupted; one that only took too long is none.
func ctxError(ctx context.Context, err error) error {
	if err != nil {
		return ctx.Err()
	}
	return nil
}

// pauses stops the switch again and again while a stream at the link's rate takes a way: what the switch does
// with an XOFF is seen at the port that sends it, and what its headroom takes at the port that the switch then stops.
func (t *trial) pauses(ctx context.Context, way *way, i int) error {
	if !t.r.wants("XOFF's effect", "reaction time", "XON's effect", "pause's end", "not obeyed", "other priority",
		"passed up", "headroom", "PFC frames") {
		return nil
	}
	if way.stop < 0 {
		return t.r.add(Step{Name: "XOFF's effect", Port: way.outName, Asserts: "an XOFF stops its priority",
			Verdict: NotPossible, Why: noPriority(way)})
	}
	b, l := t.b, t.load(way)
	var ports show.Ports
	if err := t.sw.shown(ctx, "ports", &ports); err != nil {
		return err
	}
	file := strings.TrimPrefix(t.r.stage, "switch") + "headroom"
	if i > 0 {
		file += fmt.Sprintf("-%d", i+1)
	}
	stop, err := t.sw.capture(ctx, ports.Ports[l.in].Port, strings.TrimPrefix(file, "-")+".pcapng", 128, 4000)
	if err != nil {
		return err
	}
	// heard is how many MAC control frames the other ports have got.
	heard := func() (n uint64) {
		b.betweenPolls(func(units.Time) {
			for k, q := range b.ports {
				if k != l.from {
					n += q.heard()
				}
			}
		})
		return n
	}
	before := heard()
	b.send(l.from, l.all()...)
	all, did, err := t.rounds(ctx, l)
	if err != nil {
		return err
	}
	if err := t.reactions(l, all, did); err != nil {
		return err
	}
	if err := errors.Join(t.ends(ctx, l), t.notObeyed(ctx, l)); err != nil {
		return err
	}
	b.betweenPolls(func(units.Time) {
		for _, st := range l.all() {
			st.left = 0
		}
	})
	got := b.quiet(ctx, l.to, losslessStream, l.st.sent)
	if _, err := stop(); err != nil {
		return err
	}
	if err := errors.Join(t.besides(ctx, l), t.survived(ctx, l, got)); err != nil {
		return err
	}
	return t.pfcFrames(l, heard()-before)
}

// rounds pauses the switch as often as the plan says. A pause ends when all that it does was seen, or could have been.
func (t *trial) rounds(ctx context.Context, l *load) (all []round, did effects, err error) {
	b := t.b
	began, err := t.flows(ctx, l)
	if err != nil {
		return nil, did, err
	}
	for range t.p.Rounds.Or(defaultRounds) {
		var xoffs uint64
		b.betweenPolls(func(units.Time) { xoffs = b.ports[l.from].xoffs })
		b.pausePeer(l.to, xoff(l.stop))
		if err := wait(ctx, l.least.Duration()); err != nil {
			return nil, did, err
		}
		var end units.Time
		if err := ctxError(ctx, within(ctx, (l.hold-l.least).Duration(), func() (seen bool) {
			b.betweenPolls(func(now units.Time) {
				q := b.ports[l.to]
				end = now
				seen = q.ceased(end) && q.wentOn(end, l.besides()...) && b.ports[l.from].xoffs > xoffs
			})
			return seen
		})); err != nil {
			return nil, did, err
		}
		was := b.release(l.to, xon(l.stop))
		one := round{bytes: was.after[l.stop].bytes}
		if was.after[l.stop].n > 0 {
			one.reaction = was.after[l.stop].last - was.since
		}
		resumed, err := t.flows(ctx, l)
		if err != nil {
			return nil, did, err
		}
		b.betweenPolls(func(units.Time) { one.back = b.ports[l.to].back - b.ports[l.to].released })
		all = append(all, one)
		if began && was.ceased(end) {
			did.stopped++
		}
		if was.wentOn(end, l.besides()...) {
			did.wentOn++
		}
		if resumed {
			did.resumed++
		}
		began = resumed
	}
	return all, did, nil
}

// besides counts the frames of the other priorities. One without PFC may lose some behind strict priorities.
func (t *trial) besides(ctx context.Context, l *load) error {
	step := Step{Name: "other priority", Port: l.outName}
	if l.other == nil {
		step.Verdict, step.Asserts = NotPossible, "another lossless priority loses nothing beside the paused one"
		step.Why = fmt.Sprintf("%d is the only one", l.stop)
		return t.r.add(step)
	}
	got := t.b.quiet(ctx, l.to, secondStream, l.other.sent)
	step.Asserts = fmt.Sprintf("priority %d loses nothing beside the paused one", l.second)
	step.Measured = fmt.Sprintf("%d of %d of %d, %d out of order", got.n, l.other.sent, l.second, got.disorder)
	ok := l.other.sent > 0 && got.n == l.other.sent && got.disorder == 0
	if l.lossy != nil {
		some := t.b.arrivedAt(l.to, besideStream)
		step.Asserts += fmt.Sprintf("; none of %d comes twice", l.beside)
		step.Measured += fmt.Sprintf("; %d of %d of %d, %d out of order", some.n, l.lossy.sent, l.beside, some.disorder)
		ok = ok && some.disorder == 0
	}
	step.Verdict = verdict(ok)
	return t.r.add(step)
}

// reactions judges what came of the rounds.
func (t *trial) reactions(l *load, all []round, did effects) error {
	n := len(all)
	if err := t.r.add(Step{
		Name: "XOFF's effect", Port: l.outName,
		Asserts: "an XOFF stops the switch's frames of its priority, and no others, until the XON" + l.name(),
		Verdict: verdict(did == effects{n, n, n}),
		Measured: fmt.Sprintf(
			"%d times, up to %v each: it stopped %d times, the others went on %d times, and it came again %d times",
			n,
			l.hold,
			did.stopped,
			did.wentOn,
			did.resumed,
		),
		Values: map[string]float64{
			"times":   float64(n),
			"stopped": float64(did.stopped),
			"went_on": float64(did.wentOn),
			"resumed": float64(did.resumed),
		},
	}); err != nil {
		return err
	}
	promised := t.p.reach(t.b.ports[l.to].rate, l.outName)
	var came uint64
	t.b.betweenPolls(func(units.Time) { came = t.b.ports[l.to].lossless.n })
	for _, effect := range []struct {
		name, asserts string
		took          func(round) units.Time
	}{
		{"reaction time", "from the XOFF to the last frame", func(o round) units.Time { return o.reaction }},
		{"XON's effect", "from the XON to the first frame", func(o round) units.Time { return o.back }},
	} {
		slices.SortFunc(all, func(a, b round) int { return cmp.Compare(effect.took(a), effect.took(b)) })
		took := make([]float64, n)
		for i := range all {
			took[i] = float64(effect.took(all[i]))
		}
		half, worst := units.Time(stat.Median(took)), effect.took(all[n-1])
		// The station polls, as the switch does: its own gap is in what it measures.
		step := Step{
			Name: effect.name, Port: l.outName,
			Asserts: fmt.Sprintf(
				"%s no more than %v: a poll of %v at either end, and what is on its way",
				effect.asserts,
				promised,
				t.p.response(),
			),
			Measured: fmt.Sprintf("median %v, longest %v", half, worst),
			Verdict:  verdict(worst <= promised),
			Values: map[string]float64{
				"median_s":   half.Seconds(),
				"longest_s":  worst.Seconds(),
				"promised_s": promised.Seconds(),
			},
		}
		switch {
		case came == 0:
			step.Verdict, step.Measured, step.Values = NotPossible, "", nil
			step.Why = "no frame of the priority came at any time"
		case effect.name == "reaction time":
			step.Measured += fmt.Sprintf(" with %d B", all[n-1].bytes)
			step.Values["longest_bytes"] = float64(all[n-1].bytes)
		case did.resumed < n || all[0].back <= 0:
			step.Verdict, step.Measured = Failed, "no frame came after an XON"
		}
		if err := t.r.add(step); err != nil {
			return err
		}
	}
	return nil
}

// ends pauses the switch once, and looks when its frames come again by themselves.
func (t *trial) ends(ctx context.Context, l *load) error {
	if !t.r.wants("pause's end") {
		return nil
	}
	const quanta = pfc.MaxQuanta / 4 * 3 // another time than the longest, which a switch may take for all
	b := t.b
	rate := b.ports[l.to].rate
	long, promised := pfc.Duration(quanta, rate), t.p.reach(rate, l.outName)
	least := long - long/100 // each process has measured the rate of its clock by itself
	b.pauseOnce(l.to, stopFor(quanta, l.stop))
	if err := wait(ctx, least.Duration()); err != nil {
		return err
	}
	var rest, since units.Time
	var came uint64
	err := within(ctx, (long/100 + promised + l.hold).Duration(), func() (again bool) {
		b.betweenPolls(func(units.Time) {
			q := b.ports[l.to]
			since, rest, came = q.since, q.longestRest.to-q.since, q.after[l.stop].n
			again = since > 0 && q.after[l.stop].last >= since+least
		})
		return again
	})
	b.betweenPolls(func(units.Time) {
		q := b.ports[l.to]
		q.control = append(q.control, xon(l.stop))
		q.since = 0
	})
	step := Step{
		Name: "pause's end", Port: l.outName,
		Asserts: fmt.Sprintf(
			"frames come again when a pause of %v is over, not 1 %% before, and no more than %v later",
			long,
			promised,
		),
		Measured: fmt.Sprintf("after %v", rest),
		Verdict:  verdict(since > 0 && came > 0 && rest >= least && rest <= long+promised),
		Values:   map[string]float64{"pause_s": long.Seconds(), "after_s": rest.Seconds()},
	}
	if came == 0 {
		step.Measured = "no frame came"
	}
	return errors.Join(t.r.add(step), ctxError(ctx, err))
}

// notObeyed has a port say what stops nothing of the lossless priorities at a port that has PFC: frames that are sent
// after it was received come.
func (t *trial) notObeyed(ctx context.Context, l *load) error {
	if !t.r.wants("not obeyed") {
		return nil
	}
	b := t.b
	streams, which := []*stream{l.st}, fmt.Sprintf("priority %d", l.stop)
	if l.other != nil {
		streams, which = append(streams, l.other), fmt.Sprintf("priorities %d and %d", l.stop, l.second)
	}
	none := l.noPFC()
	for _, kind := range []struct {
		what      string
		stop, end *pfc.Frame
	}{
		{"PAUSE", pause(pfc.MaxQuanta), pause(0)},
		{"a PFC frame for all priorities but these", none, &pfc.Frame{Enable: none.Enable}},
	} {
		b.pausePeer(l.to, kind.stop)
		if err := t.follows(ctx, l.way); err != nil {
			return err
		}
		var from []uint64
		b.betweenPolls(func(units.Time) {
			for _, st := range streams {
				from = append(from, st.sent)
			}
		})
		came := 0
		err := within(ctx, l.hold.Duration(), func() bool {
			came = 0
			for i, id := range []int{losslessStream, secondStream}[:len(streams)] {
				if b.arrivedAt(l.to, id).next > from[i]+1 {
					came++
				}
			}
			return came == len(streams)
		})
		b.release(l.to, kind.end)
		if err := errors.Join(t.r.add(Step{
			Name: "not obeyed", Port: l.outName,
			Asserts: fmt.Sprintf("%s does not stop %s", kind.what, which),
			Measured: fmt.Sprintf(
				"of %d of %d what was sent after it came within %v", came, len(streams), l.hold,
			),
			Verdict: verdict(came == len(streams)),
		}), ctxError(ctx, err)); err != nil {
			return err
		}
	}
	return nil
}

// survived looks at the port whose peer sent at the link's rate until an XOFF stopped it.
func (t *trial) survived(ctx context.Context, l *load, got arrived) error {
	if !t.r.wants("passed up", "headroom") {
		return nil
	}
	b := t.b
	var buffer show.Buffer
	var counters show.PFC
	var ports show.Ports
	for name, into := range map[string]any{"buffer": &buffer, "ports": &ports} {
		if err := t.sw.shown(ctx, name, into); err != nil {
			return err
		}
	}
	// The last one may still be on its way, or its sender or receiver without a core.
	var received, sent uint64
	var failed error
	begin := time.Now()
	_ = within(ctx, patience+4*t.p.response().Duration(), func() bool {
		failed = t.sw.shown(ctx, "pfc counters", &counters)
		b.betweenPolls(func(units.Time) { received = b.ports[l.from].ever[l.stop] })
		sent = counters.Ports[l.in].Tx[l.stop]
		return failed != nil || received == sent && (sent > 0 || time.Since(begin) > b.late)
	})
	if failed != nil {
		return failed
	}
	if err := t.r.add(Step{
		Name: "passed up", Port: t.ports[l.from].peer, Asserts: "every PFC frame of the switch arrives at its peer",
		Measured: fmt.Sprintf("%d of %d", received, sent), Verdict: verdict(sent > 0 && received == sent),
	}); err != nil {
		return err
	}
	i := slices.IndexFunc(
		buffer.Profiles,
		func(f show.BufferProfile) bool { return f.Port == buffer.Ports[l.in].Port && f.Priority == l.stop },
	)
	if i < 0 {
		return fmt.Errorf("the switch has no lossless priority %d", l.stop)
	}
	profile, port := buffer.Profiles[i], buffer.Ports[l.in]
	used, lost := port.Watermark[l.stop]-profile.XOFF, port.Discards[l.stop]
	moves := t.p.node.Config.PFC[l.stop].Alpha > 0 // XOFF is higher by a part of what is free
	length := uint64(len(l.leaves(l.st.frame)))
	asserts := "headroom suffices for a peer that sends at the link's rate until the XOFF reaches it, and nothing is lost"
	step := Step{
		Name: "headroom", Port: l.inName, Asserts: asserts,
		Measured: fmt.Sprintf(
			"%d B of %d B used, %d discarded, %d of %d frames arrived, %d out of order, %d missed by the card%s",
			max(used, 0),
			profile.Headroom,
			lost,
			got.n,
			l.st.sent,
			got.disorder,
			ports.Ports[l.in].Missed,
			got.otherLengths(length),
		),
		Verdict: verdict(
			used > 0 && (used <= profile.Headroom || moves) && lost == 0 && got.n == l.st.sent && got.disorder == 0 &&
				got.otherLengths(length) == "" && ports.Ports[l.in].Missed == 0,
		),
		Values: map[string]float64{
			"used_bytes":     float64(used),
			"headroom_bytes": float64(profile.Headroom),
			"discards":       float64(lost),
			"sent":           float64(l.st.sent),
			"arrived":        float64(got.n),
			"missed":         float64(ports.Ports[l.in].Missed),
			"pauses":         float64(sent),
		},
	}
	if err := t.r.add(step); err != nil {
		return err
	}
	if why := t.p.slow(l.inName, b.ports[l.from].card); why != "" {
		return t.r.add(
			Step{
				Name:    "headroom",
				Port:    l.inName,
				Asserts: "the same at the card's own rate",
				Verdict: NotPossible,
				Why:     why,
			},
		)
	}
	return nil
}

// pfcFrames judges the PFC frames that the switch sent to whom it stopped; heard is what its other ports got meanwhile.
func (t *trial) pfcFrames(l *load, heard uint64) error {
	var at port
	t.b.betweenPolls(func(units.Time) { at = *t.b.ports[l.from] })
	return t.r.add(Step{
		Name: "PFC frames", Port: l.inName,
		Asserts: fmt.Sprintf(
			"the switch stops priority %d alone, lets it go again, and says so as the standard has it",
			l.stop,
		),
		Measured: fmt.Sprintf(
			"%d XOFF and %d XON of it, %d PFC frames not as they should be, %d PAUSE, %d others, %d at other ports",
			at.xoffs, at.xons, at.strange, at.pauses, at.odd, heard,
		),
		Verdict: verdict(at.xoffs > 0 && at.xons > 0 && at.strange+at.pauses+at.odd+heard == 0),
	})
}
