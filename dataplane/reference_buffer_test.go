package dataplane_test

import (
	"math"

	"photon/dataplane"
	"photon/fabric"
	"photon/marking"
	"photon/units"
)

// The reference's buffer: what a frame is charged to, and when it finds no room.

// taken reports whether what comes through a port with a priority is lossless.
func (r *reference) taken(p *refPort, prio int) bool { return p.config.Pause || r.pfc(p, prio) }

// accountable reports whether a port has an account with thresholds of that number, and accountOf which is a priority's.
func (r *reference) accountable(p *refPort, prio int) bool {
	return p.config.Pause && prio == 0 || r.pfc(p, prio)
}

func (p *refPort) accountOf(prio int) int {
	if p.config.Pause {
		return 0
	}
	return prio
}

// free is what is left of the shared part of the buffer.
func (r *reference) free() int {
	size := int(r.config.Buffer)
	for _, p := range r.ports {
		for prio := range 8 {
			if r.accountable(p, prio) {
				t := r.thresholds(p, prio)
				size -= int(t.XOFF)
				if r.config.Headroom == 0 {
					size -= int(t.Headroom)
				}
			}
			size -= int(p.config.Queues[prio].Min)
		}
	}
	return max(0, size-int(r.config.Headroom)-r.used)
}

// headed is how much of what all ports have as headroom is used. What was promised beyond a priority's is the pool's.
func (r *reference) headed() (sum int) {
	for _, p := range r.ports {
		for prio := range 8 {
			if r.accountable(p, prio) {
				sum += min(p.accounts[prio].head, int(r.thresholds(p, prio).Headroom))
			}
		}
	}
	return sum
}

// cost is what a frame takes of the buffer.
func (r *reference) cost(length int) int {
	if c := int(r.config.Cell); c > 0 {
		return (length + c - 1) / c * c
	}
	return length
}

// queue admits a frame to the buffer, and then to the queue that it leaves from.
func (r *reference) queue(now units.Time, in, out *refPort, f refFrame) {
	if why, ok := r.admit(in, out, f); !ok {
		r.lose(now, in, f.prio, why)
		return
	}
	r.attend(now, out)
	if why, ok := r.room(out, f); !ok {
		r.release(out, f)
		r.loseFrame(now, out, f, why)
		return
	}
	if f.in != made {
		k := in.accountOf(f.prio)
		a := in.accounts[k]
		in.least[k] = max(in.least[k], units.Size(a.base+a.head)+in.stats.Buffered[k])
	}
	out.queues[f.prio] = append(out.queues[f.prio], f)
	out.stats.QueuePeak[f.prio] = max(out.stats.QueuePeak[f.prio], units.Size(out.bytes(f.prio)))
	if cp, ok := out.points[f.prio].(marking.Sampler); ok && f.in != made && r.judges(f) {
		if s, ok := cp.Enqueue(now, out.state(f.prio), packetOf(f)); ok {
			r.notify(now, out, f, s)
		}
	}
}

func (r *reference) admit(in, out *refPort, f refFrame) (why fabric.Reason, ok bool) {
	cost := r.cost(len(f.bytes))
	if f.lossless {
		return fabric.DropHeadroom, r.charge(in, in.accountOf(f.prio), cost)
	}
	pooled := beyond(out, f.prio, out.lossy[f.prio]+cost) - beyond(out, f.prio, out.lossy[f.prio])
	if f.in != made && pooled > 0 && r.crowded(in, cost) {
		return fabric.DropIngress, false
	}
	if pooled > r.free() {
		return fabric.DropBuffer, false
	}
	r.used += pooled
	r.most = max(r.most, r.used)
	out.lossy[f.prio] += cost
	if f.in != made {
		in.stats.Buffered[f.prio] += units.Size(cost)
		in.stats.Ingress.Peak[f.prio] = max(in.stats.Ingress.Peak[f.prio], in.stats.Buffered[f.prio])
	}
	return 0, true
}

// beyond is what of so many bytes of lossy frames a queue has not got set aside.
func beyond(out *refPort, prio, lossy int) int { return max(0, lossy-int(out.config.Queues[prio].Min)) }

// crowded reports whether lossy frames that came through a port may not take so many bytes more.
func (r *reference) crowded(in *refPort, cost int) bool {
	sum := cost
	for _, n := range in.stats.Buffered {
		sum += int(n)
	}
	limit, alpha := int(in.config.LossyLimit), in.config.LossyAlpha
	return limit > 0 && sum > limit || alpha > 0 && float64(sum) > alpha*float64(r.free())
}

// room reports whether a queue takes a frame that was admitted.
func (r *reference) room(out *refPort, f refFrame) (why fabric.Reason, ok bool) {
	limit := float64(r.config.Tail)
	share := r.config.Share
	switch own := out.config.Queues[f.prio].Alpha; own {
	case 0:
	case dataplane.NoAlpha:
		share = 0
	default:
		share = own
	}
	if share > 0 {
		limit = min(limit, share*float64(r.free()))
	}
	switch {
	case !f.lossless && beyond(out, f.prio, out.lossy[f.prio]) > 0 && float64(out.bytes(f.prio)+len(f.bytes)) > limit:
		return fabric.DropTail, false
	case out.down:
		return fabric.DropLink, false
	case out.pauses[f.prio].storm && dropping(r.config.Watchdog.Action):
		return fabric.DropStorm, false
	}
	if w := out.wred[f.prio]; w != nil && !f.lossless && f.in != made {
		return fabric.DropWRED, !w.Drops(units.Size(out.bytes(f.prio)), f.head.ip != 0 && f.head.tos&3 != 0)
	}
	return 0, true
}

// charge accounts a lossless frame to its priority's base, as far as that is below its threshold, and the
// rest to headroom.
func (r *reference) charge(p *refPort, prio, cost int) bool {
	a, t, free := &p.accounts[prio], r.thresholds(p, prio), r.free()
	pooled := func(base int) int { return max(0, base-int(t.XOFF)) }
	below := int(t.XOFF) + int(math.Floor(t.Alpha*float64(free)))
	part := min(cost, max(0, below-a.base))
	if pooled(a.base+part)-pooled(a.base) > free {
		part = min(cost, max(0, int(t.XOFF)-a.base))
	}
	room := int(t.Headroom)
	own := min(a.head+cost-part, room) - min(a.head, room)
	dry := r.config.Headroom > 0 && own > 0 && r.headed()+own > int(r.config.Headroom)
	if a.head+cost-part > a.promised || dry {
		a.refused = true
		return false
	}
	before := r.pooled(p, prio)
	a.base += part
	a.head += cost - part
	r.used += r.pooled(p, prio) - before
	r.most, r.heads = max(r.most, r.used), max(r.heads, r.headed())
	in := &p.stats.Ingress
	in.Peak[prio] = max(in.Peak[prio], units.Size(a.base+a.head))
	in.HeadroomMax[prio] = max(in.HeadroomMax[prio], units.Size(a.head))
	return true
}

// pooled is what an account has of the pool: base beyond XOFF, and what was promised beyond headroom.
func (r *reference) pooled(p *refPort, prio int) int {
	if !r.accountable(p, prio) {
		return 0
	}
	a, t := p.accounts[prio], r.thresholds(p, prio)
	return max(0, a.base-int(t.XOFF)) + max(0, a.head-int(t.Headroom))
}

// release gives back what a frame took: of headroom first.
func (r *reference) release(out *refPort, f refFrame) {
	cost := r.cost(len(f.bytes))
	if !f.lossless {
		r.used -= beyond(out, f.prio, out.lossy[f.prio])
		out.lossy[f.prio] -= cost
		r.used += beyond(out, f.prio, out.lossy[f.prio])
		if f.in != made {
			r.ports[f.in].stats.Buffered[f.prio] -= units.Size(cost)
		}
		return
	}
	p := r.ports[f.in]
	k := p.accountOf(f.prio)
	a := &p.accounts[k]
	before := r.pooled(p, k)
	part := min(cost, a.head)
	a.head -= part
	a.base -= cost - part
	r.used += r.pooled(p, k) - before
}
