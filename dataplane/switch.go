package dataplane

import (
	"cmp"
	"math/bits"
	"sync/atomic"

	"photon/credits"
	"photon/fabric"
	"photon/fdb"
	"photon/internal/memory"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Switch is a shared-buffer switch: frames wait at their egress port, one queue
// per priority, and are accounted to the port through which they came.
type Switch struct {
	// What every frame needs comes first, in two lines of the cache.
	ports       []switchPort
	queues      []queue // eight to a port
	slack       uint64  // a cell, less one byte
	longest     int32   // untagged frame that passes, without FCS
	lossless    uint8   // priorities that are so at any port, by PFC
	narrow      uint16  // see tooWide: what is longer may be too long for a port
	learn       bool
	moving      bool          // some thresholds follow what is free of the pool, and one worker does all
	portless    bool          // keys are without ports
	perCell     uint64        // cells per byte, in 2^-32
	counts      fdb.Counts    // changes of what actions go by, but for the ages of addresses
	resolved    atomic.Uint32 // changes of them by which a neighbour moved
	pausing     int32         // if moving: ports whose peers hold an XOFF of ours
	credited    bool          // ports have credits in place of PFC
	cell        uint16        // of the buffer
	limitedFrom uint16        // lossy frames whose In is as much are charged by chargeLimited: the switch's own, or all
	pool        *pfc.Pool     // the part of the buffer that is not reserved
	heads       *pfc.Pool     // headroom of all ports
	mins        []minimum     // by queue; nil: nothing is set aside for any
	share       float64       // least of any lossy queue: see tailOf
	lans        *lans
	routes      *routes // nil: it does not route
	agenda      *agenda // of the events that are handled in their order; nil: none are
	intricate   bool    // some port was, or sends CNPs, when apart was called last

	config   SwitchConfig
	workers  []*switchWorker
	owner    []uint8               // the worker of each port
	remarks  bool                  // some ports write code points of their own
	tags     [][pfc.Classes]uint16 // code point of a new tag, in its place, by port and priority
	quantum  [pfc.Classes]int64    // bytes on the wire that a priority with a weight may send in a round
	era      era                   // what continues when the clock is set back
	gone     gone                  // ports
	stations stations              // of neighbours
}

// switchPort is one port. Its worker alone touches it.
//
// What every frame needs comes first, in one line of the cache, and then the accounts of its priorities,
// a line each. A port is an odd number of lines, so that those of many ports do not compete for the same
// places of the cache.
type switchPort struct {
	env      *fabric.Env
	worker   *switchWorker
	attend   units.Time // when a pause ends by itself, or the watchdog looks: see refresh
	number   int
	longest  uint16 // untagged frame that passes, without FCS
	refused  uint8  // priorities of which nothing is taken: see refresh
	waiting  uint8  // priorities with frames in their queues
	halted   uint8  // priorities that must not send: see refresh
	shown    uint8  // priorities whose congestion point is to see every frame
	notifies uint8  // priorities whose congestion point sends CNPs
	lossless uint8  // priorities of which frames are taken as lossless
	sampled  bool   // some of what is received is copied
	ingress  pfc.Ingress

	queues     *[pfc.Classes]queue
	overhead   int16     // what the link adds to a frame
	weighted   uint8     // priorities with a weight
	shaped     uint8     // priorities that a shaper may hold up
	shut       uint8     // priorities whose queues take no frames: a storm, or no link
	wary       uint8     // priorities whose queues do not take every frame: shut, and those with WRED
	outs       uint8     // probes and announcements to send
	down       bool      // no link
	off        bool      // an operator has shut it
	watched    uint8     // priorities that the watchdog watches
	samples    uint8     // priorities whose congestion point looks at what is queued
	judgesIdle uint8     // of those shown, priorities whose congestion point judges also what does not wait
	passed     uint8     // of those shown, priorities whose congestion point judges or stamps also what does not wait
	unnoticed  uint8     // priorities whose congestion point had no CNP to come when apart was called last, nor since then
	drained    bool      // the place is vacant, and no frame that came through it is in the switch
	link       LinkState // in force, from SetLink
	sw         *Switch
	config     *PortConfig
	points     [pfc.Classes]point
	wred       wreds
	classes    *Classes
	egress     pfc.Egress
	watchdog   pfc.Watchdog
	buckets    buckets
	shapers    *shapers // nil: there are none
	probes     probes
	rounds     rounds
	stats      fabric.PortStats
	copied     [pfc.Classes]uint64 // copies made of frames that were received here
	made       [pfc.Classes]uint64 // frames that the switch itself made at this port
	taken      [pfc.Classes]uint64 // frames that ended here, for the switch itself
	timerAt    units.Time          // of neighbours whose home is here, and of the port's announcement
	log        *eventLog           // of what happened here; nil: it is not kept
	history    *pfc.History        // of pauses; the same
	sampler    *sampler            // if sampled
	announcer  *announcer          // nil: it sends none, and reads none
	credits    *credits.Port       // flow control of the link in place of ingress and egress; nil: it is PFC
	paths      *paths              // what the choice among equal paths goes by; nil: by the flow alone
	_          [40]byte
}

// switchWorker is what belongs to one worker.
type switchWorker struct {
	_     [memory.Line]byte
	cache actionCache
	store store

	number   int
	env      *fabric.Env
	ports    []int
	outboxes []outbox // to each worker; nil: this is the only one
	pending  ownPacket

	released      [][pfc.Classes]int64 // bytes of other workers' ports that this worker released and did not send yet
	hasReleased   []bool               // by port: there is some
	releasedPorts []uint16             // the ports

	mostPooled int64  // the most that was used of the pool when this worker took something out
	bounded    int64  // how much of the pool may be used for the bounds of setBounds to hold
	failures   uint64 // of neighbours that this worker asks

	waits   int            // frames that wait for neighbours
	strays  []fabric.Frame // of them those whose neighbour a reload has removed
	knows   *routes        // of which hops were worked out, and of which neighbours
	version uint32

	_ [memory.Line]byte
}

// NewSwitch makes a switch; envs has one Env per worker, for all ports.
func NewSwitch(c SwitchConfig, envs []*fabric.Env) (*Switch, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.CP == nil {
		c.CP = func(marking.Place) marking.CP { return marking.None{} }
	}
	s := &Switch{
		config: c, ports: make([]switchPort, len(c.Ports)), queues: make([]queue, pfc.Classes*len(c.Ports)), owner: make([]uint8, len(c.Ports)),
		longest: int32(c.MTU + wire.EthernetLen), learn: c.Learn,
	}
	s.pool = pfc.NewPool(c.Buffer-c.Reserved(), len(envs) > 1)
	s.heads = pfc.NewPool(cmp.Or(c.Headroom, c.Headrooms()), len(envs) > 1)
	s.credited = c.Credits != nil
	s.setCell(c.cell(), c.extra())
	s.setTags()
	s.setOwn()
	for i, env := range envs {
		s.workers = append(s.workers, newWorker(i, env, len(envs), &c))
	}
	for i := range s.ports {
		s.initPort(i)
	}
	s.setWeights()
	s.setLimits()
	s.setAside(&s.config)
	s.setMoving()
	lans, err := c.newLANs(s.up, &s.counts)
	if err != nil {
		return nil, err
	}
	s.setLANs(lans)
	s.routes = c.newRoutes(s.up, nil, len(envs))
	s.startNeighbours(0)
	for _, w := range s.workers {
		s.setHops(w)
	}
	return s, nil
}

func newWorker(number int, env *fabric.Env, workers int, c *SwitchConfig) *switchWorker {
	w := &switchWorker{number: number, env: env}
	w.cache.most = mostLines
	for c.Actions > 0 && 2*w.cache.most > max(c.Actions, 2*leastLines) { // two a line
		w.cache.most /= 2
	}
	w.cache.grow(leastLines)
	if workers > 1 {
		ports := len(c.Ports)
		w.outboxes, w.released, w.hasReleased, w.releasedPorts = make([]outbox, workers), memory.Isolated[[pfc.Classes]int64](ports), memory.Isolated[bool](ports), memory.Isolated[uint16](ports)[:0]
		for i := range w.outboxes {
			w.outboxes[i].ring = make([]fabric.Frame, outboxLen)
		}
	}
	return w
}

// setLANs puts LANs in force.
func (s *Switch) setLANs(l *lans) {
	s.lans, s.portless = l, !s.learn && !l.aware && s.config.alike()
}

// up reports whether a port has a link.
func (s *Switch) up(port uint16) bool { return !s.ports[port].down }

func (s *Switch) initPort(i int) {
	p := &s.ports[i]
	p.sw, p.number, p.queues = s, i, (*[pfc.Classes]queue)(s.queues[pfc.Classes*i:])
	p.begin()
	p.setPoints(*s.config.newPoints(i, p.config.Link.Rate))
	p.wred = newWREDs(i, p.config, &wreds{}, nil)
	p.refresh()
	if !p.drained {
		p.worker.ports = append(p.worker.ports, i)
	}
}

// begin has a port begin as the configuration says, in a place where nothing is. Congestion points it gets from who
// calls it.
func (p *switchPort) begin() {
	s := p.sw
	c := &s.config
	p.config = &c.Ports[p.number]
	p.worker, s.owner[p.number] = s.workers[p.config.Worker], uint8(p.config.Worker)
	p.env = p.worker.env
	p.down, p.off, p.drained = p.config.Vacant, p.config.Vacant, p.config.Vacant
	p.overhead = int16(p.config.Link.WireBytes(0))
	p.own()
	p.setShapers(nil)
	p.link, p.outs, p.probes, p.rounds, p.buckets = LinkState{}, 0, probes{}, rounds{}, buckets{}
	p.stats, p.timerAt = fabric.PortStats{}, units.Never
	p.reset()
	rate := p.config.Link.Rate
	in := pfc.IngressConfig{
		Enabled: c.Accounts(p.number), Whole: p.config.Pause, Rate: rate, Pause: c.Pause,
		Pool: s.pool, Headroom: s.heads, Silent: c.Credits != nil,
	}
	for prio := range pfc.Classes {
		in.Thresholds[prio] = c.thresholds(p.number, prio)
		p.stats.LostAt[prio] = units.Never
	}
	p.ingress = *pfc.NewIngress(in)
	if !p.config.Vacant {
		p.log, p.history = newEventLog(c.History.Events), pfc.NewHistory(c.History.Pauses)
	}
	p.ingress.SetHistory(p.history)
	p.egress.SetHistory(p.history)
	p.buckets.set(0, p.config.Flood, c.Router.ICMP.limit())
	p.paths = newPaths(c, p.number)
}

// reset has what the peer did to the port be as with a new peer.
func (p *switchPort) reset() {
	c := &p.sw.config
	p.egress = pfc.NewEgress(c.obeyed(p.number), p.config.Link.Rate)
	p.egress.SetHistory(p.history)
	p.setLanes()
	p.watched = c.LosslessAt(p.number)
	p.watchdog = pfc.NewWatchdog(c.Watchdog, p.watched)
	p.watchdog.Update(0, p.stops())
}

// Cell is what frames take whole ones of, of the buffer; 0: they take their bytes.
func (s *Switch) Cell() units.Size { return s.config.cell() }

// Reserve makes all memory ahead of time that a worker needs for as many frames as the buffer holds, so
// that it never allocates.
func (s *Switch) Reserve() {
	vacant := 0 // any worker may get the ports that will be there
	for i := range s.ports {
		if s.ports[i].drained {
			vacant++
		}
	}
	for _, w := range s.workers {
		ports := len(w.ports) + vacant
		w.store.reserve(s.config.Frames(), ports*pfc.Classes)
		w.cache.grow(min(max(leastLines, 1<<bits.Len(uint(128*ports))), w.cache.most))
	}
}
