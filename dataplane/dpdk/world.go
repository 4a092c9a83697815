//go:build dpdk

package dpdk

// #include "ph.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"photon/fabric"
	"photon/units"
)

type world struct {
	options Options
	workers []*worker
	nodes   []member
	ports   []*port
	clients []memifClient
	claimed map[string]*netdev // by specification, until it is opened; nil: it has no interface
	kernel  map[uint16]*netdev // by device that is open; nil: it has no interface
	samples []sampler
	behind  units.Time // of the one that is called
	built   bool
	closed  bool // gave everything back
	now     units.Time
	laps    uint64  // that the clock was set back
	lap     request // sets it back

	followers []units.Rebaser

	gather  sync.WaitGroup // of workers that are to begin
	deaf    atomic.Int32   // how many have not
	started chan struct{}  // closed when all have
	begun   bool           // they have, in an earlier Run

	running  sync.Mutex // held by Run
	mailbox  sync.Mutex // held by Do
	counting sync.Mutex // held by Devices, Reconnect and who opens and closes devices
	request  atomic.Pointer[request]
	resting  atomic.Int32
	finished atomic.Bool
	headless atomic.Bool  // worker 0 has left
	stops    atomic.Int32 // how many are in AllowStops, and one more before SeldomStop
	seldom   sync.Once
}

type member struct {
	name string
	node fabric.Node
	envs []*fabric.Env
	port []*port

	timed bool // how long frames are in it is found out
}

// port is a port of a node and the device or cable behind it.
type port struct {
	_       [64]byte // nothing of another worker's is in its lines of the cache
	owner   string
	node    fabric.Node
	number  int
	env     *fabric.Env
	worker  int
	link    fabric.Link
	device  *Device // nil: a cable
	peer    *port   // at the other end of a cable
	out, in cable
	emulate bool
	free    units.Time // when the link has sent what it took
	polled  units.Time // when the port was last served
	earlier units.Time // and before that
	flight  fabric.Flight
	tap     *fabric.Tap // nil: no capture
	one     [1]fabric.Frame
	exit    *fabric.Exit
	past    [1]fabric.Frame // what is in the exit of an emulated link, which is busy then
	staged  int             // frames in tx, in this round,
	left    int             // and of these, those of the one before

	c         *C.struct_ph_port
	tx, rx    []fabric.Frame // the same memory as c's
	before    uint64         // frames that waited when the world began, and were thrown away
	sent      uint64         // frames that the node gave
	delivered uint64         // frames that the node got
	timed     bool           // how long frames are in the node is found out
	residence Residence      // of those that leave here
	_         [64]byte
}

type sampler struct {
	next units.Time
	do   func(now units.Time) (next units.Time)
}

// request is a function that runs while all workers are stopped between two rounds.
type request struct {
	do    func(now units.Time)
	brief bool        // never waits
	done  atomic.Bool // not a channel: its lock is one that a worker would wait for
}

// usualFrames is how many frame buffers a world has that does not say.
const usualFrames = 32768

// New starts DPDK if this process has not, and returns an empty world. If Options.Most is set, the pool of frame
// buffers may be large, and takes no more than half of the free memory.
func New(o Options) (World, error) {
	o.Workers = max(o.Workers, 1)
	o.Dilation = max(o.Dilation, 1)
	if o.Frames == 0 {
		o.Frames = usualFrames
	}
	if o.FrameSize == 0 {
		o.FrameSize = 2048
	}
	if left := memory(); o.grows() && left > 0 {
		o.Frames = min(o.Frames, max(usualFrames, int(left/2)/(o.FrameSize+512)))
	}
	if len(o.Cores) == 0 { // the last ones, so that the first is left to everything else
		all := affinity()
		for i := range o.Workers {
			o.Cores = append(o.Cores, all[(2*len(all)-1-i%len(all))%len(all)])
		}
	}
	if len(o.Cores) < o.Workers {
		return nil, fmt.Errorf("%d workers on %d cores: name a core for each", o.Workers, len(o.Cores))
	}
	for _, core := range o.Cores[:o.Workers] { // or DPDK prints how it is used; one that is isolated is no part of affinity
		if _, err := os.Stat(fmt.Sprintf("/sys/devices/system/cpu/cpu%d", core)); err != nil {
			return nil, fmt.Errorf("core %d: this machine has none of that number", core)
		}
	}
	if err := initEAL(o); err != nil {
		return nil, err
	}
	if o.Frames <= eal.most {
		if err := growPool(o.Frames); err != nil {
			return nil, err
		}
	}
	if o.Frames > eal.frames || o.FrameSize > eal.size {
		return nil, fmt.Errorf("%d frames of %d bytes: this process has made its pool, of %d frames of %d bytes", o.Frames, o.FrameSize, eal.frames, eal.size)
	}
	eal.Lock()
	eal.worlds++
	eal.Unlock()
	w := &world{options: o, claimed: map[string]*netdev{}, kernel: map[uint16]*netdev{}, started: make(chan struct{})}
	w.stops.Store(1)
	w.lap.do, w.lap.brief = w.setBack, true
	for i := range o.Workers {
		w.workers = append(w.workers, newWorker(w, i))
	}
	return w, nil
}

func (w *world) Workers() int { return len(w.workers) }

func (w *world) NewEnvs(ports int) (envs []*fabric.Env) {
	for _, k := range w.workers {
		envs = append(envs, fabric.NewEnv(k.pool, ports))
	}
	return envs
}

func (w *world) Add(name string, node fabric.Node, envs []*fabric.Env, workers []int) int {
	m := member{name: name, node: node, envs: envs}
	for i, k := range workers {
		m.port = append(m.port, m.newPort(i, k))
	}
	w.nodes = append(w.nodes, m)
	return len(w.nodes) - 1
}

// newPort makes a port with nothing behind it, which a worker is to serve.
func (m *member) newPort(number, worker int) *port {
	return &port{owner: m.name, node: m.node, number: number, env: m.envs[worker], worker: worker, timed: m.timed}
}

func (w *world) portOf(e fabric.End) (*port, error) {
	if w.built {
		return nil, errors.New("dpdk: the world has run already")
	}
	if e.Node < 0 || e.Node >= len(w.nodes) || e.Port < 0 || e.Port >= len(w.nodes[e.Node].port) {
		return nil, fmt.Errorf("dpdk: there is no port %d of node %d", e.Port, e.Node)
	}
	p := w.nodes[e.Node].port[e.Port]
	if p.peer != nil || p.device != nil {
		return nil, fmt.Errorf("dpdk: port %d of %s is connected twice", e.Port, p.owner)
	}
	return p, nil
}

// Connect joins two ports by a pair of rings, each direction with an emulated link.
func (w *world) Connect(a, b fabric.End, link fabric.Link) error {
	p, err := w.portOf(a)
	if err != nil {
		return err
	}
	q, err := w.portOf(b)
	if err != nil {
		return err
	}
	if p == q {
		return fmt.Errorf("dpdk: port %d of %s is connected to itself", p.number, p.owner)
	}
	there, err := takeCable()
	if err != nil {
		return err
	}
	back, err := takeCable()
	if err != nil {
		giveCable(there)
		return err
	}
	p.peer, p.out, p.in, p.link, p.emulate = q, there, back, link, true
	q.peer, q.out, q.in, q.link, q.emulate = p, back, there, link, true
	w.ports = append(w.ports, p, q)
	return nil
}

func (w *world) Attach(at fabric.End, d Device, link fabric.Link) error {
	p, err := w.portOf(at)
	if err != nil {
		return err
	}
	if err := p.attach(d, link); err != nil {
		return err
	}
	w.ports = append(w.ports, p)
	return nil
}

// attach puts a device behind a port.
func (p *port) attach(d Device, link fabric.Link) error {
	if link.Delay > 0 && !d.Virtual {
		return fmt.Errorf("port %s: a delay can be emulated on virtual devices only", d.Spec)
	}
	p.device, p.link = &d, link
	p.emulate = d.Virtual && link.Rate > 0
	p.out, p.in = cable{dev: d.ID}, cable{dev: d.ID}
	return nil
}

func (w *world) SetRate(at fabric.End, rate units.Rate) {
	p := w.nodes[at.Node].port[at.Port]
	p.link.Rate = rate
	p.price()
}

func (w *world) Replace(id int, node fabric.Node) {
	m := &w.nodes[id]
	was := m.node
	m.node = node
	for _, p := range m.port {
		p.node = node
	}
	to, ok := node.(fabric.Poller)
	for _, k := range w.workers {
		for i, n := range k.pollers {
			if n == was && ok {
				k.pollers[i] = to
			}
		}
	}
}

// Every may also be called within Do.
func (w *world) Every(span units.Time, do func(now units.Time)) {
	now := max(w.now, w.workers[0].clock.now) // the worker's while it runs
	w.At(now+span, func(now units.Time) units.Time {
		do(now)
		return now + span
	})
}

// At has do called at an instant, or as soon as a round comes after it, and again at the one that it returns; Never: no
// more. It is called as Every is.
func (w *world) At(first units.Time, do func(now units.Time) (next units.Time)) {
	w.samples = append(w.samples, sampler{first, do})
}

// build gives every worker its ports, before the first run.
func (w *world) build() {
	w.counting.Lock() // a scrape may come already
	defer w.counting.Unlock()
	w.built = true
	enclosed, fastest := len(w.workers) == 1, units.Rate(0)
	of := make([][]*port, len(w.workers))
	for _, p := range w.ports {
		enclosed, fastest = enclosed && p.device == nil, max(fastest, p.link.Rate)
		of[p.worker] = append(of[p.worker], p)
	}
	step := units.Time(0)
	if enclosed {
		step = stepOf(fastest)
	}
	for i, k := range w.workers {
		k.build(of[i], step)
	}
}

func (w *world) Run(ctx context.Context, until units.Time) error {
	w.running.Lock()
	defer w.running.Unlock()
	if w.closed {
		return errors.New("dpdk: the world is closed")
	}
	if !w.built {
		w.build()
	}
	w.finished.Store(false)
	w.headless.Store(false)
	w.resting.Store(0)
	stop := context.AfterFunc(ctx, func() { w.finished.Store(true) })
	defer stop()
	defer reserve(len(w.workers))()
	if !w.begun {
		w.gather.Add(len(w.workers))
		w.deaf.Store(int32(len(w.workers)))
	}
	start := uint64(C.rte_rdtsc())
	var all sync.WaitGroup
	errs := make([]error, len(w.workers))
	for i, k := range w.workers {
		k.clock.start(start)
		all.Go(func() { errs[i] = k.run(until) })
	}
	all.Wait()
	for _, k := range w.workers {
		w.now = max(w.now, k.clock.now)
	}
	w.runRequest()
	w.begun = true
	return errors.Join(append(errs, ctx.Err())...)
}

// runRequest runs a request for which no worker is left.
func (w *world) runRequest() {
	if l := w.request.Swap(nil); l != nil {
		l.do(w.now)
		l.done.Store(true)
	}
}

func (w *world) Do(f func(now units.Time)) { w.post(&request{do: f}) }

func (w *world) DoBriefly(f func(now units.Time)) { w.post(&request{do: f, brief: true}) }

// post has the workers stop for a request, and waits until it is done.
func (w *world) post(l *request) {
	w.mailbox.Lock()
	defer w.mailbox.Unlock()
	posted := false
	for nap := 20 * time.Microsecond; !l.done.Load(); nap = min(2*nap, time.Millisecond) {
		posted = posted || w.request.CompareAndSwap(nil, l) // it fails while the clock is set back
		if w.running.TryLock() {                            // no worker runs, or none any more
			w.runRequest()
			w.running.Unlock()
			continue
		}
		time.Sleep(nap)
	}
}

func (w *world) SeldomStop() { w.seldom.Do(func() { w.stops.Add(-1) }) }

func (w *world) AllowStops(f func()) {
	w.stops.Add(1)
	defer w.stops.Add(-1)
	f()
}

func (w *world) Idle() bool {
	for _, p := range w.ports {
		if p.c != nil && p.c.tx_n > 0 || p.flight.Len() > 0 {
			return false
		}
	}
	return true
}

func (w *world) Tap(at fabric.End, t *fabric.Tap) { w.nodes[at.Node].port[at.Port].tap = t }

func (w *world) Started() <-chan struct{} { return w.started }

func (w *world) Now() units.Time { return w.now }

func (w *world) Behind() units.Time { return w.behind }

// Hash: a world that goes by the wall's clock does not repeat itself.
func (w *world) Hash() (uint64, bool) { return 0, false }

func (w *world) Pace() (p Pace) {
	p.Frames, p.Exhausted = eal.frames, units.Never
	for _, k := range w.workers {
		p.Rounds += k.rounds
		p.LongestGap = max(p.LongestGap, k.wall(k.longest))
		p.Stretched = max(p.Stretched, k.clock.stretched)
		p.Exhausted = min(p.Exhausted, k.exhausted)
	}
	return p
}

func (w *world) ClearPace() {
	for _, k := range w.workers {
		k.longest = 0
	}
}

func (w *world) CopyPolls(p []Polls) {
	for i := range p {
		p[i] = w.workers[i].polls.copy()
	}
}

func (w *world) Devices() (all []DeviceStats) {
	w.counting.Lock()
	defer w.counting.Unlock()
	for _, p := range w.ports {
		if p.device != nil {
			all = append(all, w.deviceOf(p))
		}
	}
	return all
}

// deviceOf is what a port's device counts.
func (w *world) deviceOf(p *port) DeviceStats {
	d := DeviceStats{Port: p.number, Spec: p.device.Spec, FlowControl: p.device.FlowControl}
	deviceStats(p.device.ID, &d)
	d.RxBefore = p.before
	if k := w.kernel[p.device.ID]; k != nil {
		k.count(&d)
		d.LinkUp = d.LinkUp && k.running()
	}
	if p.c != nil {
		d.RxSeveral, d.RxOpen = uint64(p.c.several), uint64(p.c.open)
		d.TxTooLong = uint64(p.c.tx_too_long)
		away := uint64(p.c.tx_away)
		d.TxDropped += away
		d.RxFrames, d.TxFrames = uint64(p.c.rx_total), uint64(p.c.tx_total)-d.TxTooLong-away
		d.RxTooLong = uint64(p.c.too_long)
	}
	return d
}

func (w *world) Reconnect() (all []Notice) {
	w.counting.Lock() // Close waits
	defer w.counting.Unlock()
	if w.closed {
		return nil
	}
	w.reconnect()
	for _, p := range w.ports {
		if p.device == nil {
			continue
		}
		if k := w.kernel[p.device.ID]; k != nil {
			notices := k.follow()
			if p.c != nil {
				notices = append(notices, k.warnOffloads(uint64(p.c.several), uint64(p.c.open))...)
			}
			for _, s := range notices {
				s.Port = p.number
				all = append(all, s)
			}
		}
	}
	return all
}

// Audit checks every node; that a port's counts are those of frames handed over,
// and a worker's bursts those of its ports; and that what a node gave was taken by its device, or waits for its time, and
// came out at the other end of a cable.
func (w *world) Audit() error {
	for i := range w.nodes {
		m := &w.nodes[i]
		if err := m.node.Audit(); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		st := m.node.Stats(w.now)
		for n, p := range m.port {
			if p.c == nil {
				continue
			}
			if sent, received := st.Ports[n].Frames(); sent != p.sent || received != p.delivered {
				return fmt.Errorf("%s port %d: says %d sent and %d received, the world carried %d and %d", m.name, n, sent, received, p.sent, p.delivered)
			}
			if out := uint64(p.c.tx_total) + uint64(p.c.tx_n) + uint64(p.flight.Len()); p.sent != out {
				return fmt.Errorf("%s port %d: %d frames sent, %d taken by the device or on their way", m.name, n, p.sent, out)
			}
			if p.peer != nil && uint64(p.c.tx_total) < uint64(p.peer.c.rx_total) {
				return fmt.Errorf("%s port %d: %d frames sent, %d arrived", m.name, n, p.c.tx_total, p.peer.c.rx_total)
			}
		}
	}
	for i, k := range w.workers {
		in, out := k.gone.RxFrames, k.gone.TxFrames
		for _, p := range k.ports {
			in, out = in+p.delivered, out+uint64(p.c.tx_total)+uint64(p.c.tx_n)
		}
		if k.polls.RxFrames != in || k.polls.TxFrames != out {
			return fmt.Errorf("worker %d: bursts of %d frames received and %d sent, its ports have %d and %d", i, k.polls.RxFrames, k.polls.TxFrames, in, out)
		}
	}
	return nil
}

// Close gives buffers, cables and devices back, and finds out whether all
// buffers are there again.
func (w *world) Close() error {
	w.running.Lock()
	defer w.running.Unlock()
	w.counting.Lock()
	defer w.counting.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	eal.Lock()
	eal.worlds--
	eal.Unlock()
	for i := range w.nodes {
		w.nodes[i].node.Close()
	}
	lost := 0
	for _, p := range w.ports {
		p.giveBack()
		if p.device != nil {
			continue
		}
		inRing := giveCable(p.out)
		if p.c != nil {
			lost += int(p.c.tx_total) - int(p.peer.c.rx_total) - inRing
		}
	}
	for _, p := range w.ports {
		p.release()
	}
	for _, k := range w.claimed {
		k.close()
	}
	for id := range w.kernel {
		w.close(id)
	}
	for _, k := range w.workers {
		k.close()
	}
	if lost != 0 {
		return fmt.Errorf("dpdk: %d frames were lost in cables", lost)
	}
	return nil
}

// This does not compile if C takes other bursts than nodes expect.
var _ [fabric.MaxBurst]struct{} = [C.PH_BURST]struct{}{}

// view makes a slice of frames out of C's array.
func view(f *C.struct_ph_frame, n int) []fabric.Frame {
	return unsafe.Slice((*fabric.Frame)(unsafe.Pointer(f)), n)
}

// layout returns the size of C's frame and where its fields are, for the test
// that compares them with Go's.
func layout() (size uintptr, offsets []uintptr) {
	var f C.struct_ph_frame
	return unsafe.Sizeof(f), []uintptr{
		unsafe.Offsetof(f.ref), unsafe.Offsetof(f.digest), unsafe.Offsetof(f.len), unsafe.Offsetof(f.off),
		unsafe.Offsetof(f.in), unsafe.Offsetof(f.prio), unsafe.Offsetof(f.flag),
	}
}
