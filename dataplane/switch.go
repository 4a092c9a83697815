package dataplane

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// SwitchConfig describes a switch. Check says what is wrong with one.
type SwitchConfig struct {
	Ports    []PortConfig
	Lossless uint8                          // priorities that are never dropped: PFC is on, and ECN too
	Buffer   units.Size                     // of the whole switch
	PFC      [8]pfc.Thresholds              // of the lossless priorities, every port
	Pause    units.Time                     // asked for by an XOFF; 0: the longest possible
	Tail     units.Size                     // an egress queue of a lossy priority drops beyond this
	Share    float64                        // the same beyond this part of what is free of the buffer for lossy frames (alpha); 0: no such limit
	Weights  [8]int                         // priorities with a weight share by it what those without one leave of a link; 1 to 100
	MTU      int                            // longest frame without Ethernet header, tags and FCS
	DSCP     [64]uint8                      // priority of an IP frame
	PCP      [8]uint8                       // priority of a tagged frame
	TrustPCP bool                           // a tag counts more than the DSCP
	Learn    bool                           // learn addresses
	Age      units.Time                     // of a learned address; 0: for ever
	FDBSize  int                            // learned and static addresses
	Static   []StaticEntry                  // addresses that are known
	Salt     uint32                         // makes its choice among equal paths another than its neighbours'
	CP       func(marking.Place) marking.CP // congestion point of a lossless queue; nil: none
	Watchdog pfc.WatchdogConfig             // of every port
	Deadlock units.Time                     // a queue that is paused for so long may be in a deadlock, which is looked for; 0: it is not
	ID       uint64                         // tells this switch from others when deadlocks are looked for
	Control  uint8                          // priority of what the switch itself says: CNM and CNP

	VLANs     []VLAN // none: tags are nothing to the switch
	Router    Router
	NoUnknown bool // frames to an address that nobody has are discarded, not flooded
}

// PortConfig describes one port of a switch.
type PortConfig struct {
	MAC      wire.MAC
	Link     Link       // what this port sends into
	Headroom units.Size // of each lossless priority; 0: the switch's
	Alpha    float64    // the same
	Worker   int        // who owns the port
	Flood    FloodLimits
}

// StaticEntry sends an address to one port, or to several of equal cost by flow hash.
type StaticEntry struct {
	MAC   wire.MAC
	Ports []uint16
	VLAN  uint16 // 0: the first port's untagged one
}

// DefaultDSCP maps a DSCP to the priority of its class selector (RFC 2474): 26
// to 3, 48 to 6, as RoCE deployments have it.
func DefaultDSCP() (m [64]uint8) {
	for d := range m {
		m[d] = uint8(d >> 3)
	}
	return m
}

// DefaultPCP maps a priority code point to itself.
func DefaultPCP() [8]uint8 { return [8]uint8{0, 1, 2, 3, 4, 5, 6, 7} }

// ErrBuffer is wrapped by Check's error if the lossless priorities need more
// than the buffer.
var ErrBuffer = errors.New("the buffer is too small")

// Check says what is wrong with the configuration, in one line.
func (c *SwitchConfig) Check() error {
	if len(c.Ports) < 1 || len(c.Ports) > maxPorts {
		return fmt.Errorf("%d ports: a switch has 1 to %d", len(c.Ports), maxPorts)
	}
	for p := range pfc.Classes {
		if c.Lossless>>p&1 != 0 {
			if err := c.PFC[p].Validate(); err != nil {
				return fmt.Errorf("priority %d: %w", p, err)
			}
		}
	}
	if err := c.checkWeights(); err != nil {
		return err
	}
	if !(c.Share >= 0 && c.Share <= 1024) {
		return fmt.Errorf("alpha of lossy priorities %v must be from 0 to 1024", c.Share)
	}
	if err := c.Watchdog.Validate(); err != nil {
		return fmt.Errorf("watchdog: %w", err)
	}
	if need := c.reserved(); need > c.Buffer {
		return fmt.Errorf("%w: xoff and headroom of the lossless priorities of %d ports are %v, the buffer is %v", ErrBuffer, len(c.Ports), need, c.Buffer)
	}
	if c.Deadlock < 0 {
		return fmt.Errorf("deadlock: detect %v must not be negative", c.Deadlock)
	}
	if c.MTU < 46 || c.MTU > 9216 {
		return fmt.Errorf("mtu %d must be from 46 to 9216", c.MTU)
	}
	if err := checkAll("ports", c.Ports, func(p *PortConfig) error { return p.Flood.check(c.MTU) }); err != nil {
		return err
	}
	if err := c.checkVLANs(); err != nil {
		return err
	}
	if err := c.checkStatic(); err != nil {
		return err
	}
	return c.checkRouter()
}

// reserved is what the lossless priorities may fill: no lossy frame takes it.
func (c *SwitchConfig) reserved() (sum units.Size) {
	for i := range c.Ports {
		for p := range pfc.Classes {
			if c.Lossless>>p&1 != 0 {
				t := c.thresholds(i, p)
				sum += t.XOFF + t.Headroom
			}
		}
	}
	return sum
}

func (c *SwitchConfig) thresholds(port, prio int) pfc.Thresholds {
	t := c.PFC[prio]
	if h := c.Ports[port].Headroom; h > 0 {
		t.Headroom = h
	}
	if a := c.Ports[port].Alpha; a > 0 {
		t.Alpha = a
	}
	return t
}

// Switch is a shared-buffer switch: frames wait at their egress port, one queue
// per priority, and are accounted to the port through which they came.
type Switch struct {
	config   SwitchConfig
	ports    []switchPort
	workers  []*switchWorker
	lans     *lans
	routes   *routes            // nil: it does not route
	changes  atomic.Uint32      // of what findPort goes by, but for the ages of addresses
	direct   bool               // a port found is a port to send to: one worker, no VLANs
	tags     [8]uint16          // code point of a new tag, in its place, by priority
	pool     *pfc.Pool          // what the lossless priorities do not reserve
	moving   bool               // some thresholds follow what is free of the pool
	holding  int                // ports whose peers hold an XOFF of ours; counted only if moving
	longest  int                // frame that passes, without FCS
	bare     int                // the same without a tag of the switch's
	classes  [256]read          // of plain IPv4 packets, by TOS
	weighted uint8              // priorities with a weight
	quantum  [pfc.Classes]int64 // bytes on the wire that each may send in a round
	general  bool               // every frame goes the general way: for tests of the quick one
}

// switchPort is one port. Its worker alone touches it, but for the rings, whose
// other ends belong to the other workers, and for the ingress occupancy.
//
// What every frame needs comes first, in one line of the cache; then, of each
// priority, two more. A port is an odd number of lines, so that those of many ports
// do not compete for the same places of the cache.
type switchPort struct {
	fdb      *fdb // of frames without a tag; nil: they are discarded
	env      *Env
	attend   units.Time // when a pause ends by itself, or the watchdog looks: see note
	sent     units.Size // on the wire
	number   int
	overhead int32 // what the link adds to a frame
	waiting  uint8 // priorities with frames in their queues
	shut     uint8 // priorities whose queues take no frames: a storm, or no link
	halted   uint8 // priorities that must not send: see note
	simple   uint8 // lossless priorities that are not sampled: a frame is queued, and that is all
	quick    uint8 // priorities whose frames can be judged a burst at a time
	notifies uint8 // priorities whose congestion point sends CNPs
	sampled  uint8 // priorities whose congestion point samples what is queued
	down     bool  // no link
	alone    bool  // no other worker has frames for it
	outs     uint8 // probes to send
	open     uint8 // priorities to whose queues lossless frames are appended, and that is all: see reopen
	_        uint8

	in     pfc.Ingress // its first bytes end the line
	of     *Switch
	worker *switchWorker
	config *PortConfig
	lan    *lan    // whose fdb that is
	rings  []*ring // from each other worker; nil: there is none

	queues [pfc.Classes]level
	points [pfc.Classes]point
	spans  [pfc.Classes]marking.Spanner // of the points: those of a port in two lines of the cache
	eg     pfc.Egress
	dog    pfc.Watchdog

	buckets  buckets
	probes   probes
	rounds   rounds
	packet   marking.Packet // scratch: what congestion points are shown
	stats    PortStats
	admitted [pfc.Classes]uint64 // frames that entered the buffer here
	copied   [pfc.Classes]uint64 // copies made of frames that were received here
	made     [pfc.Classes]uint64 // frames that the switch itself made at this port
	enqueued [pfc.Classes]uint64 // frames that were queued here and not flushed
}

// level is what frames touch of one priority: two lines.
type level struct {
	queue
	burst marking.Burst // the congestion point, if it can judge bursts
	lane
}

// note brings attend and halted up to date. It comes after every change of eg and dog.
func (p *switchPort) note() {
	p.attend = min(p.eg.Next(), p.dog.Next())
	p.halted = p.eg.Paused() &^ p.dog.Ignored()
	p.reopen()
}

// reopen brings open up to date: while there is no instant at which the port is to be
// attended to, nobody need ask whether that has come. It comes after every change of
// attend, shut and simple.
func (p *switchPort) reopen() {
	if p.open = 0; p.attend == units.Never {
		p.open = p.simple &^ p.shut
	}
}

// point is the congestion point of one queue, and what more than marking it does.
type point struct {
	cp       marking.CP // nil: none
	burst    marking.Burst
	sampler  marking.Sampler
	notifier marking.Notifier
	stamper  marking.Stamper
}

func newPoint(cp marking.CP) (p point) {
	if _, none := cp.(marking.None); none {
		return point{}
	}
	p.cp = cp
	p.burst, _ = cp.(marking.Burst)
	p.sampler, _ = cp.(marking.Sampler)
	p.notifier, _ = cp.(marking.Notifier)
	p.stamper, _ = cp.(marking.Stamper)
	return p
}

// newPoints makes the congestion points of a port.
func (c *SwitchConfig) newPoints(port int) (points [pfc.Classes]point) {
	for prio := range pfc.Classes {
		if c.Lossless>>prio&1 != 0 {
			points[prio] = newPoint(c.CP(marking.Place{Port: port, Prio: prio, Rate: c.Ports[port].Link.Rate}))
		}
	}
	return points
}

func (p *switchPort) setPoints(points [pfc.Classes]point) {
	p.points, p.notifies, p.sampled, p.quick = points, 0, 0, 0
	for prio := range points {
		p.queues[prio].burst, p.queues[prio].keep = points[prio].burst, -1
		p.spans[prio], _ = points[prio].cp.(marking.Spanner)
		if points[prio].quick() {
			p.quick |= 1 << prio
		}
		if points[prio].cp == nil {
			p.queues[prio].keep = math.MaxInt64
		} else if k, ok := points[prio].burst.(marking.Keeper); ok {
			p.queues[prio].keep = k.Keeps()
		}
		if points[prio].notifier != nil {
			p.notifies |= 1 << prio
		}
		if points[prio].sampler != nil {
			p.sampled |= 1 << prio
		}
	}
	p.simple = p.of.config.Lossless &^ p.sampled
	p.reopen()
}

// switchWorker is what belongs to one worker.
type switchWorker struct {
	number  int
	learned *learnRing           // to the writer of the forwarding database; nil: this is the writer
	to      [quickBurst]int32    // of a burst being received: queueOf, noPort, unfound or notSimple
	hops    [quickBurst]wire.MAC // of those that are routed
	sizes   [quickBurst]uint16
	marks   [quickBurst]marking.Mark
	pairs   pairs
	all     admissions
	began   [quickBurst]uint16 // queues that were empty before frames of the burst were appended
	heads   heads
	leaving leaving
}

// ringSize is how many frames can be on their way from one worker to a port of
// another: several bursts of every port.
const ringSize = 4096

// NewSwitch makes a switch; envs has one Env per worker, for all ports.
func NewSwitch(c SwitchConfig, envs []*Env) (*Switch, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.CP == nil {
		c.CP = func(marking.Place) marking.CP { return marking.None{} }
	}
	s := &Switch{config: c, ports: make([]switchPort, len(c.Ports)), longest: c.MTU + wire.EthernetLen + wire.VLANLen}
	s.pool = pfc.NewPool(c.Buffer-c.reserved(), len(envs) > 1)
	s.setClasses()
	s.setTags()
	s.setWeights()
	for w := range envs {
		worker := &switchWorker{number: w, pairs: newPairs(c.portsOf(w))}
		if w > 0 {
			worker.learned = newLearnRing()
		}
		s.workers = append(s.workers, worker)
	}
	for i := range s.ports {
		s.initPort(i, envs)
	}
	s.setMoving()
	lans, err := c.newLANs()
	if err != nil {
		return nil, err
	}
	s.setLANs(lans)
	s.routes = c.newRoutes(s.up)
	return s, nil
}

// portsOf is how many ports a worker has.
func (c *SwitchConfig) portsOf(worker int) (n int) {
	for i := range c.Ports {
		if c.Ports[i].Worker == worker {
			n++
		}
	}
	return n
}

// up reports whether a port has a link.
func (s *Switch) up(port uint16) bool { return !s.ports[port].down }

func (s *Switch) initPort(i int, envs []*Env) {
	c := &s.config
	p := &s.ports[i]
	p.config = &c.Ports[i]
	p.number = i
	p.worker = s.workers[p.config.Worker]
	p.env = envs[p.config.Worker]
	rate := p.config.Link.Rate
	p.of = s
	p.eg = pfc.NewEgress(c.Lossless, rate)
	p.dog = pfc.NewWatchdog(c.Watchdog, c.Lossless)
	p.dog.Update(0, &p.eg)
	in := pfc.IngressConfig{Enabled: c.Lossless, Rate: rate, Pause: c.Pause, Shared: len(envs) > 1, Pool: s.pool}
	for prio := range pfc.Classes {
		in.Thresholds[prio] = c.thresholds(i, prio)
	}
	p.setPoints(c.newPoints(i))
	p.buckets.set(p.config.Flood)
	p.in = *pfc.NewIngress(in)
	p.overhead = int32(p.config.Link.overhead())
	p.alone = len(envs) == 1
	p.note()
	if len(envs) > 1 {
		p.rings = make([]*ring, len(envs))
		for w := range envs {
			if w != p.config.Worker {
				p.rings[w] = newRing(ringSize)
			}
		}
	}
}

// setMoving notes whether a release at one port may let another send an XON,
// and how many wait for that. With several workers each port looks for itself.
func (s *Switch) setMoving() {
	s.moving, s.holding = false, 0
	for i := range s.ports {
		for prio := range pfc.Classes {
			moves := s.config.Lossless>>prio&1 != 0 && s.config.thresholds(i, prio).Alpha > 0
			s.moving = s.moving || moves && len(s.workers) == 1
		}
	}
	if s.moving {
		for i := range s.ports {
			if s.ports[i].in.Held() != 0 {
				s.holding++
			}
		}
	}
}

// Reserve makes room in every queue for n frames ahead of time, so that a
// worker never allocates.
//
// The rings are made in one piece, each followed by nine lines of the cache that
// nobody uses: a ring alone would begin with a page, and what is at the beginning
// of many pages competes for a few places of the caches.
func (s *Switch) Reserve(n int) {
	size := ringFor(n)
	stride := size + 9*4
	all := make([]Frame, stride*len(s.ports)*pfc.Classes)
	for i := range s.ports {
		for p := range s.ports[i].queues {
			if q := &s.ports[i].queues[p].queue; len(q.ring) < size {
				q.move(all[:size:size])
			}
			all = all[stride:]
		}
	}
}
