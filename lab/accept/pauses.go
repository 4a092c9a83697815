package accept

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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

// reach is how long what a station sends the switch may take to show in what the switch sends: a poll at either end,
// and what is on its way.
func (p *Plan) reach(rate units.Rate, to int) units.Time {
	ring := units.Time(0)
	if dpdk.IsPCI(p.Cables[to].Switch.V) {
		ring = dpdk.Ahead(fabric.Link{Rate: rate})
	}
	parts := pfc.HeadroomOf(rate, 500*units.Nanosecond, 0, ring, longest)
	return rate.Serialize(parts.Sum()) + 2*p.Response.Or(defaultResponse)
}

// pauses stops the switch again and again while a stream at the link's rate goes through it from one port to another:
// what the switch does with an XOFF is seen at the port that sends it, and what its headroom takes at the port that the
// switch then stops.
func (p *Plan) pauses(ctx context.Context, r *report, b *bench, sw *child, from, to int) error {
	rate, response := b.ports[to].rate, p.Response.Or(defaultResponse)
	hold := max(10*units.Millisecond, 4*response, rate.Serialize(2*switchXOFF)*2).Duration()
	var ports show.Ports
	if err := sw.shown(ctx, "ports", &ports); err != nil {
		return err
	}
	file := []string{"headroom.pcapng", "headroom-back.pcapng"}[from]
	stop, err := sw.capture(ctx, ports.Ports[from].Port, file, 128, 4000)
	if err != nil {
		return err
	}
	var heard uint64
	b.betweenPolls(func(units.Time) { heard = b.ports[to].heard() })
	src, dst := b.ports[from].mac, b.ports[to].mac
	st := &stream{frame: template(src, dst, losslessStream, dataDSCP, false, longest), left: endless, lossless: true}
	aside := func(id, dscp int) *stream {
		every := 50 * rate.Serialize(onWire(256))
		return &stream{frame: template(src, dst, id, dscp, false, 256), every: every, left: endless}
	}
	lossy, other := aside(besideStream, 0), aside(secondStream, secondDSCP)
	b.send(from, lossy, other, st)
	// flows reports whether frames of the priority come, for a while.
	flows := func() (yes bool, err error) {
		var before, after uint64
		b.betweenPolls(func(units.Time) { before = b.ports[to].lossless.n })
		err = wait(ctx, hold)
		b.betweenPolls(func(units.Time) { after = b.ports[to].lossless.n })
		return after > before, err
	}
	began, err := flows()
	if err != nil {
		return err
	}
	var all []round
	var did effects
	for range p.Rounds.Or(defaultRounds) {
		b.pausePeer(to, xoff(lossless))
		if err := wait(ctx, hold); err != nil {
			return err
		}
		var end units.Time
		b.betweenPolls(func(now units.Time) { end = now })
		was := b.release(to, xon(lossless))
		one := round{bytes: was.after[lossless].bytes}
		if was.after[lossless].n > 0 {
			one.reaction = was.after[lossless].last - was.since
		}
		resumed, err := flows()
		if err != nil {
			return err
		}
		b.betweenPolls(func(units.Time) { one.back = b.ports[to].back - b.ports[to].released })
		all = append(all, one)
		if began && was.ceased(end) {
			did.stopped++
		}
		if was.wentOn(end, beside, second) {
			did.wentOn++
		}
		if resumed {
			did.resumed++
		}
		began = resumed
	}
	if err := p.reactions(r, all, did, b.ports[to], hold, rate, to); err != nil {
		return err
	}
	if err := errors.Join(p.ends(ctx, r, b, hold, to), p.notObeyed(ctx, r, b, hold, to)); err != nil {
		return err
	}
	b.betweenPolls(func(units.Time) {
		lossy.left, other.left, st.left = 0, 0, 0
	})
	got := b.quiet(ctx, to, losslessStream, st.sent)
	if _, err := stop(); err != nil {
		return err
	}
	if err := p.besides(ctx, r, b, other, lossy, to); err != nil {
		return err
	}
	if err := p.survived(ctx, r, b, sw, st, got, from); err != nil {
		return err
	}
	return p.pfcFrames(r, b, from, to, heard)
}

// besides counts the frames of the other priorities. One without PFC may lose some behind strict priorities.
func (p *Plan) besides(ctx context.Context, r *report, b *bench, st, lossy *stream, to int) error {
	got, some := b.quiet(ctx, to, secondStream, st.sent), b.arrivedAt(to, besideStream)
	return r.add(Step{
		Name: "other priority", Port: p.Cables[to].Switch.V,
		Asserts: fmt.Sprintf("priority %d loses nothing beside the paused one; none of %d comes twice", second, beside),
		Measured: fmt.Sprintf(
			"%d of %d of %d, %d out of order; %d of %d of %d, %d out of order",
			got.n, st.sent, second, got.disorder, some.n, lossy.sent, beside, some.disorder,
		),
		Verdict: verdict(st.sent > 0 && got.n == st.sent && got.disorder == 0 && some.disorder == 0),
	})
}

func (p *Plan) reactions(
	r *report,
	all []round,
	did effects,
	at *port, // that sent the XOFFs
	hold time.Duration,
	rate units.Rate,
	to int,
) error {
	n := len(all)
	if err := r.add(Step{
		Name: "XOFF's effect", Port: p.Cables[to].Switch.V,
		Asserts: "an XOFF stops the switch's frames of its priority, and no others, until the XON",
		Verdict: verdict(did == effects{n, n, n}),
		Measured: fmt.Sprintf(
			"%d times, %v each: it stopped %d times, the others went on %d times, and it came again %d times",
			n,
			hold,
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
	promised := p.reach(rate, to)
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
			Name: effect.name, Port: p.Cables[to].Switch.V,
			Asserts: fmt.Sprintf(
				"%s no more than %v: a poll of %v at either end, and what is on its way",
				effect.asserts,
				promised,
				p.Response.Or(defaultResponse),
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
		case at.lossless.n == 0:
			step.Verdict, step.Measured, step.Values = NotPossible, "", nil
			step.Why = "no frame of the priority came at any time"
		case effect.name == "reaction time":
			step.Measured += fmt.Sprintf(" with %d B", all[n-1].bytes)
			step.Values["longest_bytes"] = float64(all[n-1].bytes)
		case did.resumed < n || all[0].back <= 0:
			step.Verdict, step.Measured = Failed, "no frame came after an XON"
		}
		if err := r.add(step); err != nil {
			return err
		}
	}
	return nil
}

// ends pauses the switch once, and looks when its frames come again by themselves.
func (p *Plan) ends(ctx context.Context, r *report, b *bench, hold time.Duration, to int) error {
	const quanta = pfc.MaxQuanta / 4 * 3 // another time than the longest, which a switch may take for all
	rate := b.ports[to].rate
	long, promised := pfc.Duration(quanta, rate), p.reach(rate, to)
	least := long - long/100 // each process has measured the rate of its clock by itself
	b.pauseOnce(to, stopFor(quanta, lossless))
	err := wait(ctx, (long+promised).Duration()+hold)
	var rest, since units.Time
	var came uint64
	b.betweenPolls(func(units.Time) {
		q := b.ports[to]
		since, rest, came = q.since, q.longestRest.to-q.since, q.after[lossless].n
		q.control = append(q.control, xon(lossless))
		q.since = 0
	})
	step := Step{
		Name: "pause's end", Port: p.Cables[to].Switch.V,
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
	return errors.Join(r.add(step), err)
}

// notObeyed has a port say what stops nothing of the lossless priority at a port that has PFC.
func (p *Plan) notObeyed(ctx context.Context, r *report, b *bench, hold time.Duration, to int) error {
	for _, kind := range []struct {
		what      string
		stop, end *pfc.Frame
	}{
		{"PAUSE", pause(pfc.MaxQuanta), pause(0)},
		{"a PFC frame for all priorities but these", noPFC(), &pfc.Frame{Enable: noPFC().Enable}},
	} {
		b.pausePeer(to, kind.stop)
		if err := wait(ctx, hold); err != nil {
			return err
		}
		var end units.Time
		b.betweenPolls(func(now units.Time) { end = now })
		was := b.release(to, kind.end)
		if err := r.add(Step{
			Name: "not obeyed", Port: p.Cables[to].Switch.V,
			Asserts: fmt.Sprintf("%s stops neither priority %d nor %d", kind.what, lossless, second),
			Measured: fmt.Sprintf(
				"%d frames of priority %d and %d of %d came within %v",
				was.after[lossless].n, lossless, was.after[second].n, second, hold,
			),
			Verdict: verdict(was.wentOn(end, lossless, second)),
		}); err != nil {
			return err
		}
	}
	return nil
}

// survived looks at the port whose peer sent at the link's rate until an XOFF stopped it.
func (p *Plan) survived(ctx context.Context, r *report, b *bench, sw *child, st *stream, got arrived, from int) error {
	var buffer show.Buffer
	var counters show.PFC
	var ports show.Ports
	for name, into := range map[string]any{"buffer": &buffer, "ports": &ports} {
		if err := sw.shown(ctx, name, into); err != nil {
			return err
		}
	}
	// The last one may still be on its way, or its sender or receiver without a core.
	var received, sent uint64
	var failed error
	_ = within(ctx, patient+4*p.Response.Or(defaultResponse).Duration(), func() bool {
		failed = sw.shown(ctx, "pfc counters", &counters)
		b.betweenPolls(func(units.Time) { received = b.ports[from].pfc })
		sent = counters.Ports[from].Tx[lossless]
		return failed != nil || sent > 0 && received == sent
	})
	if failed != nil {
		return failed
	}
	if err := r.add(Step{
		Name: "passed up", Port: p.Cables[from].Peer.V, Asserts: "every PFC frame of the switch arrives at its peer",
		Measured: fmt.Sprintf("%d of %d", received, sent), Verdict: verdict(sent > 0 && received == sent),
	}); err != nil {
		return err
	}
	i := slices.IndexFunc(
		buffer.Profiles,
		func(f show.BufferProfile) bool { return f.Port == buffer.Ports[from].Port && f.Priority == lossless },
	)
	if i < 0 {
		return fmt.Errorf("the switch has no lossless priority %d", lossless)
	}
	profile, port := buffer.Profiles[i], buffer.Ports[from]
	used, lost := port.Watermark[lossless]-profile.XOFF, port.Discards[lossless]
	asserts := "headroom suffices for a peer that sends at the link's rate until the XOFF reaches it, and nothing is lost"
	step := Step{
		Name: "headroom", Port: p.Cables[from].Switch.V, Asserts: asserts,
		Measured: fmt.Sprintf(
			"%d B of %d B used, %d discarded, %d of %d frames arrived, %d out of order, %d missed by the card%s",
			max(used, 0),
			profile.Headroom,
			lost,
			got.n,
			st.sent,
			got.disorder,
			ports.Ports[from].Missed,
			got.otherLengths(longest),
		),
		Verdict: verdict(
			used > 0 && used <= profile.Headroom && lost == 0 && got.n == st.sent && got.disorder == 0 &&
				got.otherLengths(longest) == "" && ports.Ports[from].Missed == 0,
		),
		Values: map[string]float64{
			"used_bytes":     float64(used),
			"headroom_bytes": float64(profile.Headroom),
			"discards":       float64(lost),
			"sent":           float64(st.sent),
			"arrived":        float64(got.n),
			"missed":         float64(ports.Ports[from].Missed),
			"pauses":         float64(sent),
		},
	}
	if err := r.add(step); err != nil {
		return err
	}
	if why := p.slow(); why != "" {
		return r.add(
			Step{
				Name:    "headroom",
				Port:    p.Cables[from].Switch.V,
				Asserts: "the same at the card's own rate",
				Verdict: NotPossible,
				Why:     why,
			},
		)
	}
	return nil
}

// pfcFrames judges the PFC frames that the switch sent to whom it stopped; heard is what its other port had got before.
func (p *Plan) pfcFrames(r *report, b *bench, from, to int, heard uint64) error {
	var at port
	b.betweenPolls(func(units.Time) { at, heard = *b.ports[from], b.ports[to].heard()-heard })
	return r.add(Step{
		Name: "PFC frames", Port: p.Cables[from].Switch.V,
		Asserts: fmt.Sprintf(
			"the switch stops priority %d alone, lets it go again, and says so as the standard has it",
			lossless,
		),
		Measured: fmt.Sprintf(
			"%d XOFF and %d XON of it, %d PFC frames not as they should be, %d PAUSE, %d others, %d at the other port",
			at.xoffs, at.xons, at.strange, at.pauses, at.odd, heard,
		),
		Verdict: verdict(at.xoffs > 0 && at.xons > 0 && at.strange+at.pauses+at.odd+heard == 0),
	})
}
