package accept

import (
	"context"
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
}

// pauses stops the switch again and again while a stream at the link's rate goes through it: what the switch does with
// an XOFF is seen at the port that sends it, and what its headroom takes at the port that the switch then stops.
func (p *Plan) pauses(ctx context.Context, r *report, b *bench, sw *child) error {
	rate, response := b.ports[1].rate, p.Response.Or(defaultResponse)
	hold := max(10*units.Millisecond, 4*response, rate.Serialize(2*switchXOFF)*2).Duration()
	var ports show.Ports
	if err := sw.shown(ctx, "ports", &ports); err != nil {
		return err
	}
	stop, err := sw.capture(ctx, ports.Ports[0].Port, "headroom.pcapng", 128, 4000)
	if err != nil {
		return err
	}
	from, to := b.ports[0].mac, b.ports[1].mac
	st := &stream{frame: template(from, to, losslessStream, dataDSCP, false, longest), left: endless, lossless: true}
	other := &stream{
		frame: template(from, to, besideStream, 0, false, 256),
		every: 50 * rate.Serialize(onWire(256)),
		left:  endless,
	}
	b.send(0, st, other)
	// flows reports whether frames of the priority come, for a while.
	flows := func() (yes bool, err error) {
		var before, after uint64
		b.betweenPolls(func(units.Time) { before = b.ports[1].lossless })
		err = wait(ctx, hold)
		b.betweenPolls(func(units.Time) { after = b.ports[1].lossless })
		return after > before, err
	}
	began, err := flows()
	if err != nil {
		return err
	}
	var all []round
	ceased := 0
	for range p.Rounds.Or(defaultRounds) {
		b.pausePeer(1, xoff(lossless))
		if err := wait(ctx, hold); err != nil {
			return err
		}
		var end units.Time
		b.betweenPolls(func(now units.Time) { end = now })
		was := b.release(1, xon(lossless))
		one := round{bytes: was.after.bytes}
		if was.after.n > 0 {
			one.reaction = was.after.last - was.since
		}
		all = append(all, one)
		resumed, err := flows()
		if err != nil {
			return err
		}
		if began && resumed && was.ceased(end) {
			ceased++
		}
		began = resumed
	}
	b.send(0, &stream{frame: other.frame}) // none is left
	got := b.quiet(ctx, 1, losslessStream, st.sent)
	if _, err := stop(); err != nil {
		return err
	}
	ever := uint64(0)
	b.betweenPolls(func(units.Time) { ever = b.ports[1].lossless })
	if err := p.reactions(r, all, ceased, ever, hold, rate, response); err != nil {
		return err
	}
	return p.survived(ctx, r, b, sw, st, got)
}

func (p *Plan) reactions(
	r *report,
	all []round,
	ceased int,
	ever uint64, // frames of the priority that came
	hold time.Duration,
	rate units.Rate,
	response units.Time,
) error {
	if err := r.add(Step{
		Name: "XOFF's effect", Port: p.Cables[1].Switch.V, Asserts: "an XOFF stops the switch's frames of its priority, and no others, until the XON", Verdict: verdict(ceased == len(all)),
		Measured: fmt.Sprintf("%d of %d times, %v each", ceased, len(all), hold), Values: map[string]float64{"times": float64(len(all)), "stopped": float64(ceased)},
	}); err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b round) int { return int(a.reaction - b.reaction) })
	reactions := make([]float64, len(all))
	for i := range all {
		reactions[i] = float64(all[i].reaction)
	}
	half, worst := units.Time(stat.Median(reactions)), all[len(all)-1]
	// The station polls, as the switch does: its own gap is in what it measures.
	ring := units.Time(0)
	if dpdk.IsPCI(p.Cables[1].Switch.V) {
		ring = dpdk.Ahead(fabric.Link{Rate: rate})
	}
	parts := pfc.HeadroomOf(rate, 500*units.Nanosecond, 0, ring, longest)
	promised := rate.Serialize(parts.Sum()) + 2*response
	step := Step{
		Name: "reaction time", Port: p.Cables[1].Switch.V, Asserts: fmt.Sprintf("from the XOFF to the last frame no more than %v: a poll of %v at either end, and what is on its way", promised, response),
		Measured: fmt.Sprintf(
			"median %v, longest %v with %d B",
			half,
			worst.reaction,
			worst.bytes,
		), Verdict: verdict(worst.reaction <= promised),
		Values: map[string]float64{
			"median_s":      half.Seconds(),
			"longest_s":     worst.reaction.Seconds(),
			"longest_bytes": float64(worst.bytes),
			"promised_s":    promised.Seconds(),
		},
	}
	if ever == 0 {
		step.Verdict, step.Measured, step.Values = NotPossible, "", nil
		step.Why = "no frame of the priority came at any time"
	}
	return r.add(step)
}

// survived looks at the port whose peer sent at the link's rate until an XOFF stopped it.
func (p *Plan) survived(ctx context.Context, r *report, b *bench, sw *child, st *stream, got arrived) error {
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
		b.betweenPolls(func(units.Time) { received = b.ports[0].pfc })
		sent = counters.Ports[0].Tx[lossless]
		return failed != nil || sent > 0 && received == sent
	})
	if failed != nil {
		return failed
	}
	if err := r.add(Step{
		Name: "passed up", Port: p.Cables[0].Peer.V, Asserts: "every PFC frame of the switch arrives at its peer", Measured: fmt.Sprintf("%d of %d", received, sent), Verdict: verdict(sent > 0 && received == sent),
	}); err != nil {
		return err
	}
	i := slices.IndexFunc(
		buffer.Profiles,
		func(f show.BufferProfile) bool { return f.Port == buffer.Ports[0].Port && f.Priority == lossless },
	)
	if i < 0 {
		return fmt.Errorf("the switch has no lossless priority %d", lossless)
	}
	profile, port := buffer.Profiles[i], buffer.Ports[0]
	used, lost := port.Watermark[lossless]-profile.XOFF, port.Discards[lossless]
	asserts := "headroom suffices for a peer that sends at the link's rate until the XOFF reaches it, and nothing is lost"
	step := Step{
		Name: "headroom", Port: p.Cables[0].Switch.V, Asserts: asserts,
		Measured: fmt.Sprintf(
			"%d B of %d B used, %d discarded, %d of %d frames arrived, %d out of order, %d missed by the card%s",
			max(used, 0),
			profile.Headroom,
			lost,
			got.n,
			st.sent,
			got.disorder,
			ports.Ports[0].Missed,
			got.otherLengths(longest),
		),
		Verdict: verdict(
			used > 0 && used <= profile.Headroom && lost == 0 && got.n == st.sent && got.disorder == 0 &&
				got.otherLengths(longest) == "" && ports.Ports[0].Missed == 0,
		),
		Values: map[string]float64{
			"used_bytes": float64(
				used,
			), "headroom_bytes": float64(profile.Headroom), "discards": float64(lost), "sent": float64(st.sent), "arrived": float64(got.n), "missed": float64(ports.Ports[0].Missed),
			"pauses": float64(sent),
		},
	}
	if err := r.add(step); err != nil {
		return err
	}
	if why := p.slow(); why != "" {
		return r.add(
			Step{
				Name:    "headroom",
				Port:    p.Cables[0].Switch.V,
				Asserts: "the same at the card's own rate",
				Verdict: NotPossible,
				Why:     why,
			},
		)
	}
	return nil
}
