package dataplane

import (
	"fmt"
	"slices"

	"photon/fdb"
	"photon/wire"
)

// setStatic makes the static entries of a LAN's database, before it is used.
func (l *lans) setStatic(x *lan, e *StaticEntry, up func(port uint16) bool) error {
	ports := alive(e.Ports, up)
	made := fdb.NewEntry(e.MAC, ports[0], fdb.Static)
	if len(ports) > 1 {
		group := l.group(ports)
		if group >= maxPorts {
			return fmt.Errorf("more than %d groups of ports", maxPorts)
		}
		made = fdb.NewEntry(e.MAC, uint16(group), fdb.Group)
	}
	if !x.fdb.Insert(made, 0) {
		return fmt.Errorf("no place for static entry %v", e.MAC)
	}
	return nil
}

// alive are the ports that have a link; all, if none has: what goes there is discarded and counted at its port.
func alive(ports []uint16, up func(port uint16) bool) []uint16 {
	down := func(p uint16) bool { return !up(p) }
	if !slices.ContainsFunc(ports, down) {
		return ports
	}
	left := slices.DeleteFunc(slices.Clone(ports), down)
	if len(left) == 0 {
		return ports
	}
	return left
}

// group returns the number of a group with these ports.
func (l *lans) group(ports []uint16) int {
	for i, g := range l.groups {
		if slices.Equal(g, ports) {
			return i
		}
	}
	l.groups = append(l.groups, slices.Clone(ports))
	return len(l.groups) - 1
}

// vlanOf is the VLAN of a static entry; 0: the switch has none.
func (c *SwitchConfig) vlanOf(e *StaticEntry) uint16 {
	for _, v := range c.VLANs {
		if e.VLAN == 0 && slices.Contains(v.Untagged, e.Ports[0]) {
			return v.ID
		}
	}
	return e.VLAN
}

// checkStatic says what is wrong with the static entries.
func (c *SwitchConfig) checkStatic() error {
	type where struct {
		mac  wire.MAC
		vlan uint16
	}
	seen := make(map[where]bool, len(c.Static))
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
		at := where{e.MAC, c.vlanOf(e)}
		if seen[at] {
			return fmt.Errorf("static entry %v is there twice", e.MAC)
		}
		seen[at] = true
		return nil
	})
}
