package dataplane

import (
	"fmt"
	"slices"

	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// VLAN is a virtual LAN (IEEE 802.1Q). A port is an untagged member of one at
// most, which is the VLAN of the frames that come without a tag or with one that
// tells a priority only; of others it is a tagged member.
type VLAN struct {
	ID       uint16   // 1 to wire.MaxVLAN
	Untagged []uint16 // ports that send its frames without a tag
	Tagged   []uint16 // ports that send them with one
}

// form is how a port sends the frames of a LAN.
type form uint8

const (
	absent form = iota // not at all
	untagged
	tagged
)

// lan is where a frame may go, and what is known of who is where. Each learns by
// itself (independent VLAN learning, IEEE 802.1Q clause 8.8.8).
type lan struct {
	id    uint16 // 0: the switch has no VLANs
	fdb   *fdb
	ports []uint16 // members, in their order
	forms []form   // by port
}

// lans are the LANs of a switch. Without VLANs there is one, of all ports, and
// tags are nothing to it.
type lans struct {
	aware    bool // there are VLANs
	all      []*lan
	byID     []*lan // nil: there is none
	untagged []*lan // by port: of frames without tag; nil: they are discarded
}

// maxPlaces bounds the memory of all forwarding databases of a switch: 256 MB.
const maxPlaces = 1 << 24

// newLANs makes the LANs with their static entries.
func (c *SwitchConfig) newLANs() (*lans, error) {
	l := &lans{aware: c.VLANs != nil, untagged: make([]*lan, len(c.Ports))}
	vlans := c.VLANs
	if !l.aware {
		all := VLAN{Untagged: make([]uint16, len(c.Ports))}
		for i := range all.Untagged {
			all.Untagged[i] = uint16(i)
		}
		vlans, l.byID = []VLAN{all}, make([]*lan, 1)
	} else {
		l.byID = make([]*lan, wire.VLANID+1)
	}
	for _, v := range vlans {
		x := &lan{id: v.ID, fdb: newFDB(c.FDBSize, c.Age, c.Salt), forms: make([]form, len(c.Ports))}
		for _, p := range v.Untagged {
			x.forms[p], l.untagged[p] = untagged, x
		}
		for _, p := range v.Tagged {
			x.forms[p] = tagged
		}
		for p, form := range x.forms {
			if form != absent {
				x.ports = append(x.ports, uint16(p))
			}
		}
		l.all = append(l.all, x)
		l.byID[v.ID] = x
	}
	for _, x := range l.all {
		if c.Router.MAC != 0 {
			x.fdb.setRouter(c.Router.MAC)
		}
	}
	for _, e := range c.Static {
		x := l.untagged[e.Ports[0]]
		if e.VLAN != 0 {
			x = l.byID[e.VLAN]
		}
		if err := x.fdb.set(e.MAC, e.Ports); err != nil {
			return nil, err
		}
	}
	for _, x := range l.all {
		x.fdb.setRow()
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

// ItemError is wrapped by Check's error if one of several things is wrong.
type ItemError struct {
	List  string // ports, vlans, static, router, addresses or routes
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

// checkVLANs says what is wrong with the VLANs.
func (c *SwitchConfig) checkVLANs() error {
	if places(c.FDBSize)*len(c.VLANs) > maxPlaces {
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
			case int(p) >= len(c.Ports):
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

// checkPlace says what is wrong with a port of a VLAN where somebody is; 0: its untagged one.
func (c *SwitchConfig) checkPlace(port, vlan uint16) error {
	switch form := c.formOf(port, vlan); {
	case int(port) >= len(c.Ports):
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

// untaggedOf is a VLAN, or if that is 0 the one of which a port is an untagged member; 0: there is none.
func (c *SwitchConfig) untaggedOf(port, vlan uint16) uint16 {
	for _, v := range c.VLANs {
		if vlan == 0 && slices.Contains(v.Untagged, port) {
			return v.ID
		}
	}
	return vlan
}

// checkStatic says what is wrong with the static entries.
func (c *SwitchConfig) checkStatic() error {
	type place struct {
		mac  wire.MAC
		vlan uint16
	}
	seen := map[place]bool{}
	return checkAll("static", c.Static, func(e *StaticEntry) error {
		if e.MAC == 0 || e.MAC.Multicast() {
			return fmt.Errorf("static entry %v: no station has that address", e.MAC)
		}
		if e.MAC == c.Router.MAC {
			return fmt.Errorf("static entry %v: that is the router", e.MAC)
		}
		for _, p := range e.Ports {
			if err := c.checkPlace(p, e.VLAN); err != nil {
				return fmt.Errorf("static entry %v: %w", e.MAC, err)
			}
		}
		if c.VLANs != nil && e.VLAN == 0 && len(e.Ports) > 1 {
			return fmt.Errorf("static entry %v: say of which VLAN", e.MAC)
		}
		at := place{e.MAC, c.untaggedOf(e.Ports[0], e.VLAN)}
		if seen[at] {
			return fmt.Errorf("static entry %v is there twice", e.MAC)
		}
		seen[at] = true
		return nil
	})
}

// adopt learns what others, which may be in use, have learned, but at one port;
// noPort: at all.
func (l *lans) adopt(from *lans, but int) {
	for _, x := range l.all {
		if old := from.at(x.id); old != nil {
			x.fdb.adopt(old.fdb, but, x.forms)
		}
	}
}

// setLANs puts LANs in force.
func (s *Switch) setLANs(l *lans) {
	s.lans = l
	for _, x := range l.all {
		x.fdb.changes = &s.changes
	}
	s.changes.Add(1)
	for i := range s.ports {
		p := &s.ports[i]
		p.lan, p.fdb = l.untagged[i], nil
		if p.lan != nil {
			p.fdb = p.lan.fdb
		}
	}
	s.direct = len(s.workers) == 1 && !l.aware
	s.bare = s.longest
	if l.aware { // it may put a tag on
		s.bare -= wire.VLANLen
	}
}

// lanOf finds the LAN of a frame that came in, and how many bytes of it are the
// tag that says so. nil: the port is not in it.
func (s *Switch) lanOf(p *switchPort, b []byte) (*lan, int) {
	if !s.lans.aware {
		return p.lan, 0
	}
	tci, ok := wire.VLANTag(b)
	switch {
	case !ok:
		return p.lan, 0
	case tci&wire.VLANID == 0:
		return p.lan, wire.VLANLen
	}
	x := s.lans.byID[tci&wire.VLANID]
	if x == nil || x.forms[p.number] == absent {
		return nil, wire.VLANLen
	}
	return x, wire.VLANLen
}

// setTags works out the code point of each priority: the first that is mapped to it.
func (s *Switch) setTags() {
	for prio := range uint8(pfc.Classes) {
		s.tags[prio] = uint16(prio) << 13
		for pcp, to := range s.config.PCP {
			if to == prio {
				s.tags[prio] = uint16(pcp) << 13
				break
			}
		}
	}
}

// dress gives a frame the tag of a VLAN, or takes its tag off, as its egress port
// wants it. A tag that was there keeps its priority. It reports false if there is
// no memory for it.
func (s *Switch) dress(p *switchPort, f *Frame, want form, id uint16) bool {
	b := p.env.Header(*f)
	tci, has := wire.VLANTag(b)
	switch {
	case has && want == tagged:
		wire.SetVLANTag(b, tci&^wire.VLANID|id)
	case has:
		wire.PopVLANTag(b)
		f.shift(wire.VLANLen)
		if f.Len < wire.MinFrameLen { // IEEE 802.1Q clause 6.7: bridges pad
			b := p.env.Header(Frame{Ref: f.Ref, Off: f.Off, Len: wire.MinFrameLen})
			clear(b[f.Len:])
			f.Len = wire.MinFrameLen
		}
	case want == tagged:
		if f.Off < wire.VLANLen {
			g, ok := p.env.Clone(*f)
			if !ok {
				return false
			}
			p.env.Free(*f)
			*f = g
		}
		f.shift(-wire.VLANLen)
		wire.PushVLANTag(p.env.Header(*f), s.tags[f.Prio]|id)
	}
	return true
}

// shift moves the beginning of a frame.
func (f *Frame) shift(by int) {
	f.Off = uint16(int(f.Off) + by)
	f.Len = uint16(int(f.Len) - by)
	if l3 := f.l3(); l3 != 0 {
		f.setL3(l3 - by)
	}
}

// forward gives a frame of a LAN to an egress port, in the form in which that is
// to send it.
func (s *Switch) forward(now units.Time, p *switchPort, out int, in *lan, f Frame) {
	if s.lans.aware {
		switch want := in.forms[out]; {
		case want == absent: // it was learned there before the VLANs changed
			s.discard(p, f, DropVLAN)
			return
		case !s.dress(p, &f, want, in.id):
			s.discard(p, f, DropNoMemory)
			return
		}
	}
	if s.admit(p, f) {
		s.hand(now, p, &s.ports[out], f)
	}
}
