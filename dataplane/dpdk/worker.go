//go:build dpdk

package dpdk

/*
#include <stdlib.h>
#include "ph.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"photon/fabric"
	"photon/units"
)

// worker polls its ports on one core.
type worker struct {
	_     [64]byte // nothing of another worker's is in its lines of the cache
	world *world
	index int
	core  int
	pool  *fabric.Pool
	ports []*port
	envs  []*fabric.Env // of its ports' nodes, each once

	pollers []fabric.Poller // of its nodes, if there are several workers
	c       *C.struct_ph_worker
	swap    C.struct_ph_swap
	clock   clock

	polls      Polls
	chosen     uint64      // time stamp of when it last chose a frame to follow
	choices    uint64      // turns of ports to have a frame followed
	departures []departure // frames that were followed, and left in this round
	gone       Polls       // frames of ports that are no more, of those
	rounds     uint64
	last       uint64     // time stamp of the last round
	longest    uint64     // ticks between two rounds
	sleeps     uint64     // of the thread, when last asked
	exhausted  units.Time // when it first found no free buffer
	hz         uint64
	watch      bool // a frame's residence is measured in this round
	_          [64]byte

	sighting sighting
}

const (
	idleAfter = 64 // rounds without work, before a worker that may sleep does

	shortest = 5 * units.Microsecond // sleep: the kernel needs that long to stop and start a thread
)

func newWorker(w *world, index int) *worker {
	k := &worker{world: w, index: index, core: w.options.Cores[index], hz: ticksPerSecond(), exhausted: units.Never}
	k.polls = newPolls(k.hz)
	k.c = (*C.struct_ph_worker)(C.ph_lines(C.sizeof_struct_ph_worker))
	k.c.pool = eal.pool
	k.c.base = (*C.uint8_t)(eal.base)
	const headroom = C.sizeof_struct_rte_mbuf + C.RTE_PKTMBUF_HEADROOM
	slot := uint16(min(headroom+eal.size, 1<<16-1))
	k.pool = fabric.NewPool(unsafe.Slice((*byte)(eal.base), eal.span), slot, headroom, k.refill)
	k.pool.SetSlots(make([]uint32, 0, 4*batch))
	return k
}

// refill fetches free buffers from the pool. Nodes come here by way of Alloc
// only if they use up a batch within a round.
func (k *worker) refill(p *fabric.Pool) {
	k.exchange(p, batch)
	if k.swap.n == 0 {
		k.exhausted = min(k.exhausted, k.clock.now)
	}
}

// exchange gives free buffers back to the pool or fetches some, so that half of size are at hand.
func (k *worker) exchange(p *fabric.Pool, size int) {
	free := p.Slots()
	k.swap = C.struct_ph_swap{
		worker: k.c, slots: (*C.uint32_t)(unsafe.SliceData(free[:1])), n: C.uint32_t(len(free)), size: C.uint32_t(size),
	}
	call(unsafe.Pointer(C.ph_swap), unsafe.Pointer(&k.swap))
	p.SetSlots(free[:k.swap.n])
}

// build has the worker poll its ports, and gives it room for those that come while it runs.
func (k *worker) build(ports []*port, step units.Time) {
	k.clock = newClock(k.hz, k.world.options.Dilation, step)
	k.clock.now = k.world.now
	k.c.port = (**C.struct_ph_port)(C.calloc(C.size_t(len(ports)+MaxPorts), C.sizeof_uintptr_t))
	for _, p := range ports {
		if p.c == nil {
			p.lay()
		}
		k.take(p)
	}
}

// take has the worker poll a port from now on.
func (k *worker) take(p *port) {
	k.list()[len(k.ports)] = p.c
	k.ports = append(k.ports, p)
	k.c.ports++
	if p.c.kind == C.PH_MEMIF {
		k.c.memifs++
	}
	p.exit = p.env.Exit(p.number)
	p.price()
	if slices.Contains(k.envs, p.env) {
		return
	}
	k.envs = append(k.envs, p.env)
	if n, ok := p.node.(fabric.Poller); ok && len(k.world.workers) > 1 {
		k.pollers = append(k.pollers, n)
	}
}

// drop has the worker leave a port alone.
func (k *worker) drop(p *port) {
	i := slices.Index(k.ports, p)
	list := k.list()
	copy(list[i:], list[i+1:len(k.ports)])
	k.ports = slices.Delete(k.ports, i, i+1)
	k.c.ports--
	if p.c.kind == C.PH_MEMIF {
		k.c.memifs--
	}
	k.gone.RxFrames += p.delivered
	k.gone.TxFrames += uint64(p.c.tx_total) + uint64(p.c.tx_n)
}

// list are C's ports, and room for more.
func (k *worker) list() []*C.struct_ph_port {
	return unsafe.Slice(k.c.port, len(k.ports)+MaxPorts)
}

// lay lays out what a worker needs of a port in C's memory.
func (p *port) lay() {
	p.c = (*C.struct_ph_port)(C.ph_lines(C.sizeof_struct_ph_port))
	p.c.rx_dev, p.c.rx_queue = C.uint16_t(p.in.dev), C.uint16_t(p.in.queue)
	p.c.tx_dev, p.c.tx_queue = C.uint16_t(p.out.dev), C.uint16_t(p.out.queue)
	p.tx, p.rx = view(&p.c.tx[0], C.PH_STAGED), view(&p.c.rx[0], C.PH_BURST)
	if p.device == nil {
		return
	}
	p.c.packet = C.ph_packet_of(p.c.tx_dev)
	p.c.kind = kindOf(p.device)
}

// price sets how long a byte takes on the exit's link.
func (p *port) price() {
	if p.exit == nil { // not yet
		return
	}
	p.exit.PerByte = 0
	if p.link.Rate > 0 {
		p.exit.PerByte = p.link.Rate.Serialize(1)
	}
}

// run polls until the world's time reaches an instant, or the world finishes.
func (k *worker) run(until units.Time) (err error) {
	defer func() {
		if err != nil {
			k.world.finished.Store(true) // or the others would poll on without it
		}
		if k.index == 0 {
			k.world.headless.Store(true)
		}
		k.world.resting.Add(1) // who has left does not hold up the others
	}()
	arrived := k.world.begun
	arrive := func() {
		if !arrived {
			arrived = true
			k.world.gather.Done()
		}
	}
	defer arrive()         // or the others would wait for it
	runtime.LockOSThread() // and never unlocked: the pinned thread ends with the goroutine
	var core unix.CPUSet
	core.Set(k.core)
	if unix.SchedSetaffinity(0, &core) != nil {
		return fmt.Errorf("worker %d cannot run on core %d", k.index, k.core)
	}
	if C.rte_thread_register() != 0 {
		return fmt.Errorf("worker %d: DPDK does not take its thread: %s", k.index, rteError())
	}
	defer C.rte_thread_unregister()
	C.ph_never_wait()
	if !k.world.begun {
		arrive()
		k.world.gather.Wait()
		if err := k.begin(); err != nil {
			return err
		}
	}
	k.last = uint64(C.rte_rdtsc())
	k.sleeps = asleep()
	if k.world.options.Sleep > 0 {
		// The kernel may wake a thread 50 us late, to wake several at once; not this one.
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	// Go's runtime interrupts a thread by SIGURG when its goroutine is to make room. A worker's looks by itself.
	_ = unix.PthreadSigmask(unix.SIG_BLOCK, &unix.Sigset_t{Val: [16]uint64{1 << (unix.SIGURG - 1)}}, nil)
	pin()
	defer unpin()
	k.poll(until)
	return nil
}

// poll does so. It is pinned to its P (pin.go): nothing in it may wait.
func (k *worker) poll(until units.Time) {
	k.balance()
	idle := 0
	offered := k.last
	offers := k.hz / 1_000_000 * offerEvery
	for !k.world.finished.Load() {
		if k.last-offered < offers && k.world.stops.Load() == 0 {
			call(unsafe.Pointer(C.ph_round), unsafe.Pointer(k.c))
		} else {
			offered = k.last
			wait(unsafe.Pointer(C.ph_round), unsafe.Pointer(k.c))
		}
		tsc := uint64(k.c.now)
		if gap := tsc - k.last; tsc > k.last {
			k.longest = max(k.longest, gap)
			k.polls.gap(gap)
			if gap >= k.polls.long {
				k.attribute(gap)
			}
		}
		if len(k.departures) > 0 {
			k.reckon(tsc)
		}
		k.last = tsc
		k.rounds++
		now := min(k.clock.read(tsc), until)
		if now >= lapAt && k.index == 0 && until == units.Never {
			k.world.requestLap()
		}
		if k.world.request.Load() != nil {
			k.serveRequest(now)
			now = min(k.clock.now, until) // it may have been set back
			idle = 0                      // sleeping right away would hide how long no worker polled
		}
		if k.index == 0 {
			k.sample(now)
		}
		busy := k.c.received > 0
		k.round(now)
		for _, p := range k.ports {
			busy = p.end(now, k) || busy
		}
		for _, e := range k.envs {
			e.Woken() // every port was looked at
			e.UsedExits()
		}
		k.balance()
		if now == until {
			k.clock.now = until
			break
		}
		if idle++; busy {
			idle = 0
		}
		if k.world.options.Sleep > 0 && idle > idleAfter {
			k.sleep(now)
		}
	}
}

// attribute finds out whether the thread slept since this was last asked.
func (k *worker) attribute(gap uint64) {
	if n := asleep(); n != k.sleeps {
		k.sleeps = n
		k.polls.slept(gap)
	}
}

// asleep is how often the thread gave up its core by itself.
func asleep() uint64 {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &u) // a raw system call: Go's scheduler does not hear of it
	return uint64(u.Nvcsw)
}

// busy is the processor time that the thread had, in nanoseconds.
func busy() uint64 {
	var t unix.Timespec
	_, _, _ = unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_THREAD_CPUTIME_ID, uintptr(unsafe.Pointer(&t)), 0)
	return uint64(t.Nano())
}

// sleep sleeps, but not beyond the next event of a port. It must not wait for a
// quiet moment: a worker that polls on while frames are on an emulated link takes
// a whole core, and where there are more workers than cores the kernel then stops
// each for milliseconds, and all their traffic comes in bunches.
func (k *worker) sleep(now units.Time) {
	rest := k.world.options.Sleep
	for _, p := range k.ports {
		rest = min(rest, p.next()-now)
	}
	if rest < shortest {
		return
	}
	k.c.nap = C.uint32_t(rest / units.Nanosecond)
	wait(unsafe.Pointer(C.ph_nap), unsafe.Pointer(k.c))
	// A sleep on purpose is no gap. That the kernel let it go on later is one.
	k.last = min(uint64(k.c.now), k.last+uint64(k.c.nap)*(k.hz/1_000_000)/1000)
	k.sleeps = asleep()
}

// round runs the nodes for one round. What waits is staged first, so that what arrives and need not wait
// can leave behind it at once.
func (k *worker) round(now units.Time) {
	k.follow()
	k.watch = k.world.watching()
	for _, p := range k.ports {
		p.staged = int(p.c.tx_n) // that the device did not take
		p.left = p.staged
		if !p.emulate { // an emulated link sends when it is known what arrived before
			p.serve(now, k)
		}
		p.open(now)
	}
	for _, p := range k.ports {
		if n := int(p.c.rx_n); n > 0 {
			p.delivered += uint64(n)
			if k.watch {
				k.abandon(p, p.rx[:n])
			}
			k.polls.rx(n)
			if p.tap != nil {
				p.tap.Copy(now, false, p.env.Pool, p.rx[:n])
			}
			p.node.Receive(now, p.number, p.rx[:n])
		}
	}
	k.watch = k.world.watching() // what another worker follows may be handed over now
	for _, n := range k.pollers {
		n.Poll(now, k.index)
	}
}

// serveRequest stops for a request. Worker 0 runs it when the others have stopped; they continue
// when it is done.
func (k *worker) serveRequest(now units.Time) {
	w := k.world
	start := busy()
	defer func() { k.polls.request(busy() - start) }()
	if k.index == 0 {
		for int(w.resting.Load()) < len(w.workers)-1 {
			k.yield()
		}
		if l := w.request.Load(); l != nil {
			if l.brief {
				l.do(now)
			} else {
				unpin()
				l.do(now)
				pin()
			}
			w.request.Store(nil) // now only: the others go by it
			l.done.Store(true)
		}
		return
	}
	// Before it continues it checks again: worker 0 may have counted it for the next request.
	for again := true; again; again = w.requested() {
		w.resting.Add(1)
		for w.requested() {
			k.yield()
		}
		w.resting.Add(-1)
	}
}

// requested reports whether there is a request for which worker 0 waits for the others to
// stop. One that comes when worker 0 has left is run by Run, after all of them.
func (w *world) requested() bool { return w.request.Load() != nil && !w.headless.Load() }

// yield lets another thread have the core, if one wants it, and the world stop.
func (k *worker) yield() { wait(unsafe.Pointer(C.ph_yield), unsafe.Pointer(k.c)) }

// sample runs the samplers that are due.
func (k *worker) sample(now units.Time) {
	for i := range k.world.samples {
		if k.world.samples[i].next > now {
			continue
		}
		unpin() // samplers may wait
		for s := &k.world.samples[i]; s.next <= now; {
			k.world.behind = now - s.next
			s.next = s.do(s.next)
		}
		pin()
	}
}

// balance keeps enough free buffers at the worker, and not too many.
func (k *worker) balance() {
	if n := len(k.pool.Slots()); n < batch/4 || n > batch {
		k.refill(k.pool)
	}
}

// wall converts ticks of the time stamp counter.
func (k *worker) wall(ticks uint64) units.Time {
	return units.Time(float64(ticks) / float64(k.hz) * float64(units.Second))
}

// close gives the worker's memory back.
func (k *worker) close() {
	k.exchange(k.pool, 0)
	C.free(unsafe.Pointer(k.c.port))
	C.free(unsafe.Pointer(k.c))
}

// serve stages what the node has to send, as far as the link is free: on an emulated link frames whose time there is
// over. Such a link takes what was due by the last poll: what arrived until then has only now been received.
func (p *port) serve(now units.Time, k *worker) {
	switch {
	case p.emulate:
		p.land(now)
		for p.staged < len(p.tx) && p.free <= p.polled && p.ask(now, k, p.one[:]) == 1 {
			p.launch(p.one[0])
		}
		p.land(now)
	case p.link.Rate > 0:
		for p.staged < len(p.tx) && p.free <= p.ahead(now) && p.ask(now, k, p.tx[p.staged:p.staged+1]) == 1 {
			p.free = max(p.free, now) + p.link.Serialize(int(p.tx[p.staged].Len))
			p.staged++
		}
	default:
		p.staged += p.ask(now, k, p.tx[p.staged:])
	}
}

// ahead is until when a card's link may be busy for it to get another frame. It sends by itself, and
// what waits in its ring is part of our response time to a pause: so it gets two frames and a poll's worth ahead, no more.
func (p *port) ahead(now units.Time) units.Time {
	return now + aheadOf(p.link) + min(now-p.polled, maxAhead)
}

// launch puts a frame on an emulated link. One that was busy until just now goes on without a gap although
// the polls come a little late.
func (p *port) launch(f fabric.Frame) {
	if p.free <= p.earlier {
		p.free = p.polled
	}
	p.free += p.link.Serialize(int(f.Len))
	p.flight.Push(f, p.free+p.link.Delay)
}

// open opens the port's exit for what may leave past its queues.
func (p *port) open(now units.Time) {
	e := p.exit
	switch {
	case p.emulate:
		if e.Frames, e.Free = p.past[:], p.free+now-p.polled; p.env.Due(p.number) <= now {
			e.Free = units.Never // what is due comes first
		}
	case p.link.Rate > 0:
		e.Frames, e.Free = p.tx[p.staged:], p.free+now-p.ahead(now)
	default:
		e.Frames, e.Free = p.tx[p.staged:], 0
	}
}

// end closes the exit, stages what left that way and what the node has now, and tells whether there is
// anything to send.
func (p *port) end(now units.Time, k *worker) (busy bool) {
	if e := p.exit; e.N > 0 {
		gone := e.Frames[:e.N]
		p.sent += uint64(e.N)
		if k.watch {
			k.see(p, gone)
		}
		if p.tap != nil {
			p.tap.Copy(now, true, p.env.Pool, gone)
		}
		switch {
		case p.emulate:
			for _, f := range gone {
				p.launch(f)
			}
		default:
			p.staged += int(e.N)
			for i := range gone {
				if p.link.Rate == 0 {
					break
				}
				p.free = max(p.free, now) + p.link.Serialize(int(gone[i].Len))
			}
		}
		e.N = 0
	}
	p.exit.Frames = nil
	p.serve(now, k)
	if p.staged > p.left {
		k.polls.tx(p.staged - p.left)
	}
	p.earlier, p.polled = p.polled, now
	p.c.tx_n = C.uint16_t(p.staged)
	p.c.rx_paused = C.uint16_t(flag(p.env.ReceivePaused(p.number)))
	return p.staged > 0
}

// next is when the port has something to do, if nothing arrives before: Never, or
// an instant that may have passed.
func (p *port) next() units.Time {
	due := p.env.Due(p.number)
	if due < units.Never && p.link.Rate > 0 {
		free := p.free
		if !p.emulate {
			free -= aheadOf(p.link)
		}
		due = max(due, free)
	}
	return min(due, p.flight.Next())
}

// ask has the node fill burst, if it wanted to be asked, and notes when it
// wants to be asked again.
func (p *port) ask(now units.Time, k *worker, burst []fabric.Frame) int {
	if p.env.Due(p.number) > now || len(burst) == 0 {
		return 0
	}
	p.env.SetDue(p.number, units.Never)
	n := p.node.Transmit(now, p.number, burst)
	p.env.SetDue(p.number, p.node.Next(now, p.number))
	p.sent += uint64(n)
	if k.watch {
		k.see(p, burst[:n])
	}
	if p.tap != nil {
		p.tap.Copy(now, true, p.env.Pool, burst[:n])
	}
	return n
}

// land stages the frames that have arrived.
func (p *port) land(now units.Time) {
	for p.staged < len(p.tx) && p.flight.Next() <= now {
		p.tx[p.staged] = p.flight.Pop()
		p.staged++
	}
}

// giveBack frees what was on its way when the world ended.
func (p *port) giveBack() {
	if p.c == nil {
		return
	}
	for _, f := range p.tx[:p.c.tx_n] {
		p.env.Free(f)
	}
	for p.flight.Len() > 0 {
		p.env.Free(p.flight.Pop())
	}
}
