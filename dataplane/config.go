package dataplane

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"

	"photon/credits"
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// SwitchConfig describes a switch. Check says what is wrong with one.
type SwitchConfig struct {
	Classes  // of ports that have none of their own
	Ports    []PortConfig
	Lossless uint8                          // priorities with PFC and ECN, whose frames are not dropped
	Buffer   units.Size                     // of the whole switch
	Cell     units.Size                     // frames take whole cells of the buffer; 0: they take their bytes
	PFC      [8]pfc.Thresholds              // of the lossless priorities, every port
	Headroom units.Size                     // that all ports and lossless priorities share, each up to its own; 0: each has its own set aside
	Pause    units.Time                     // asked for by an XOFF; 0: the longest possible
	Credits  *credits.Config                // flow control of lossless priorities in place of PFC; nil: it is PFC
	Tail     units.Size                     // an egress queue of a lossy priority drops beyond this
	Share    float64                        // the same beyond this part of what is free of the buffer for lossy frames (alpha); 0: no such limit
	Weights  [8]int                         // priorities with a weight share by it what those without one leave of a link; 1 to 100
	MTU      int                            // longest frame without Ethernet header, tags and FCS
	Learn    bool                           // learn addresses
	Age      units.Time                     // of a learned address; 0: for ever
	FDBSize  int                            // learned and static addresses
	Actions  int                            // most that a worker remembers, 32 bytes each: 64 to 65536; 0: 65536
	Static   []StaticEntry                  // addresses that are known
	Paths    Paths                          // how it chooses among equal paths
	Salt     uint32                         // makes its choice among equal paths differ from its neighbours'
	CP       func(marking.Place) marking.CP // congestion point of a lossless or judged queue; nil: none
	Judged   uint8                          // lossy priorities whose queues have a congestion point too
	Watchdog pfc.WatchdogConfig             // of every port
	Deadlock units.Time                     // a queue that is paused for so long may be in a deadlock, which is looked for; 0: it is not
	History  History                        // what is kept of what happened at each port
	ID       uint64                         // identifies this switch in probes for deadlocks
	Control  uint8                          // priority of the switch's own CNMs and CNPs

	VLANs  []VLAN // none: tags have only a priority
	Router Router
	// Of these frames none are flooded, but discarded: to unknown addresses, to all, and to other group addresses.
	NoUnknown, NoBroadcast, NoMulticast bool
}

// PortConfig describes one port of a switch.
type PortConfig struct {
	MAC      wire.MAC
	Link     fabric.Link // what this port sends into
	Headroom units.Size  // of each lossless priority; 0: the switch's
	Alpha    float64     // the same
	Worker   int         // who owns the port
	Accept   Accept      // which frames it takes, where the switch has VLANs
	Flood    FloodLimits
	Vacant   bool // a place for a port that may be added while the switch runs
	Queues   [pfc.Classes]QueueConfig
	Shaper   Shaper // of all that it sends

	LossyLimit units.Size // of what lossy frames that came through it take of the buffer; 0: none
	LossyAlpha float64    // the same by this part of what is free of the buffer for them; 0: none

	// Settings of the port that replace the switch's: see ports.go.
	Lossless   *uint8    // priorities with PFC; nil: the switch's
	Asymmetric bool      // the peer can pause all priorities, and is paused in the lossless ones only
	Pause      bool      // nothing is discarded for want of room: the peer is sent PAUSE; only without lossless priorities
	MTU        int       // 0: the switch's, which is the most there is
	Classes    *Classes  // nil: the switch's
	PCPOut     *[8]uint8 // code point by priority of frames that leave with a tag; nil: they keep theirs

	Addresses []netip.Addr // of the router, where it is behind this port
}

// QueueConfig is what one egress queue of a port has of its own.
type QueueConfig struct {
	WRED   marking.WREDParams // of the lossy frames in it; the draws of queue q at port p are those of seed 8p+q
	Alpha  float64            // what the switch's Share is for others; 0: that; NoAlpha: no such limit
	Min    units.Size         // of the buffer, set aside for the lossy frames in it: they are taken up to that, however full the rest is
	Shaper Shaper
}

// checkQueues says what is wrong with a port's queues.
func (p *PortConfig) checkQueues(longest int, judged uint8) error {
	wire := units.Size(p.Link.WireBytes(longest))
	for prio := range p.Queues {
		if judged>>prio&1 != 0 && p.Queues[prio].WRED != (marking.WREDParams{}) {
			return fmt.Errorf("queue %d: wred: the scheme's congestion point judges its frames already", prio)
		}
		if err := p.Queues[prio].WRED.Validate(); err != nil {
			return fmt.Errorf("queue %d: wred: %w", prio, err)
		}
		if err := p.Queues[prio].Shaper.check(wire); err != nil {
			return fmt.Errorf("queue %d: %w", prio, err)
		}
	}
	return p.Shaper.check(wire)
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

// DefaultClasses trust the DSCP, with both maps.
func DefaultClasses() Classes { return Classes{DSCP: DefaultDSCP(), PCP: DefaultPCP()} }

// ErrBuffer is wrapped by Check's error if the lossless priorities need more
// than the buffer.
var ErrBuffer = errors.New("the buffer is too small")

// maxCell is the longest frame that a switch takes, in one cell.
const maxCell = 16 * units.KB

// Check says what is wrong with the configuration, in one line.
func (c *SwitchConfig) Check() error {
	if len(c.Ports) < 1 || len(c.Ports) > anyPort {
		return fmt.Errorf("%d ports: a switch has 1 to %d", len(c.Ports), anyPort)
	}
	if err := c.checkFlowControl(); err != nil {
		return err
	}
	for i := range c.Ports {
		if err := c.checkOwn(i); err != nil {
			return &ItemError{"ports", i, err}
		}
	}
	if err := c.checkWeights(); err != nil {
		return err
	}
	if err := c.checkPaths(); err != nil {
		return err
	}
	switch need := c.Reserved(); {
	case c.Cell < 0 || c.Cell > maxCell:
		return fmt.Errorf("cell %v must be from 0 to %v", c.Cell, maxCell)
	case !(c.Share >= 0 && c.Share <= 1024):
		return fmt.Errorf("alpha of lossy priorities %v must be from 0 to 1024", c.Share)
	case c.Watchdog.Validate() != nil:
		return fmt.Errorf("watchdog: %w", c.Watchdog.Validate())
	case need > c.Buffer:
		return fmt.Errorf("%w: %s are %v, the buffer is %v", ErrBuffer, c.reservations(), need, c.Buffer)
	case c.Headroom < 0 || c.Headroom > 0 && c.Credits != nil:
		return fmt.Errorf("headroom %v that ports share must not be negative, and with credits there is none", c.Headroom)
	case c.Headroom > 0 && c.Headroom < c.MostHeadroom():
		return fmt.Errorf("headroom %v that ports share is less than that of a single lossless priority, %v", c.Headroom, c.MostHeadroom())
	case c.Age < 0 || c.Age > 0 && c.Age < units.Second:
		return fmt.Errorf("age %v of a learned address must be from 1s, or 0, which is for ever", c.Age)
	case c.Deadlock < 0:
		return fmt.Errorf("deadlock: detect %v must not be negative", c.Deadlock)
	case c.MTU < 46 || c.MTU > 9216:
		return fmt.Errorf("mtu %d must be from 46 to 9216", c.MTU)
	}
	if err := checkAll("ports", c.Ports, func(p *PortConfig) error { return p.check(c) }); err != nil {
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

// check says what is wrong with a port of a switch.
func (p *PortConfig) check(c *SwitchConfig) error {
	if p.Vacant && p.Addresses != nil {
		return errors.New("the router has addresses at a port that is not there")
	}
	if err := p.checkQueues(c.longest(), c.Judged); err != nil {
		return err
	}
	if err := p.checkLimits(); err != nil {
		return err
	}
	return p.Flood.check(c.MTU)
}

// ItemError is wrapped by Check's error if one of several things is wrong.
type ItemError struct {
	List  string // ports, paths, vlans, static, router, addresses or routes
	Index int
	Err   error
}

func (e *ItemError) Error() string { return e.Err.Error() }
func (e *ItemError) Unwrap() error { return e.Err }

// checkAll checks the items of a list, which the switch's configuration has under a name.
func checkAll[T any](list string, items []T, check func(*T) error) error {
	for i := range items {
		if err := check(&items[i]); err != nil {
			return &ItemError{list, i, err}
		}
	}
	return nil
}

// reservations describes what Reserved consists of.
func (c *SwitchConfig) reservations() string {
	s := fmt.Sprintf("xoff and headroom of the lossless priorities of %d ports", len(c.Ports))
	if c.Minimums() > 0 {
		s += ", and the min of queues,"
	}
	return s
}

// Reserved is the buffer that is reserved for lossless priorities and for queues.
func (c *SwitchConfig) Reserved() units.Size { return c.reserved(c.thresholds) }

// reserved is the same if the thresholds of ports and priorities are those.
func (c *SwitchConfig) reserved(of func(port, prio int) pfc.Thresholds) (sum units.Size) {
	c.eachThreshold(of, func(t pfc.Thresholds) { sum += t.XOFF })
	return sum + c.Minimums() + cmp.Or(c.Headroom, c.headrooms(of))
}

// Headrooms is the headroom of all ports and lossless priorities together.
func (c *SwitchConfig) Headrooms() units.Size { return c.headrooms(c.thresholds) }

func (c *SwitchConfig) headrooms(of func(port, prio int) pfc.Thresholds) (sum units.Size) {
	c.eachThreshold(of, func(t pfc.Thresholds) { sum += t.Headroom })
	return sum
}

// MostHeadroom is that of the priority which has most.
func (c *SwitchConfig) MostHeadroom() (most units.Size) {
	c.eachThreshold(c.thresholds, func(t pfc.Thresholds) { most = max(most, t.Headroom) })
	return most
}

// eachThreshold calls do with the thresholds of every lossless priority of every port.
func (c *SwitchConfig) eachThreshold(of func(port, prio int) pfc.Thresholds, do func(pfc.Thresholds)) {
	for i := range c.Ports {
		for p := range pfc.Classes {
			if c.Accounts(i)>>p&1 != 0 {
				do(of(i, p))
			}
		}
	}
}

// thresholds are those of a lossless priority of a port. A vacant place has nothing reserved: frames of the removed port
// count as the pool's.
func (c *SwitchConfig) thresholds(port, prio int) pfc.Thresholds {
	if c.Ports[port].Vacant {
		return pfc.Thresholds{}
	}
	if c.Credits != nil { // the peer may only send frames for which there is buffer
		return pfc.Thresholds{XOFF: c.Credits.Capacity()}
	}
	t := c.PFC[prio]
	if h := c.Ports[port].Headroom; h > 0 {
		t.Headroom = h
	}
	if a := c.Ports[port].Alpha; a > 0 {
		t.Alpha = a
	}
	return t
}

// Frames is how many frames the buffer holds at most: a world that keeps a buffer of its own for
// each frame has so many and some more.
func (c *SwitchConfig) Frames() int {
	return int(c.Buffer / max(c.cell(), wire.MinFrameLen))
}
