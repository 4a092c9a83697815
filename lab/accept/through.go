package accept

import (
	"context"
	"fmt"
	"time"

	"photon/units"
)

// through sends frames of all kinds through the switch, which must arrive at its other port as they are, and not come
// back.
func (p *Plan) through(ctx context.Context, r *report, b *bench, from, to int) error {
	src, dst := b.ports[from].mac, b.ports[to].mac
	id := throughStreams + from
	frames := append(wiringFrames(src, dst, id), dscpFrames(src, dst, id)...)
	b.betweenPolls(func(units.Time) { b.ports[to].wanted[id] = frames })
	b.sendEach(from, frames)
	got := b.quiet(ctx, to, id, uint64(len(frames)))
	back := b.arrivedAt(from, id).n
	return r.add(Step{
		Name: "through the switch", Port: p.Cables[from].Switch.V,
		Asserts: "what comes in leaves unchanged by " + p.Cables[to].Switch.V +
			", of each DSCP and code point of ECN, whatever its length, tag and destination",
		Measured: fmt.Sprintf("%d of %d, %d of them changed, %d came back", got.n, len(frames), got.changed, back),
		Verdict:  verdict(got.n == uint64(len(frames)) && got.changed == 0 && back == 0),
	})
}

// sendEach has a port send each of some frames once.
func (b *bench) sendEach(at int, frames [][]byte) {
	var all []*stream
	for _, f := range frames {
		all = append(all, &stream{frame: f, left: 1})
	}
	b.send(at, all...)
}

// waiting stops all priorities, of which only those that have PFC obey, and looks of which frames none comes until they
// may go again.
func (p *Plan) waiting(ctx context.Context, r *report, b *bench, from, to int) error {
	reach := p.reach(b.ports[to].rate, to).Duration()
	b.pausePeer(to, everything())
	if err := wait(ctx, 10*time.Millisecond+reach); err != nil {
		return err
	}
	id := waitingStreams + from
	frames := dscpFrames(b.ports[from].mac, b.ports[to].mac, id)
	const each, waits = 8, 2 // DSCPs of a priority, and priorities that are stopped
	b.sendEach(from, frames)
	b.quiet(ctx, to, id, uint64(len(frames)-waits*each))
	if err := wait(ctx, 10*time.Millisecond+reach); err != nil { // for those that should not come
		return err
	}
	was := b.release(to, stopFor(0, lossless, second))
	got := b.quiet(ctx, to, id, uint64(len(frames)))
	wrong := 0
	for prio := range was.after {
		want := uint64(each)
		if prio == lossless || prio == second {
			want = 0
		}
		if was.after[prio].n != want {
			wrong++
		}
	}
	stopped := was.after[lossless].n + was.after[second].n
	return r.add(Step{
		Name: "priorities", Port: p.Cables[to].Switch.V,
		Asserts: fmt.Sprintf(
			"an XOFF of all priorities stops those with PFC, %d and %d: DSCP %d to %d, and no others, until the XON",
			lossless, second, lossless*each, second*each+each-1,
		),
		Measured: fmt.Sprintf(
			"%d of %d of these came at once, %d of %d others; %d of %d in the end",
			stopped, waits*each, was.got[id].n-stopped, len(frames)-waits*each, got.n, len(frames),
		),
		Verdict: verdict(wrong == 0 && got.n == uint64(len(frames))),
	})
}
