package dataplane

import (
	"math/bits"
	"unsafe"

	"photon/pfc"
	"photon/wire"
)

// This file takes what waits at a port out of its queues, several queues at once: what is
// done for a queue and not for a frame is shared by few frames, if a port has eight
// priorities. Where there is takeAhead (quick_leave_amd64.s) it does all of it; takeRest says
// what both do.

// leaving is what takeAhead knows of the frames that it took.
type leaving struct {
	sums     [quickBurst + 1]uint32 // bytes of those before each, and of all
	markable uint64                 // a bit for each
}

// takePiece is how many frames of a queue are copied at once, and what is behind them in its ring: a loop as long
// as the queue would end where no processor foresees it. A ring is as long as some pieces.
const takePiece = 8

// What assembly knows by these names.
const (
	accountsAt   = pfc.AccountsAt
	accountBytes = pfc.BytesAt
	accountEasy  = pfc.EasyAt
	accountShift = 6 // log2 of pfc.AccountLen, and of what a port is a multiple of
	markLen      = wire.MarkLen
)

// taken is what takeAll did.
type taken struct {
	queues uint // priorities all of whose frames are in the burst
	n      uint // frames
	eased  uint // of these, those that are out of the accounts of the ports through which they came
}

// takeAll copies the frames of some queues of a port to a burst, the highest priority first: as
// many whole queues as there is room for, each of which begins with its ring. Then it takes those
// at the beginning which are lossless out of their accounts, as far as nothing more is to be done.
func (l *leaving) takeAll(ports []switchPort, p *switchPort, ready uint, burst []Frame) (t taken) {
	room := uint(min(len(burst), quickBurst)) &^ 3 // four are looked at together
	if room == 0 || ready == 0 {
		return t
	}
	if t.queues, t.n, t.eased = takeAhead(l, ports, p, ready, &burst[0], room); t.n == 0 {
		return l.takeRest(ports, p, ready, burst[:room])
	}
	return t
}

// takeRest is takeAll without takeAhead.
func (l *leaving) takeRest(ports []switchPort, p *switchPort, ready uint, burst []Frame) (t taken) {
	l.markable = 0
	for ready != 0 {
		prio := uint(bits.Len(ready) - 1)
		q := &p.queues[prio&7].queue
		if q.head != 0 || uint(q.tail) > uint(len(burst))-t.n {
			break
		}
		for i := range q.ring[:q.tail] {
			f := &burst[t.n]
			f.copy(&q.ring[i])
			l.markable |= uint64(f.Flag&Markable>>7) << t.n
			l.sums[t.n+1] = l.sums[t.n] + uint32(f.Len)
			t.n++
		}
		ready &^= 1 << prio
		t.queues |= 1 << prio
	}
	for t.eased < t.n {
		f := &burst[t.eased]
		in := &ports[f.In].in
		if f.Flag&Lossless == 0 || !in.Easy(f.Prio) {
			break
		}
		in.Ease(f.Prio, int64(f.Len))
		t.eased++
	}
	return t
}

// whole cuts off the queues that are not out of the accounts as a whole: their frames
// are put back there.
func (t *taken) whole(ports []switchPort, p *switchPort, burst []Frame) {
	for t.n > t.eased {
		prio := uint8(bits.TrailingZeros(t.queues)) & 7 // the last
		t.n -= uint(p.queues[prio].tail)
		t.queues &= t.queues - 1
		for ; t.eased > t.n; t.eased-- {
			f := &burst[t.eased-1]
			ports[f.In].in.Ease(f.Prio, -int64(f.Len))
		}
	}
}

// countSome counts some frames of a queue and a burst, all of which are marked.
func (q *level) countSome(burst []Frame, which uint64) {
	for rest := which; rest != 0; rest &= rest - 1 {
		q.marked++
		q.markedBytes += uint64(burst[bits.TrailingZeros64(rest)].Len)
	}
}

// span is the bits from one place to before another; neither is above 63.
func span(from, to uint) uint64 { return 1<<(to&63) - 1<<(from&63) }

// markEach writes congestion experienced into those frames of a burst whose bits are set, all of which are
// markable; the pool is one piece of memory.
func (p *Pool) markEach(burst []Frame, which uint64) {
	if which == 0 {
		return
	}
	_ = burst[bits.Len64(which)-1]
	if which = markAhead(p.base, p.most+wire.QuickLen-markLen, uint(p.unitShift), unsafe.SliceData(burst), which); which != 0 {
		p.markRest(burst, which)
	}
}

// markRest is markEach without markAhead.
func (p *Pool) markRest(burst []Frame, which uint64) {
	base, most, unit := p.base, p.most+wire.QuickLen-markLen, p.unitShift
	for ; which != 0; which &= which - 1 {
		f := &burst[bits.TrailingZeros64(which)]
		at := Start(f.Ref)<<(unit&63) + Start(f.Off) + Start(f.l3())
		if at > most {
			panic(outside)
		}
		wire.SetCE((*[wire.MarkLen]byte)(unsafe.Add(base, at)))
	}
}
