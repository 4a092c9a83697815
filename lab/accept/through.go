package accept

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"photon/dataplane"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// allFrames are frames of all kinds that take a way, and how many of them the switch floods.
func (w *way) allFrames(id int) (all [][]byte, flooded int) {
	for i, f := range []struct {
		size  int
		tag   bool
		where int
	}{{60, false, 0}, {longest, false, 0}, {longest, true, 0}, {128, false, 1}, {256, false, 2}} {
		if f.where == 1 && w.noBroad || f.where == 2 && w.noNew || f.where > 0 && w.hop != 0 {
			continue
		}
		k := kind{pcp: -1}
		if f.tag || w.tagged {
			k.pcp = lossless
		}
		b := w.frame(id, w.of(k), false, f.size)
		if tag := tagOf(b); tag > 0 {
			fill(b[tag:], i)
			if w.vlan == 0 && w.hop == 0 {
				binary.BigEndian.PutUint16(b[14:], lossless<<13|100)
			}
		} else {
			fill(b, i)
		}
		switch f.where {
		case 1:
			broadcast.Put(b)
			flooded++
		case 2:
			stranger.Put(b)
			flooded++
		}
		all = append(all, b)
	}
	return append(all, w.kindFrames(id)...), flooded
}

// through sends frames of all kinds through the switch, which must arrive at the end of the way as they are to leave,
// and at no port that they are not for.
func (t *trial) through(ctx context.Context, w *way) error {
	name := "through the switch"
	if w.hop != 0 {
		name = "routes"
	}
	if !t.r.wants(name) {
		return nil
	}
	const id = throughStream
	b := t.b
	b.forget(id)
	t.tried[member{w.from, w.vlan}], t.tried[member{w.to, w.leavesIn}] = true, true
	frames, flooded := w.allFrames(id)
	wanted, size := w.allLeave(frames), 0
	for _, f := range wanted {
		size += len(f)
	}
	for i, f := range frames { // which of them are marked is not for this step to say
		at := tagOf(f)
		if f[at+ipAt+1]&wire.CE != 0 && t.p.early(w.out, int(f[at+prioAt]), units.Size(size)) {
			wanted = append(wanted, marked(wanted[i]))
		}
	}
	b.betweenPolls(func(units.Time) { b.ports[w.to].wanted[id] = wanted })
	t.sendEach(w, frames)
	got := b.quiet(ctx, w.to, id, uint64(len(frames)))
	back, astray := b.arrivedAt(w.from, id).n, 0
	for i, j := range t.ports {
		want := 0
		if w.hop == 0 && t.p.form(j.number, w.vlan).ok {
			want = flooded
		}
		if i != w.from && i != w.to {
			n := int(b.quiet(ctx, i, id, uint64(want)).n)
			astray += max(n-want, want-n)
		}
	}
	asserts := "what comes in leaves unchanged by " + w.outName +
		", of each DSCP and code point of ECN, whatever its length, tag and destination"
	switch {
	case w.hop != 0:
		asserts = fmt.Sprintf("what comes in for it leaves by %s to the next hop, with a TTL that is one less%s",
			w.outName, w.name())
	case w.vlan != 0:
		asserts = fmt.Sprintf("what comes in leaves by %s as it came but for the tag, and by no port of another VLAN%s",
			w.outName, w.name())
	}
	return t.r.add(Step{
		Name: name, Port: w.inName, Asserts: asserts,
		Measured: fmt.Sprintf("%d of %d, %d of them changed, %d came back, %d too many or too few at other ports",
			got.n, len(frames), got.changed, back, astray),
		Verdict: verdict(got.n == uint64(len(frames)) && got.changed == 0 && back == 0 && astray == 0),
	})
}

// sendEach has the peer at the beginning of a way send each of some frames once, no faster than they can leave.
func (t *trial) sendEach(w *way, frames [][]byte) {
	var every units.Time
	if from, to := t.b.ports[w.from].rate, t.b.ports[w.to].rate; from > to {
		every = to.Serialize(onWire(longest + 4))
	}
	t.b.betweenPolls(func(now units.Time) {
		p := t.b.ports[w.from]
		p.streams, p.nextStream = nil, 0
		for i, f := range frames {
			p.streams = append(p.streams, &stream{frame: f, left: 1, next: now + units.Time(i)*every})
		}
	})
}

// others tries the routes that no way needed, and the VLANs of each port by which no frame of them came in or left.
func (t *trial) others(ctx context.Context, done []way) error {
	if !t.r.wants("through the switch", "routes") {
		return nil
	}
	came, left := map[member]bool{}, map[member]bool{}
	note := func(w *way) {
		if w.hop == 0 {
			came[member{w.from, w.vlan}], left[member{w.to, w.vlan}] = true, true
		}
	}
	for i := range done {
		note(&done[i])
	}
	for from := range t.ports {
		for to := range t.ports {
			if from == to || t.p.sw.VLANs == nil {
				continue
			}
			for _, w := range t.p.bridged(t.ports, from, to) {
				if came[member{from, w.vlan}] && left[member{to, w.vlan}] {
					continue
				}
				note(&w)
				t.learn(ctx, t.at(&w))
				if err := t.through(ctx, &w); err != nil {
					return err
				}
			}
		}
	}
	for i := range t.p.sw.Routes {
		if err := t.route(ctx, i, done); err != nil {
			return err
		}
	}
	for i, j := range t.ports {
		for _, f := range t.p.forms(j.number) {
			if f.vlan == 0 || t.tried[member{i, f.vlan}] {
				continue
			}
			if err := t.r.add(Step{
				Name: "through the switch", Port: j.device, Verdict: NotPossible,
				Asserts: fmt.Sprintf("what comes in leaves as it came but for the tag (VLAN %d)", f.vlan),
				Why:     "no other port that has a cable is in it, or may be sent its frames",
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// member is a port in a VLAN, by the cable of the turn.
type member struct{ at, vlan int }

// route tries a route from the first port that can, if no way had it.
func (t *trial) route(ctx context.Context, route int, done []way) error {
	why := t.p.whyNotRoute(route)
	if why == "" {
		why = "no port that has a cable leads to it"
		address := t.p.inside(route).As4()
		if slices.ContainsFunc(done, func(w way) bool { return w.hop != 0 && w.address == address }) {
			return nil
		}
		for from := range t.ports {
			for to := range t.ports {
				if from == to {
					continue
				}
				if all := t.p.routed(t.ports, from, to, route); len(all) > 0 {
					return t.through(ctx, t.at(&all[0]))
				}
			}
		}
	}
	return t.r.add(Step{
		Name: "routes", Asserts: fmt.Sprintf("packets for %v leave to its next hop", t.p.sw.Routes[route].Prefix.V),
		Verdict: NotPossible, Why: why,
	})
}

// held says which frames of some an XOFF stops where the way ends.
func (w *way) held(of []kind) string {
	var pcps, dscps uint64
	for _, k := range of {
		switch {
		case w.obeyed>>k.prio&1 == 0:
		case w.trust.Trust == dataplane.TrustPCP && k.pcp >= 0:
			pcps |= 1 << k.pcp
		default:
			dscps |= 1 << k.dscp
		}
	}
	var parts []string
	for _, says := range []struct {
		what string
		set  uint64
	}{{"PCP", pcps}, {"DSCP", dscps}} {
		for begin, set := 0, says.set; set>>begin != 0; {
			begin += bits.TrailingZeros64(set >> begin)
			end := begin + bits.TrailingZeros64(^(set >> begin))
			text := fmt.Sprintf("%s %d", says.what, begin)
			if end > begin+1 {
				text += fmt.Sprintf(" to %d", end-1)
			}
			parts, begin = append(parts, text), end
		}
	}
	if len(parts) == 0 {
		return "none of these frames"
	}
	return strings.Join(parts, ", ")
}

// waiting stops all priorities, of which only those that have PFC obey, and looks of which frames none comes until they
// may go again.
func (t *trial) waiting(ctx context.Context, w *way) error {
	if !t.r.wants("priorities") {
		return nil
	}
	if w.obeyed == 0 {
		return t.r.add(Step{
			Name: "priorities", Port: w.outName, Asserts: "an XOFF of all priorities stops those with PFC",
			Verdict: NotPossible, Why: "it has PFC for none",
		})
	}
	const id = waitingStream
	b := t.b
	b.pausePeer(w.to, everything())
	if err := t.follows(ctx, w); err != nil {
		return err
	}
	var sent [pfc.Classes]int
	held, says := 0, w.kinds()
	for _, k := range says {
		sent[k.prio]++
		if w.obeyed>>k.prio&1 != 0 {
			held++
		}
	}
	frames := w.kindFrames(id)
	t.sendEach(w, frames)
	b.quiet(ctx, w.to, id, uint64(len(frames)-held))
	if err := t.passes(ctx, w); err != nil { // for those that should not come
		return err
	}
	was := b.release(w.to, &pfc.Frame{Enable: w.obeyed})
	got := b.quiet(ctx, w.to, id, uint64(len(frames)))
	wrong, stopped := 0, uint64(0)
	for prio := range was.after {
		want := uint64(sent[prio])
		if w.obeyed>>prio&1 != 0 {
			want, stopped = 0, stopped+was.after[prio].n
		}
		if was.after[prio].n != want {
			wrong++
		}
	}
	return t.r.add(Step{
		Name: "priorities", Port: w.outName,
		Asserts: fmt.Sprintf(
			"an XOFF of all priorities stops those with PFC, %s: %s, and no others, until the XON",
			words(w.obeyed), w.held(says),
		),
		Measured: fmt.Sprintf(
			"%d of %d of these came at once, %d of %d others; %d of %d in the end",
			stopped, held, was.got[id].n-stopped, len(frames)-held, got.n, len(frames),
		),
		Verdict: verdict(wrong == 0 && got.n == uint64(len(frames))),
	})
}
