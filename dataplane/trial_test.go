package dataplane_test

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"photon/dataplane"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// failure is what is wrong. Nothing else panics with it.
type failure string

// trial is a switch and its reference in a small world, in which both get the same frames at the same time.
type trial struct {
	config  dataplane.SwitchConfig
	world   worldKind
	mem     *slots
	envs    []*fabric.Env
	sw      *dataplane.Switch
	ref     *reference
	now     units.Time
	passed  int               // frames that left past the queues
	bursts  bool              // some frames came together
	longest units.Size        // of all
	pooled  int               // the most that was used of the pool after a step
	scout   *dataplane.Switch // finds out which of equal ways a flow takes
	bold    *dataplane.Switch // the same where none of them has a link, which is as if all had one
	scouts  *fabric.Env
	choices map[string]dataplane.NextHop
}

// worldKind is how a world treats a switch.
type worldKind struct {
	workers    int
	ample      bool   // nothing fills up
	exits      bool   // frames may leave past the queues
	lateTimers bool   // it does not call when timers are due
	before     uint16 // room before a new frame
}

const places = 1 << 13 // for frames

// try has things happen to a new switch and its reference, and says what is wrong.
func try(c dataplane.SwitchConfig, world worldKind, ops []op) (x *trial, wrong string) {
	defer func() {
		if r := recover(); r != nil {
			if f, ok := r.(failure); ok {
				wrong = string(f)
			} else {
				wrong = fmt.Sprintf("panic: %v\n%s", r, debug.Stack())
			}
		}
	}()
	x = newTrial(c, world)
	for i := range ops {
		x.do(&ops[i])
	}
	x.end()
	return x, ""
}

// compare fails a test if something is wrong, with as little as it takes.
func compare(t *testing.T, c dataplane.SwitchConfig, world worldKind, ops []op) *trial {
	x, wrong := try(c, world, ops)
	if wrong == "" {
		return x
	}
	enough := time.Now().Add(30 * time.Second)
	for again := true; again; {
		again = false
		smaller := func(less []op) bool {
			if time.Now().After(enough) {
				return false
			}
			if _, w := try(c, world, less); w != "" {
				ops, wrong, again = less, w, true
				return true
			}
			return false
		}
		for n := len(ops); n > 0; n /= 2 {
			for i := len(ops) - n; i >= 0; i-- {
				if i+n <= len(ops) {
					smaller(slices.Delete(slices.Clone(ops), i, i+n))
				}
			}
		}
		for i := range ops {
			for j := len(ops[i].frames) - 1; j >= 0 && len(ops[i].frames) > 1; j-- {
				less := slices.Clone(ops)
				less[i].frames = slices.Delete(slices.Clone(ops[i].frames), j, j+1)
				smaller(less)
			}
			for _, simpler := range []func(o *op){
				func(o *op) { o.after = 0 }, func(o *op) { o.exits, o.queue = nil, false }, func(o *op) { o.burst = false }, func(o *op) { o.drain = false },
				func(o *op) { o.frames = slices.Clone(o.frames); o.frames[0].off, o.frames[0].digest = -1, false },
			} {
				less := slices.Clone(ops)
				if len(ops[i].frames) > 0 {
					if simpler(&less[i]); !reflect.DeepEqual(less[i], ops[i]) {
						_, w := try(c, world, less)
						if w != "" {
							ops, wrong = less, w
						}
					}
				}
			}
		}
	}
	text := fmt.Sprintf("%s\nworld %+v, %d ports:%s", wrong, world, len(c.Ports), changed(dataplane.SwitchConfig{Classes: c.Classes}, c))
	was := c
	for i := range ops {
		text += "\n" + ops[i].String()
		if r := ops[i].reload; r != nil {
			text += changed(was, *r)
			was = *r
		}
	}
	t.Fatal(text)
	return nil
}

func (x *trial) fail(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

// Fatal makes a trial what setLink takes.
func (x *trial) Fatal(args ...any) { x.fail("%s", fmt.Sprint(args...)) }

func newTrial(c dataplane.SwitchConfig, world worldKind) *trial {
	x := &trial{config: c, world: world, mem: newSlots(places, 11), ref: newReference(clone(c))}
	for range world.workers {
		x.envs = append(x.envs, fabric.NewEnv(x.mem.pool(world.before), len(c.Ports)))
	}
	var err error
	if x.sw, err = dataplane.NewSwitch(clone(c), x.envs); err != nil {
		x.Fatal(err)
	}
	x.ref.choose = x.choose
	x.renew()
	return x
}

// do has a thing happen, and compares.
func (x *trial) do(o *op) {
	x.pass(o.after)
	switch {
	case o.reload != nil:
		x.reload(*o.reload)
	case o.link != nil:
		x.link(o.port, *o.link)
	case o.clear:
		x.sw.ClearWatermarks(o.port)
		x.ref.clear(o.port)
		x.sw.ClearPools()
		x.ref.most, x.ref.heads, x.pooled = x.ref.used, x.ref.headed(), x.ref.used
	case o.frames == nil:
		x.transmit(o.port, o.room)
	case o.burst && (x.world.workers == 1 || x.world.ample):
		x.receive(o, o.frames)
	default:
		for _, f := range o.frames {
			x.receive(o, []arrival{f})
		}
	}
	if o.drain {
		for i := range x.ref.ports {
			x.transmit(i, 64)
		}
	}
	x.check()
}

// env is that of a port's worker.
func (x *trial) env(port int) *fabric.Env { return x.envs[x.config.Ports[port].Worker] }

// choose asks the scout which of several ways the flow of a frame takes.
func (x *trial) choose(in int, b []byte, flow string, ways []dataplane.NextHop) dataplane.NextHop {
	key := fmt.Sprint(flow, ways)
	if w, ok := x.choices[key]; ok {
		return w
	}
	in, b = x.acceptable(in, b)
	f, _ := x.scouts.Alloc(len(b))
	copy(x.scouts.Header(f), b)
	scout := x.scout
	if x.ref.ports[ways[0].Port].down {
		scout = x.bold
	}
	before := scout.Stats(x.now)
	scout.Receive(x.now, in, []fabric.Frame{f})
	after := scout.Stats(x.now)
	for _, w := range ways {
		var burst [4]fabric.Frame
		n := scout.Transmit(x.now, int(w.Port), burst[:])
		for _, f := range burst[:n] {
			for _, way := range ways {
				if way.Port == w.Port && (way.MAC == 0 || wire.MACAt(x.scouts.Header(f)) == way.MAC) {
					x.choices[key] = way
				}
			}
			x.scouts.Free(f)
		}
		lost := int(w.Port) == in && w.MAC == 0 && after.Ports[in].Discards[fabric.DropNoPort] != before.Ports[in].Discards[fabric.DropNoPort]
		if lost || after.Ports[w.Port].Discards[fabric.DropLink] != before.Ports[w.Port].Discards[fabric.DropLink] {
			x.choices[key] = w
		}
	}
	w, ok := x.choices[key]
	if !ok && after.Ports[in].Discards[fabric.DropVLAN] != before.Ports[in].Discards[fabric.DropVLAN] {
		vlan, _ := x.ref.vlanOf(in, readHead(b)) // it went a way on which it may not be sent: any of these
		for _, w := range ways {
			if tagged, _ := x.ref.form(vlan, int(w.Port)); !tagged && int(w.Port) != in {
				return w
			}
		}
	}
	if !ok {
		x.fail("a frame of flow %s, which came through port %d, went none of the ways %v:\n%x", flow, in, ways, b)
	}
	return w
}

// acceptable is a frame as some port takes it: what the switch itself sends came through none.
func (x *trial) acceptable(in int, b []byte) (int, []byte) {
	if _, ok := x.ref.vlanOf(in, readHead(b)); ok {
		return in, b
	}
	for port := range x.ref.ports {
		for _, id := range []uint16{0, 10, 20} {
			like := b
			if id != 0 {
				like = tagIt(b, 0x8100, id)
			}
			if _, ok := x.ref.vlanOf(port, readHead(like)); ok {
				return port, like
			}
		}
	}
	return in, b
}

// frame makes a frame of the world's, for a port.
func (x *trial) frame(port int, a *arrival) fabric.Frame {
	env := x.env(port)
	f, ok := env.Alloc(len(a.bytes))
	if !ok {
		x.fail("the world has no places for frames")
	}
	if a.off >= 0 {
		f.Off = uint16(a.off)
	}
	copy(env.Header(f), a.bytes)
	if a.digest {
		f.Digest = env.Digest(&f)
	}
	return f
}

// receive has frames come in together.
func (x *trial) receive(o *op, frames []arrival) {
	var burst []fabric.Frame
	x.bursts = x.bursts || len(frames) > 1
	for i := range frames {
		x.longest = max(x.longest, units.Size(len(frames[i].bytes)))
		burst = append(burst, x.frame(o.port, &frames[i]))
	}
	free := x.openExits(o)
	x.sw.Receive(x.now, o.port, burst)
	x.poll()
	left := x.collect()
	for _, a := range frames {
		x.ref.receive(x.now, o.port, a.bytes)
		for out, p := range x.ref.ports {
			for len(left[out]) > 0 && x.isLast(p, left[out][0]) {
				if free[out] > x.now {
					x.fail("a frame passed the exit of port %d, which is not free before %v", out, free[out])
				}
				free[out] = x.now + o.exits[out].perByte*units.Time(p.wireLen(len(left[out][0])))
				x.same(out, left[out][:1], x.ref.transmit(x.now, out, 1))
				left[out] = left[out][1:]
				x.passed++
			}
		}
	}
	for out := range left {
		if len(left[out]) > 0 {
			x.fail("port %d has %d frames in its exit that are not the next, the first %v", out, len(left[out]), describe(left[out][0]))
		}
	}
}

// isLast reports whether a frame that left is what was queued last of its priority, but for marks.
func (x *trial) isLast(p *refPort, b []byte) bool {
	for _, q := range p.queues {
		if n := len(q); n > 0 && bytes.Equal(unmarked(q[n-1].bytes), unmarked(b)) {
			return true
		}
	}
	return false
}

// unmarked is a frame without what congestion points write.
func unmarked(b []byte) []byte {
	b = bytes.Clone(b)
	h := readHead(b)
	if h.ip == 0 {
		return b
	}
	if b[h.ip]>>4 == 6 {
		b[h.ip+1] &^= 0x30
	} else {
		b[h.ip+1] &^= 3
		b[h.ip+10], b[h.ip+11] = 0, 0
	}
	if h.bth != 0 {
		if t := wire.INTOf(b[h.ip:], h.bth-h.ip); t != nil {
			clear(t)
		}
	}
	return b
}

// openExits opens the exits of all ports, and returns from when they are free.
func (x *trial) openExits(o *op) (free []units.Time) {
	free = make([]units.Time, len(x.config.Ports))
	for _, env := range x.envs {
		if env.Queue = fabric.QueueNothing; o.queue {
			env.Queue = fabric.QueueAll
		}
	}
	for i, e := range o.exits {
		free[i] = x.now + e.free
		at := x.env(i).Exit(i)
		at.Free, at.PerByte, at.Frames = free[i], e.perByte, make([]fabric.Frame, e.frames)
	}
	return free
}

// collect takes what is in the exits.
func (x *trial) collect() map[int][][]byte {
	left := map[int][][]byte{}
	for _, env := range x.envs {
		for _, port := range env.UsedExits() {
			e := env.Exit(int(port))
			for _, f := range e.Frames[:e.N] {
				left[int(port)] = append(left[int(port)], x.take(env, f))
			}
			e.N = 0
		}
	}
	for i := range x.config.Ports {
		e := x.env(i).Exit(i)
		if e.N != 0 {
			x.fail("port %d has %d frames in its exit, and Left does not name it", i, e.N)
		}
		e.Frames = nil
	}
	return left
}

// take is the bytes of a frame that leaves, whose place is free again.
func (x *trial) take(env *fabric.Env, f fabric.Frame) []byte {
	if d := f.Digest; d != 0 && d != env.Digest(&f) {
		x.fail("a frame leaves with a digest that is not its own")
	}
	b := bytes.Clone(env.Header(f))
	if len(b) != int(f.Len) {
		x.fail("a frame of %d bytes leaves, %d of them are in its place", f.Len, len(b))
	}
	env.Free(f)
	x.mem.giveBack(env.Pool)
	return b
}

// transmit has a port send up to n frames.
func (x *trial) transmit(port, n int) int {
	env := x.env(port)
	burst := make([]fabric.Frame, n)
	next, filled := units.Never, 0
	if n == 1 { // as the simulator asks
		var ok bool
		if ok, next = x.sw.Serve(x.now, port, &burst[0]); ok {
			filled = 1
		}
	} else {
		filled = x.sw.Transmit(x.now, port, burst)
	}
	if after := x.sw.Next(x.now, port); n == 1 && next != after {
		x.fail("port %d says that it is due at %v, and then at %v", port, next, after)
	} else {
		next = after
	}
	var sent [][]byte
	for _, f := range burst[:filled] {
		sent = append(sent, x.take(env, f))
	}
	env.SetDue(port, next)
	x.poll()
	x.ref.early = earlyXOFF(sent)
	x.same(port, sent, x.ref.transmit(x.now, port, n))
	x.ref.early = 0
	return len(sent)
}

// earlyXOFF are the priorities that PFC frames pause, if some were sent.
func earlyXOFF(sent [][]byte) (prios uint8) {
	for _, b := range sent {
		var f pfc.Frame
		if readHead(b).etherType != 0x8808 || f.Decode(b) != nil {
			continue
		}
		for prio, q := range f.Quanta {
			if q > 0 {
				prios |= f.Enable & (1 << prio)
			}
		}
	}
	return prios
}

// poll has the workers tell each other what they have to: frames, of which they take some bursts at a time, what these
// cause, and what became of them.
func (x *trial) poll() {
	for range 16 {
		for w := range x.envs {
			x.sw.Poll(x.now, w)
		}
	}
}

// pass lets time go by. A world that is not late calls ports when pauses end, and storms begin and end.
func (x *trial) pass(dt units.Time) {
	until := x.now + dt
	for !x.world.lateTimers {
		at, port := units.Never, 0
		for i, p := range x.ref.ports {
			if t := x.ref.changes(p, x.now); t < at {
				at, port = t, i
			}
		}
		if at > until {
			break
		}
		x.now = max(at, x.now)
		x.transmit(port, 1)
	}
	x.now = until
}

// changes is when something of a port changes by itself.
func (r *reference) changes(p *refPort, now units.Time) units.Time {
	at := units.Never
	w := r.config.Watchdog
	for prio, x := range p.pauses {
		if x.paused {
			at = min(at, x.until)
		}
		switch {
		case !r.pfc(p, prio):
		case x.paused && !x.storm && w.Detect > 0:
			at = min(at, x.since+w.Detect)
		case x.storm && !x.paused:
			at = min(at, x.ended+w.Restore)
		}
	}
	return at
}
