package dataplane

import (
	"fmt"
	"net/netip"
	"slices"

	"photon/fabric"
	"photon/fdb"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// VLAN is a virtual LAN (IEEE 802.1Q). A port is an untagged member of one at
// most, which is the VLAN of the frames that come without a tag or with one that
// has a priority only; of others it is a tagged member.
type VLAN struct {
	ID       uint16   // 1 to wire.MaxVLAN
	Untagged []uint16 // ports that send its frames without a tag
	Tagged   []uint16 // ports that send them with one

	Addresses []netip.Addr // of the router, where it is in this VLAN
}

// form is how a port sends the frames of a LAN.
type form uint8

const (
	absent form = iota // not at all
	untagged
	tagged
)

// Accept is which frames a port takes, where a switch has VLANs (IEEE 802.1Q clause 6.9, acceptable
// frame types). A frame whose tag has only a priority counts as one without tag.
type Accept uint8

// Frame types.
const (
	AcceptUsual    Accept = iota // of a port that sends no tags those without, of others all
	AcceptAll                    // whatever is of a VLAN of the port's
	AcceptTagged                 // only those with a tag
	AcceptUntagged               // only those without
)

var acceptNames = [...]string{"usual", "all", "tagged", "untagged"}

func (a Accept) String() string { return acceptNames[a] }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Accept) UnmarshalText(b []byte) error {
	i := slices.Index(acceptNames[1:], string(b))
	if i < 0 {
		return fmt.Errorf("accept %q: all, tagged or untagged", b)
	}
	*a = Accept(i + 1)
	return nil
}

// lan is where a frame may go, and what is known of who is where. Each learns by
// itself (independent VLAN learning, IEEE 802.1Q clause 8.8.8).
type lan struct {
	id    uint16 // 0: the switch has no VLANs
	fdb   *fdb.Table
	ports []uint16 // members, in their order
	forms []form   // by port
}

// lans are the LANs of a switch. Without VLANs there is one, of all ports, and
// tags are nothing to it.
type lans struct {
	aware        bool // there are VLANs
	all          []*lan
	byID         []*lan     // nil: there is none
	untagged     []*lan     // by port: of frames without tag; nil: they are discarded
	untaggedOut  []*lan     // by port: of those that it sends without tag; nil: it sends none
	untaggedOnly []bool     // by port: frames with a tag are discarded
	groups       [][]uint16 // of ports of equal cost, by the number that entries have
}

// maxPlaces bounds the memory of all forwarding databases of a switch: 256 MB.
const maxPlaces = 1 << 24

// newLANs makes the LANs with their static entries.
func (c *SwitchConfig) newLANs(up func(port uint16) bool, counts *fdb.Counts) (*lans, error) {
	l := &lans{aware: c.VLANs != nil, untagged: make([]*lan, len(c.Ports)), untaggedOnly: make([]bool, len(c.Ports))}
	vlans := c.VLANs
	if !l.aware {
		all := VLAN{}
		for i := range c.Ports {
			if !c.Ports[i].Vacant {
				all.Untagged = append(all.Untagged, uint16(i))
			}
		}
		vlans, l.byID = []VLAN{all}, make([]*lan, 1)
	} else {
		l.byID = make([]*lan, wire.VLANID+1)
	}
	trunk := make([]bool, len(c.Ports)) // a tagged member of some
	for _, v := range vlans {
		x := &lan{id: v.ID, fdb: fdb.New(c.FDBSize, c.Age, counts), forms: make([]form, len(c.Ports))}
		for _, p := range v.Untagged {
			x.forms[p], l.untagged[p] = untagged, x
		}
		for _, p := range v.Tagged {
			x.forms[p], trunk[p] = tagged, true
		}
		for p, form := range x.forms {
			if form != absent {
				x.ports = append(x.ports, uint16(p))
			}
		}
		if c.Router.MAC != 0 {
			x.fdb.Insert(fdb.NewEntry(c.Router.MAC, 0, fdb.Router), 0)
		}
		l.all = append(l.all, x)
		l.byID[v.ID] = x
	}
	l.untaggedOut = slices.Clone(l.untagged)
	for i := range c.Ports {
		accept := c.Ports[i].Accept
		if l.untaggedOnly[i] = l.aware && (accept == AcceptUntagged || accept == AcceptUsual && !trunk[i]); l.aware && accept == AcceptTagged {
			l.untagged[i] = nil
		}
	}
	for i := range c.Static {
		e := &c.Static[i]
		x := l.byID[c.vlanOf(e)]
		if err := l.setStatic(x, e, up); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// at is the LAN of an identifier; nil: there is none.
func (l *lans) at(id uint16) *lan {
	if int(id) >= len(l.byID) {
		return nil
	}
	return l.byID[id]
}

// checkVLANs says what is wrong with the VLANs.
func (c *SwitchConfig) checkVLANs() error {
	if fdb.Places(c.FDBSize)*len(c.VLANs) > maxPlaces {
		return fmt.Errorf("%d VLANs of %d addresses each: that is too much memory (fewer addresses)", len(c.VLANs), c.FDBSize)
	}
	seen := map[uint16]bool{}
	of := make([]uint16, len(c.Ports)) // untagged
	return checkAll("vlans", c.VLANs, func(v *VLAN) error {
		if v.ID < 1 || v.ID > wire.MaxVLAN {
			return fmt.Errorf("VLAN %d: there are 1 to %d", v.ID, wire.MaxVLAN)
		}
		if seen[v.ID] {
			return fmt.Errorf("VLAN %d is there twice", v.ID)
		}
		seen[v.ID] = true
		member := map[uint16]bool{}
		for i, p := range slices.Concat(v.Untagged, v.Tagged) {
			switch {
			case !c.has(p):
				return fmt.Errorf("VLAN %d: there is no port %d", v.ID, p)
			case member[p]:
				return fmt.Errorf("VLAN %d: port %d is named twice", v.ID, p)
			case i < len(v.Untagged) && of[p] != 0:
				return fmt.Errorf("VLAN %d: port %d is untagged in VLAN %d already, and can be so in one only", v.ID, p, of[p])
			case i < len(v.Untagged):
				of[p] = v.ID
			}
			member[p] = true
		}
		return nil
	})
}

// checkPlace says what is wrong with the port and VLAN of an address; VLAN 0: the port's untagged one.
func (c *SwitchConfig) checkPlace(port, vlan uint16) error {
	switch form := c.formOf(port, vlan); {
	case !c.has(port):
		return fmt.Errorf("there is no port %d", port)
	case c.VLANs == nil && vlan != 0:
		return fmt.Errorf("there is no VLAN %d", vlan)
	case form == absent && vlan == 0:
		return fmt.Errorf("port %d has no untagged VLAN: say which", port)
	case form == absent:
		return fmt.Errorf("port %d is not in VLAN %d", port, vlan)
	}
	return nil
}

// formOf is how a port sends frames of a VLAN; 0: of its untagged one.
func (c *SwitchConfig) formOf(port, vlan uint16) form {
	if c.VLANs == nil {
		return untagged
	}
	for _, v := range c.VLANs {
		switch {
		case (vlan == v.ID || vlan == 0) && slices.Contains(v.Untagged, port):
			return untagged
		case vlan == v.ID && slices.Contains(v.Tagged, port):
			return tagged
		}
	}
	return absent
}

// adopt learns what others, which may be in use, have learned at ports that are still members, but at one port;
// noPort: at all.
func (l *lans) adopt(from *lans, but int) {
	for _, x := range l.all {
		if old := from.at(x.id); old != nil {
			x.fdb.Adopt(old.fdb, func(port int) bool { return port != but && x.forms[port] != absent })
		}
	}
}

// lanOf finds the LAN of a frame that came in; nil: the port is not in it, or does not take such frames.
func (s *Switch) lanOf(p *switchPort, b []byte) *lan {
	l := s.lans
	tci, tag := wire.VLANTag(b)
	switch {
	case !l.aware || !tag || tci&wire.VLANID == 0:
		return l.untagged[p.number]
	case l.untaggedOnly[p.number]:
		return nil
	}
	return l.memberOf(tci&wire.VLANID, p.number)
}

// lanOut finds the LAN of a frame that leaves; nil: the port has left it.
func (s *Switch) lanOut(p *switchPort, b []byte) *lan {
	l := s.lans
	tci, tag := wire.VLANTag(b)
	if !l.aware || !tag || tci&wire.VLANID == 0 {
		return l.untaggedOut[p.number]
	}
	return l.memberOf(tci&wire.VLANID, p.number)
}

// memberOf is the LAN of an identifier, if a port is in it.
func (l *lans) memberOf(id uint16, port int) *lan {
	if x := l.byID[id]; x != nil && x.forms[port] != absent {
		return x
	}
	return nil
}

// setTags works out the code point of each priority at each port: the first that is mapped to it there.
func (s *Switch) setTags() {
	s.tags = make([][pfc.Classes]uint16, len(s.config.Ports))
	for port := range s.tags {
		of := &s.config.ClassesOf(port).PCP
		for prio := range uint8(pfc.Classes) {
			s.tags[port][prio] = uint16(prio) << 13
			if pcp := slices.Index(of[:], prio); pcp >= 0 {
				s.tags[port][prio] = uint16(pcp) << 13
			}
		}
	}
}

// egressAction is an action with the port through which a frame of a LAN that came through p is to leave, and
// what is done to its tag there; b is the frame as it came. It reports false if the port does not send it: it has left the LAN
// since the address was learned, or what is behind the tag would be taken for a tag of the switch's
// (so a host could reach the VLANs of a trunk whose untagged one is its own).
func (s *Switch) egressAction(p *switchPort, a action, in *lan, port uint16, b []byte) (action, bool) {
	a = s.owned(p, a.to(port))
	if !s.lans.aware {
		if tci, has := wire.VLANTag(b); s.remarks && has && s.ports[port].config.PCPOut != nil {
			a = a.retag(tagSet, tci&wire.VLANID)
		}
		return a, true
	}
	return s.tagged(a, in.forms[port], in.id, b)
}

// tagged is an action with what is done to the tag of a frame that is to leave in a form, as one of a VLAN.
func (s *Switch) tagged(a action, want form, id uint16, b []byte) (action, bool) {
	const tagLen = wire.VLANLen << 56 // in the offset of the IP header
	tci, has := wire.VLANTag(b)
	switch {
	case want == absent:
		return a, false
	case has && want == tagged:
		if tci&wire.VLANID != id || s.remarks && s.ports[a.out()].config.PCPOut != nil {
			a = a.retag(tagSet, id)
		}
	case has:
		if _, again := wire.VLANTag(b[wire.VLANLen:]); again {
			return a, false
		}
		if a |= tagPop; a>>56&action(fabric.OffsetL3) != 0 {
			a -= tagLen
		}
	case want == tagged:
		if a = a.retag(tagPush, id); a>>56&action(fabric.OffsetL3) != 0 {
			a += tagLen
		}
	}
	return a, true
}

// forward gives one frame of a LAN, whose priority is known, to an egress port, as it wants it.
func (s *Switch) forward(now units.Time, p *switchPort, in *lan, port uint16, f *fabric.Frame) {
	a, ok := s.egressAction(p, actionOf(f), in, port, p.env.Bytes(f))
	if !ok {
		s.discard(now, p, f, fabric.DropVLAN)
		return
	}
	s.apply(now, p, f, a)
}

// apply has one frame take the way of its action.
func (s *Switch) apply(now units.Time, p *switchPort, f *fabric.Frame, a action) {
	a, ok := s.rewriteOne(now, p, f, a)
	s.sendPending(now, p)
	if ok && f.Len > s.narrow && s.tooWide(p, f, a) {
		s.drop(now, p, f, a, fabric.DropOversize)
		return
	}
	if ok {
		s.enqueueOne(now, p, f, a, false, false)
	}
}
