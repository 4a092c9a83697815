package agent

import (
	"fmt"

	"photon/cnp"
	"photon/fabric"
	"photon/flowtable"
	"photon/pfc"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// Ports of a NIC.
const (
	Wire        = 0
	Application = 1
)

// NICConfig describes a NIC. Check says what is wrong with one.
type NICConfig struct {
	Link     fabric.Link // what the wire port sends into
	MTU      int         // longest frame of an application without Ethernet header, tags and FCS
	MAC      wire.MAC    // source of PFC frames
	Known    []wire.MAC  // addresses of the application that are known before it sends anything
	Lossless uint8       // priorities that obey PFC
	Judged   uint8       // priorities of the scheme: they carry ECN, and are notified of
	DSCP     [64]uint8   // priority of an IP frame
	PCP      [8]uint8    // priority of a tagged frame that is not IP

	// Towards the wire.
	SetDSCP     uint8              // of frames that the application sends with DSCP 0; 0: they keep it
	Flows       int                // most that are sent at a time
	FlowQueue   int                // frames of one flow that may wait
	Queue       int                // frames that may wait in all
	HoldFull    bool               // a flow with FlowQueue frames stops the application's port; false: its next frame is dropped
	Age         units.Time         // a flow that was slowed down and is silent for so long may be forgotten
	Release     units.Time         // a flow that sends, and was not notified for so long, is back at line rate; 0: never
	Period      units.Time         // of notifications: a flow takes one in each, at most
	Carry       cnp.Carry          // of the scheme
	Tenants     []ratelimit.Tenant // groups of flows that share a cap and turns at the wire
	Rules       []FlowRule         // whose flow a new one is; the first that matches counts
	NPDelay     units.Time         // from the decision to send a CNP until it is ready to leave; 0: none
	PauseDelay  units.Time         // from the arrival of a PFC frame until the wire port obeys it; 0: none
	ControlDSCP uint8              // DSCP of CNPs

	// Towards the application.
	PFC       pfc.Thresholds // what may wait of a lossless priority before an XOFF stops the peer
	Pause     units.Time     // asked for by an XOFF; 0: the longest possible
	Tail      units.Size     // of a lossy priority, no more may wait
	Lossy     int            // frames of all lossy priorities, no more may wait, so that lossless ones find buffers; 0: any
	ClearCE   bool           // the application does not see the network's marks
	Receivers int            // most flows of which the notification point knows

	NP    cnp.NP // for Receivers flows
	NewRP func(*ratelimit.Port) ratelimit.RP
}

// controlQueue is how many frames of a priority may wait that belong to no flow.
const controlQueue = 256

// Check says what is wrong with the configuration, in one line.
func (c *NICConfig) Check() error {
	switch {
	case c.Link.Rate <= 0:
		return fmt.Errorf("link rate %v must be positive", c.Link.Rate)
	case c.MTU < 46 || c.MTU > 9216:
		return fmt.Errorf("mtu %d must be from 46 to 9216", c.MTU)
	case c.Flows < 1 || c.Receivers < 1:
		return fmt.Errorf("room for %d sent and %d received flows: at least 1 of each", c.Flows, c.Receivers)
	case c.Carry.Ack && c.Flows > 1<<shimSlots:
		return fmt.Errorf("room for %d sent flows: echoes tell %d apart", c.Flows, 1<<shimSlots)
	case c.MTU+ShimLen(c.Carry) > 9216:
		return fmt.Errorf("mtu %d: the scheme adds %d bytes to a frame, and 9216 is the most", c.MTU, ShimLen(c.Carry))
	case c.Carry.Tag && c.Flows > 1<<16:
		return fmt.Errorf("room for %d sent flows: a congestion notification tag tells %d apart", c.Flows, 1<<16)
	case c.FlowQueue < 1:
		return fmt.Errorf("a flow's queue of %d frames: at least 1", c.FlowQueue)
	case c.Queue < c.FlowQueue+fabric.MaxBurst:
		return fmt.Errorf("a queue of %d frames in all: at least a flow's, %d, and %d", c.Queue, c.FlowQueue, fabric.MaxBurst)
	case c.Age <= 0:
		return fmt.Errorf("age %v must be positive", c.Age)
	case c.Release < 0 || c.Period < 0:
		return fmt.Errorf("release %v and notification period %v must not be negative", c.Release, c.Period)
	case c.NPDelay < 0 || c.PauseDelay < 0:
		return fmt.Errorf("delays of CNPs and of pauses, %v and %v, must not be negative", c.NPDelay, c.PauseDelay)
	case c.Tail <= 0 || c.Lossy < 0:
		return fmt.Errorf("lossy queue %v must be positive, and %d frames of all not negative", c.Tail, c.Lossy)
	}
	for i, t := range c.Tenants {
		if err := t.Validate(); err != nil {
			return fmt.Errorf("tenant %d: %w", i+1, err)
		}
	}
	for i := range c.Rules {
		if err := c.Rules[i].check(len(c.Tenants)); err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return c.PFC.Validate()
}

// NIC carries the frames of applications: a node with one port to the wire and
// one to them. What they send is divided into flows, each of which waits in a
// queue of its own and leaves at the pace of its reaction point; what they
// receive passes the notification point. CNPs are made and consumed here.
//
//	application → classify → the flow's queue → pacer → wire
//	application ← queue ← ECN taken off ← notification point ← wire
//
// ARP, neighbour discovery and frames that are not IP pass unpaced. The wire port
// obeys PFC, and sends it if the application does not take what arrives; the
// application's port is stopped if too many of its frames wait.
type NIC struct {
	config NICConfig
	env    *fabric.Env
	egress pfc.Egress
	in     *pfc.Ingress
	ports  [pfc.Classes]ratelimit.Port // the last pause of each priority
	stats  fabric.Stats
	here   *flowtable.Table[wire.MAC] // addresses of the application

	strangers *flowtable.Table[wire.MAC]
	asked     [mostStrangers]units.Time // when a frame for one was passed on, by slot

	// Towards the wire.
	flows           []appFlow
	byKey           *flowtable.Table[appKey]
	idle            idle
	pacer           *ratelimit.Pacer[struct{}]
	idleRPs         rpPool
	delayed         delayed
	punctual        punctual
	laps            units.Time // by which the clock was set back, in all: stamps go on
	cells           cells
	control         [pfc.Classes]frames // belong to no flow
	ready           uint8               // priorities with such frames
	gaveWay         bool                // the last frame was one of them, and one of a higher priority waited
	waiting         [pfc.Classes]units.Size
	queued          int // frames, control included
	full            int // flows with FlowQueue frames or more
	applicationHeld bool
	since           units.Time
	drains          bool

	connections *connections

	// Towards the application.
	peers   []appPeer
	table   *flowtable.Table[appKey]
	upCells cells
	upLossy int // frames of lossy priorities in it
	up      [pfc.Classes]frames
	upReady uint8
	upLast  uint8 // the priority that had its turn last
	cnpPrio uint8
	echoes  ackQueue
	ack     ratelimit.Ack // scratch

	// What Audit counts with, in frames by priority.
	took   [pfc.Classes]uint64 // queued for the wire, of the application
	sent   [pfc.Classes]uint64 // of them sent
	made   [pfc.Classes]uint64 // sent, and made here
	given  [pfc.Classes]uint64 // queued for the application, from the wire
	handed [pfc.Classes]uint64 // of them handed over
	ended  [pfc.Classes]uint64 // from the wire, which ended here as they should
}

// appFlow is what a sender knows of a flow.
type appFlow struct {
	limiter
	feedback
	prio       uint8
	peer       wire.MAC
	queue      frames
	base       units.Time // departure time of the frame sent last
	gapBytes   int        // its length on the wire: it makes the gap to the next
	frames     uint64     // sent
	bytes      uint64     // of them on the wire
	lastNotice units.Time // when the last notification was taken, or the flow began
	use        uint8      // how often the slot was taken

	// Of schemes that hear of every frame.
	sent     uint64 // bytes on the wire
	arrived  uint64 // of them, as far as is known
	awaiting bool   // the window is full: a timer runs until an echo comes
}

// appPeer is what a receiver knows of a flow, for CNPs to its sender.
type appPeer struct {
	here, there wire.MAC
	srcPort     uint16
	echoes      uint16 // that wait
	lastEcho    uint32 // place of the last
}

// macs is how many addresses an application may have, and macAge when one that is
// silent makes room for another.
const (
	macs   = 1024
	macAge = 300 * units.Second
)

// NewNIC makes a NIC.
func NewNIC(c NICConfig, env *fabric.Env) (*NIC, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	in := pfc.IngressConfig{Enabled: c.Lossless, Rate: c.Link.Rate, Pause: c.Pause}
	for prio := range pfc.Classes {
		in.Thresholds[prio] = c.PFC
	}
	n := &NIC{
		config: c, env: env, egress: pfc.NewEgress(c.Lossless, c.Link.Rate), in: pfc.NewIngress(in),
		stats: fabric.Stats{Ports: make([]fabric.PortStats, 2)}, here: flowtable.New(macs, hashMAC), strangers: flowtable.New(mostStrangers, hashMAC),
		flows: make([]appFlow, c.Flows), byKey: flowtable.New(c.Flows, hashApp), cells: newCells(c.Queue + 2*fabric.MaxBurst),
		pacer: ratelimit.NewPacer[struct{}](c.Flows, c.Tenants...), idle: newIdle(c.Flows),
		peers: make([]appPeer, c.Receivers), table: flowtable.New(c.Receivers, hashApp), upCells: newCells(1024), echoes: newAckQueue(true), connections: newConnections(c.Flows + c.Receivers), delayed: newDelayed(c.NPDelay, c.PauseDelay, c.Receivers), cnpPrio: c.DSCP[c.ControlDSCP],
	}
	for _, mac := range c.Known {
		n.here.Insert(mac, units.Never)
	}
	return n, nil
}

func hashMAC(m wire.MAC) uint64 { return uint64(m) * 0x9E3779B97F4A7C15 * 0xA0761D6478BD642F }

// Priority is the priority of a frame by its bytes, or -1 if it has none: MAC
// control, or no frame at all.
func (n *NIC) Priority(_ int, b []byte) int {
	var h wire.Header
	if !wire.Parse(b, &h) || h.EtherType == wire.TypeMACControl && !h.Tagged {
		return -1
	}
	return int(n.priority(&h))
}

func (n *NIC) priority(h *wire.Header) uint8 {
	switch {
	case h.L3 != 0:
		return n.config.DSCP[h.TOS>>2]
	case h.Tagged:
		return n.config.PCP[h.PCP]
	}
	return 0
}

func (n *NIC) discard(port int, f fabric.Frame, why fabric.Reason) {
	n.stats.Ports[port].Discards[why][f.Prio]++
	n.env.Free(f)
}

func (n *NIC) count(port int, f fabric.Frame) {
	n.stats.Ports[port].RxFrames[f.Prio]++
	n.stats.Ports[port].RxBytes[f.Prio] += uint64(f.Len)
}

// expire ends the pauses whose time has run out.
func (n *NIC) expire(now units.Time) {
	for p, at := n.delayed.duePause(now); p != nil; p, at = n.delayed.duePause(now) {
		n.obey(at, p)
	}
	if n.egress.Expire(now) != 0 {
		n.pauses()
	}
}

func (n *NIC) pauses() {
	for prio := range n.ports {
		n.ports[prio].Note(n.egress.Last(prio))
	}
}

// Stats copies the counters.
func (n *NIC) Stats(now units.Time) fabric.Stats {
	st := fabric.Stats{Ports: make([]fabric.PortStats, len(n.stats.Ports))}
	n.CopyStats(now, &st)
	return st
}

// CopyStats is Stats into memory that the caller has made, with a place for each port.
func (n *NIC) CopyStats(now units.Time, st *fabric.Stats) {
	ports := st.Ports
	*st = n.stats
	st.Ports = ports
	copy(ports, n.stats.Ports)
	wirePort, app := &st.Ports[Wire], &st.Ports[Application]
	wirePort.Egress, wirePort.Ingress = n.egress.Counters(now), n.in.Counters(now)
	for prio := range pfc.Classes {
		wirePort.QueueBytes[prio] = n.waiting[prio]
		wirePort.Buffered[prio] = n.in.Bytes(uint8(prio))
		app.QueueBytes[prio], app.QueueFrames[prio] = units.Size(n.up[prio].bytes), uint64(n.up[prio].n)
		wirePort.QueueFrames[prio] = uint64(n.control[prio].n)
	}
	for i := range n.flows {
		f := &n.flows[i]
		if !f.active() {
			continue
		}
		wirePort.QueueFrames[f.prio] += uint64(f.queue.n)
	}
	st.NIC.Flows, st.NIC.Received, st.NIC.Queued = n.byKey.Len(), n.table.Len(), n.queued
	if n.applicationHeld {
		st.NIC.Held += now - n.since
	}
}

// ClearWatermarks resets the watermarks of a port's queues to their present lengths.
func (n *NIC) ClearWatermarks(port int) {
	p := &n.stats.Ports[port]
	if port == Wire {
		p.QueuePeak = n.waiting
		n.in.ClearPeaks()
		return
	}
	for prio := range p.QueuePeak {
		p.QueuePeak[prio] = units.Size(n.up[prio].bytes)
	}
}

// Audit checks, per priority and direction: what came in was discarded, ended
// here, waits, or left; what left came in or was made here.
func (n *NIC) Audit() error {
	var waiting [pfc.Classes]uint64
	total := 0
	for i := range n.flows {
		waiting[n.flows[i].prio] += uint64(n.flows[i].queue.n)
	}
	w, app := &n.stats.Ports[Wire], &n.stats.Ports[Application]
	fromWire, fromApp := w.Discarded(), app.Discarded()
	for prio := range pfc.Classes {
		waiting[prio] += uint64(n.control[prio].n)
		total += int(waiting[prio])
		switch {
		case app.RxFrames[prio] != n.took[prio]+fromApp[prio]:
			return fmt.Errorf("priority %d: %d frames from the application, %d taken and %d discarded", prio, app.RxFrames[prio], n.took[prio], fromApp[prio])
		case n.took[prio] != n.sent[prio]+waiting[prio]:
			return fmt.Errorf("priority %d: %d frames taken from the application, %d sent and %d waiting", prio, n.took[prio], n.sent[prio], waiting[prio])
		case w.TxFrames[prio] != n.sent[prio]+n.made[prio]:
			return fmt.Errorf("priority %d: %d frames sent, %d of the application and %d made here", prio, w.TxFrames[prio], n.sent[prio], n.made[prio])
		case w.RxFrames[prio] != n.given[prio]+n.ended[prio]+fromWire[prio]:
			return fmt.Errorf("priority %d: %d frames from the wire, %d for the application, %d that ended here and %d discarded", prio, w.RxFrames[prio], n.given[prio], n.ended[prio], fromWire[prio])
		case n.given[prio] != n.handed[prio]+uint64(n.up[prio].n) || app.TxFrames[prio] != n.handed[prio]:
			return fmt.Errorf("priority %d: %d frames for the application, %d handed over and %d waiting", prio, n.given[prio], app.TxFrames[prio], n.up[prio].n)
		}
	}
	if total != n.queued {
		return fmt.Errorf("%d frames wait for the wire, counted as %d", total, n.queued)
	}
	return nil
}

// Close gives back the frames that wait.
func (n *NIC) Close() {
	drain := func(c *cells, q *frames) {
		for q.n > 0 {
			n.env.Free(c.pop(q))
		}
	}
	for i := range n.flows {
		drain(&n.cells, &n.flows[i].queue)
	}
	for prio := range pfc.Classes {
		drain(&n.cells, &n.control[prio])
		drain(&n.upCells, &n.up[prio])
	}
}

// Queued is how many frames wait, in either direction.
func (n *NIC) Queued() (frames int) {
	frames = n.queued
	for prio := range n.up {
		frames += n.up[prio].n
	}
	return frames
}
