package config

import (
	"fmt"
	"math/bits"

	"photon/dataplane"
	"photon/lldp"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// LLDP makes a switch tell its neighbours who it is, and how it does data center bridging (IEEE 802.1AB, DCBX).
type LLDP struct {
	Interval     Value[units.Time] `yaml:"interval"`     // between two frames; 30s
	Hold         Value[int]        `yaml:"hold"`         // for so many intervals what it says is valid; 4
	Applications *[]AppPriority    `yaml:"applications"` // priorities that hosts are to give applications; RoCEv2 and the DSCPs of the first lossless priority
}

// AppPriority has one of these keys, and the priority of what it names.
type AppPriority struct {
	EtherType Value[int] `yaml:"ethertype"` // 0: whatever no other entry is about
	TCP       Value[int] `yaml:"tcp"`       // port
	UDP       Value[int] `yaml:"udp"`
	Port      Value[int] `yaml:"port"` // of TCP and UDP
	DSCP      Value[int] `yaml:"dscp"`
	Priority  Value[int] `yaml:"priority"`
}

// entry is what is said of it.
func (a *AppPriority) entry() (e lldp.App, err error) {
	found := 0
	for _, s := range []struct {
		v        Value[int]
		name     string
		selector uint8
		most     int
	}{
		{a.EtherType, "ethertype", lldp.ByEtherType, 0xFFFF}, {a.TCP, "tcp", lldp.ByTCP, 0xFFFF}, {a.UDP, "udp", lldp.ByUDP, 0xFFFF},
		{a.Port, "port", lldp.ByPort, 0xFFFF}, {a.DSCP, "dscp", lldp.ByDSCP, 63},
	} {
		if !s.v.IsSet() {
			continue
		}
		if found++; s.v.V < 0 || s.v.V > s.most {
			return e, fail(s.v, "lldp: %s %d must be from 0 to %d", s.name, s.v.V, s.most)
		}
		e.Selector, e.Protocol = s.selector, uint16(s.v.V)
	}
	switch p := a.Priority; {
	case found != 1:
		return e, FailIn([]any{a}, "lldp: an application is named by one of ethertype, tcp, udp, port and dscp (write it like {udp: 4791, priority: 3})")
	case !p.IsSet():
		return e, FailIn([]any{a}, "lldp: an application needs a priority (write it like {udp: 4791, priority: 3})")
	case p.V < 0 || p.V >= pfc.Classes:
		return e, fail(p, "lldp: priority %d: there are 0 to 7", p.V)
	}
	e.Priority = uint8(a.Priority.V)
	return e, nil
}

// maxApplications is how many fit into a TLV.
const maxApplications = 168

func (l *LLDP) check() error {
	if l == nil {
		return nil
	}
	if i := l.Interval; i.IsSet() && (i.V < units.Second || i.V > 3600*units.Second) {
		return fail(i, "lldp: interval %v must be from 1s to 3600s (802.1AB: 30s)", i.V)
	}
	if h := l.Hold; h.IsSet() && (h.V < 1 || h.V > 100) {
		return fail(h, "lldp: hold %d must be from 1 to 100 intervals (802.1AB: 4)", h.V)
	}
	if l.Applications == nil {
		return nil
	}
	if n := len(*l.Applications); n > maxApplications {
		return fail((*l.Applications)[maxApplications].Priority, "lldp: %d applications: a frame has room for %d", n, maxApplications)
	}
	seen := map[lldp.App]bool{}
	for i := range *l.Applications {
		a := &(*l.Applications)[i]
		e, err := a.entry()
		if err != nil {
			return err
		}
		if e.Priority = 0; seen[e] {
			return fail(a.Priority, "lldp: the application is there twice")
		}
		seen[e] = true
	}
	return nil
}

// Announced is what a switch says of itself by LLDP, but for its ports' names and addresses.
type Announced struct {
	Every units.Time
	Info  lldp.Info   // but for what a port has of its own
	DCBX  []lldp.DCBX // by the places of ports
	Base  wire.MAC    // of the system: its first port's
}

// Announced returns what is said; nil: LLDP is off. The configuration must have been checked.
func (c *Switch) Announced() *Announced {
	l := c.LLDP
	if l == nil {
		return nil
	}
	n, err := c.Resolve(nil)
	if err != nil {
		return nil
	}
	s := &n.Config
	a := &Announced{Every: l.Interval.Or(30 * units.Second), Base: c.running.Base}
	a.Info = lldp.Info{SystemName: c.NodeName(), SystemText: "photon", Capabilities: lldp.Bridge}
	if len(s.Router.Routes) > 0 {
		a.Info.Capabilities |= lldp.Router
	}
	// It holds for some intervals, and not over in the instant in which the last of them ends (802.1AB clause 9.2.5.22).
	a.Info.TTL = uint16(min(65535, int(a.Every/units.Second)*l.Hold.Or(4)+1))
	shares := lldp.Shared(s.Weights)
	for i := range s.Ports {
		lossless := s.LosslessAt(i)
		d := lldp.DCBX{ETS: shares, Recommended: shares, PFC: &lldp.PFC{Classes: pfc.Classes, Priority: lossless}, HasApps: true}
		d.Apps = c.applications(lossless, s.ClassesOf(i))
		a.DCBX = append(a.DCBX, d)
	}
	return a
}

// applications are those of the file, or what a port's maps say of the first lossless priority. Where frames are not
// trusted these say nothing, and only if all frames have that priority those of RoCEv2 do.
func (c *Switch) applications(lossless uint8, k *dataplane.Classes) (apps []lldp.App) {
	if list := c.LLDP.Applications; list != nil {
		for i := range *list {
			if e, err := (*list)[i].entry(); err == nil { // Check has seen it
				apps = append(apps, e)
			}
		}
		return apps
	}
	if lossless == 0 {
		return nil
	}
	prio := uint8(bits.TrailingZeros8(lossless))
	untrusted := k.Trust == dataplane.TrustNone
	if untrusted && k.Default != prio {
		return nil
	}
	apps = append(apps, lldp.App{Priority: prio, Selector: lldp.ByUDP, Protocol: wire.PortRoCEv2})
	if untrusted {
		return apps
	}
	for d, p := range k.DSCP {
		if p == prio {
			apps = append(apps, lldp.App{Priority: prio, Selector: lldp.ByDSCP, Protocol: uint16(d)})
		}
	}
	return apps
}

// Says prints what the switch tells others, and what of it others can ask.
func (c *Switch) Says() (lines []string) {
	if l := c.LLDP; l != nil {
		lines = append(lines, fmt.Sprintf("LLDP: each port says who it is every %v, with ETS, PFC and application priorities (DCBX of 802.1Qaz); "+
			"never willing", l.Interval.Or(30*units.Second)))
	}
	return lines
}
