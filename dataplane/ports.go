package dataplane

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// What a port has of its own, where others have what the switch says: which of its frames are lossless, how long they
// may be, by what their priority goes, and how it says that on the way out.
//
// The port through which a frame comes decides whether it is lossless, wherever it leaves: then it is not discarded for
// want of room. The port by which it leaves decides which pauses hold it up.

// Trust says from which field of a frame a port takes its priority.
type Trust uint8

// Kinds of trust.
const (
	TrustDSCP Trust = iota // the DSCP of IP; else the tag
	TrustPCP               // the tag; else the DSCP
	TrustNone              // nothing: all frames are of the default priority
)

// Classes are how frames that come get their priority.
type Classes struct {
	Trust   Trust
	DSCP    [64]uint8 // priority of an IP frame
	PCP     [8]uint8  // priority of a tagged frame
	Default uint8     // of frames that have neither, or are not trusted
}

// ClassesOf are those of a port.
func (c *SwitchConfig) ClassesOf(port int) *Classes {
	if own := c.Ports[port].Classes; own != nil {
		return own
	}
	return &c.Classes
}

// LosslessAt are the priorities of a port that have PFC.
func (c *SwitchConfig) LosslessAt(port int) uint8 {
	if own := c.Ports[port].Lossless; own != nil {
		return *own
	}
	return c.Lossless
}

// admitted are the priorities of which a port takes frames as lossless: those with PFC, or all where it sends PAUSE.
func (c *SwitchConfig) admitted(port int) uint8 {
	if c.Ports[port].Pause {
		return 0xFF
	}
	return c.LosslessAt(port)
}

// Accounts are the priorities of a port that have an account with thresholds: one, of all frames, where it sends PAUSE.
func (c *SwitchConfig) Accounts(port int) uint8 {
	if c.Ports[port].Pause {
		return 1
	}
	return c.LosslessAt(port)
}

// anywhere are the priorities that are lossless at any port, by PFC.
func (c *SwitchConfig) anywhere() uint8 {
	set := c.Lossless
	for i := range c.Ports {
		set |= c.LosslessAt(i)
	}
	return set
}

// judged are the priorities whose queues have a congestion point.
func (c *SwitchConfig) judged() uint8 { return c.anywhere() | c.Judged }

// obeyed are the priorities of a port that its peer can pause, one by one.
func (c *SwitchConfig) obeyed(port int) uint8 {
	if c.Ports[port].Asymmetric {
		return 0xFF
	}
	return c.LosslessAt(port)
}

// mtu is a port's.
func (c *SwitchConfig) mtu(port uint16) int { return cmp.Or(c.Ports[port].MTU, c.MTU) }

// narrow is the longest frame that all ports take, if not all take the same: what is longer is looked at.
func (c *SwitchConfig) narrow() uint16 {
	least := c.MTU
	for i := range c.Ports {
		least = min(least, c.mtu(uint16(i)))
	}
	if least == c.MTU {
		return math.MaxUint16
	}
	return uint16(least + wire.EthernetLen)
}

// checkOwn says what is wrong with what a port has of its own.
func (c *SwitchConfig) checkOwn(port int) error {
	p := &c.Ports[port]
	if p.MTU != 0 && (p.MTU < 46 || p.MTU > c.MTU) {
		return fmt.Errorf("mtu %d of a port must be from 46 to the switch's, %d", p.MTU, c.MTU)
	}
	if p.Pause && (c.LosslessAt(port) != 0 || p.Asymmetric) {
		return errors.New("PAUSE stops everything: a port that sends it has no lossless priorities (IEEE 802.1Q clause 36.1.1)")
	}
	if c.Credits != nil { // a lane is a priority, and the same one at both ends of the link
		if p.Lossless != nil || p.Pause || p.Asymmetric || p.Classes != nil || p.PCPOut != nil {
			return errors.New("with credits ports have no lossless priorities, PAUSE, trust or priority maps of their own: lanes are the switch's")
		}
		return nil
	}
	for prio := range pfc.Classes {
		if c.Accounts(port)>>prio&1 != 0 {
			if err := c.PFC[prio].Validate(); err != nil {
				return fmt.Errorf("priority %d: %w", prio, err)
			}
		}
	}
	return nil
}

// alike reports whether all ports do to a frame that comes what all others do.
func (c *SwitchConfig) alike() bool {
	for i := range c.Ports {
		if p := &c.Ports[i]; p.Lossless != nil || p.Pause || p.MTU != 0 || p.Classes != nil {
			return false
		}
	}
	return true
}

// setOwn works out what the switch has to know of all ports.
func (s *Switch) setOwn() {
	c := &s.config
	s.lossless, s.narrow, s.remarks = c.anywhere(), c.narrow(), false
	for i := range c.Ports {
		s.remarks = s.remarks || c.Ports[i].PCPOut != nil
	}
}

// own puts in force what the port has of its own.
func (p *switchPort) own() {
	c := &p.sw.config
	p.lossless, p.longest = c.admitted(p.number), uint16(c.mtu(uint16(p.number))+wire.EthernetLen)
	p.classes = c.ClassesOf(p.number)
}

// reobey has the port obey, and its watchdog watch, the priorities that the configuration says.
func (p *switchPort) reobey(now units.Time) {
	c := &p.sw.config
	if resumed := p.egress.Obey(now, c.obeyed(p.number)); resumed != 0 {
		p.refresh()
		p.resumed(now, resumed)
	}
	if set := c.LosslessAt(p.number); set != p.watched {
		p.watchdog.Watch(now, set)
		p.watched = set
		p.refresh()
		p.watch(now)
	}
}

// recount has the queues know how many of their frames no congestion point judges.
func (s *Switch) recount() {
	for i := range s.queues {
		q, p := &s.queues[i], &s.ports[i/pfc.Classes]
		q.unjudged = 0
		q.each(func(f *fabric.Frame) {
			if !p.judges(f) {
				q.unjudged++
			}
		})
	}
}

// tooWide reports whether what a frame carries behind its tags is more than the port takes by which it is to leave.
func (s *Switch) tooWide(p *switchPort, f *fabric.Frame, a action) bool {
	var h wire.Header
	wire.Parse(p.env.Bytes(f), &h)
	return int(f.Len)-h.Payload > int(s.ports[a.out()].longest)-wire.EthernetLen
}

// empty takes out of the accounts of ports what is there, if another configuration has other frames of theirs be
// lossless. When that is in force, again charges it anew: what is there counts as what will come does, so that all frames
// of one port and priority are alike. The workers are at rest.
func (s *Switch) empty(now units.Time, to *SwitchConfig) (again func()) {
	changes := make([]bool, len(s.ports))
	some := false
	for i := range s.ports {
		if to.Ports[i].Vacant || s.config.Ports[i].Vacant {
			continue
		}
		changes[i] = s.config.admitted(i) != to.admitted(i) || s.config.Accounts(i) != to.Accounts(i)
		some = some || changes[i]
	}
	if !some {
		return func() {}
	}
	s.applyReleases(now)
	each := func(do func(*fabric.Frame)) {
		s.each(func(f *fabric.Frame) {
			if f.In != ownFrame && changes[f.In] {
				do(f)
			}
		})
	}
	each(func(f *fabric.Frame) {
		if f.Flag&fabric.Lossless == 0 {
			s.pool.Add(-s.cost(f.Len))
		}
	})
	for i := range s.ports {
		if changes[i] {
			s.ports[i].ingress.Restart(now, to.Accounts(i), to.Ports[i].Pause)
		}
	}
	return func() {
		each(func(f *fabric.Frame) {
			p := &s.ports[f.In]
			if f.Flag &^= fabric.Lossless; p.lossless>>(f.Prio&7)&1 != 0 {
				f.Flag |= fabric.Lossless
			} else {
				s.pool.Add(s.cost(f.Len))
			}
			p.ingress.ChargeAll(f.Prio, s.cost(f.Len))
			p.ingress.Note(f.Prio, 0)
		})
		s.recount()
		for i := range s.ports {
			s.ports[i].ingress.CheckXOFF()
			s.ports[i].gate()
		}
	}
}
