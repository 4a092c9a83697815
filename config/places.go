package config

import (
	"fmt"
	"slices"
	"strings"

	"photon/dataplane"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// A file counts its ports from 0. A switch that runs has them at places, which they keep while others come and go:
// a port is known by its device. Numbers of ports of a running switch are places.

// number is the place of a port of the file.
func (c *Switch) number(i int) int {
	if c.running.At == nil {
		return i
	}
	return c.running.At[i].Number
}

// workerOf is who polls a port of the file.
func (c *Switch) workerOf(i int) int {
	if c.running.At == nil {
		return i % c.DPDK.Workers.Or(1)
	}
	return c.running.At[i].Worker
}

// index is the port of the file at a place.
func (c *Switch) index(place int) int {
	if c.running.At == nil {
		return place
	}
	return slices.IndexFunc(c.running.At, func(p Place) bool { return p.Number == place })
}

// Running is what For or Start was given.
func (c *Switch) Running() Running { return c.running }

// At returns the port at a place; nil: none is there.
func (c *Switch) At(place int) *Port {
	if i := c.index(place); i >= 0 && i < len(c.Ports) {
		return &c.Ports[i]
	}
	return nil
}

// AssignPlaces says where the ports are in a switch that runs with another configuration: where they were, or at vacant
// places, each polled by the worker with the fewest ports. added and removed are the places of those that come and go.
func (c *Switch) AssignPlaces(was *Switch, vacant []int) (r Running, added, removed []int, err error) {
	r = was.running
	r.At = nil
	load := make([]int, was.DPDK.Workers.Or(1))
	old := map[string]Place{}
	for i := range was.Ports {
		old[was.Ports[i].Device.V] = was.running.At[i]
	}
	for i := range c.Ports {
		at, stays := old[c.Ports[i].Device.V]
		if stays {
			load[at.Worker]++
			delete(old, c.Ports[i].Device.V)
		} else {
			at.Number = -1
		}
		r.At = append(r.At, at)
	}
	for i := range r.At {
		if r.At[i].Number >= 0 {
			continue
		}
		if len(vacant) == 0 {
			err := fmt.Errorf("port %s: there is no place for it: a switch has %d ports at most, and one that was removed "+
				"takes its place until its last frame has left", c.Ports[i].Device.V, r.Places)
			return r, nil, nil, c.Ports[i].Fail(c.file, err)
		}
		least := slices.Index(load, slices.Min(load))
		load[least]++
		r.At[i] = Place{vacant[0], least}
		added, vacant = append(added, vacant[0]), vacant[1:]
	}
	for _, at := range old {
		removed = append(removed, at.Number)
	}
	slices.Sort(removed)
	return r, added, removed, nil
}

// placed has the ports of a switch, and all that names them, be at their places.
func (c *Switch) placed(n *SwitchNode) *SwitchNode {
	if c.running.At == nil {
		return n
	}
	s := &n.Config
	ports, links, workers, headroom := s.Ports, n.Links, n.Workers, n.Headroom
	s.Ports = make([]dataplane.PortConfig, c.running.Places)
	n.Links, n.Workers = make([]fabric.Link, len(s.Ports)), make([]int, len(s.Ports))
	n.Headroom = make([]pfc.HeadroomParts, len(s.Ports))
	gaps := n.PauseGap
	n.PauseGap = make([]units.Time, len(s.Ports))
	for i := range s.Ports {
		s.Ports[i].Vacant = true
	}
	for i, at := range c.running.At {
		s.Ports[at.Number], n.Links[at.Number] = ports[i], links[i]
		n.Workers[at.Number], n.Headroom[at.Number], n.PauseGap[at.Number] = workers[i], headroom[i], gaps[i]
	}
	move := func(list []uint16) {
		for i := range list {
			list[i] = uint16(c.number(int(list[i])))
		}
	}
	for _, v := range s.VLANs {
		move(v.Untagged)
		move(v.Tagged)
	}
	for _, e := range s.Static {
		move(e.Ports)
	}
	for _, r := range s.Router.Routes {
		for i := range r.Via {
			if hop := &r.Via[i]; !hop.AnyPort {
				hop.Port = uint16(c.number(int(hop.Port)))
			}
		}
	}
	return n
}

// order names the devices of ports that two configurations share, in the order of each: if it is not the same,
// numbers in the files mean other ports.
func (c *Switch) order(to *Switch) (from, then string) {
	shared := func(a, b *Switch) (names []string) {
		for i := range a.Ports {
			if slices.ContainsFunc(b.Ports, func(p Port) bool { return p.Device.V == a.Ports[i].Device.V }) {
				names = append(names, a.Ports[i].Device.V)
			}
		}
		return names
	}
	return strings.Join(shared(c, to), " "), strings.Join(shared(to, c), " ")
}

// With returns the configuration with one more port; a rate of 0 is what the file says of all ports.
func (c *Switch) With(device string, rate units.Rate) (*Switch, error) {
	to := *c
	to.running = Running{}
	p := Port{Device: Set(device)}
	if rate > 0 {
		p.Rate = Set(rate)
	}
	to.Ports = append(slices.Clone(c.Ports), p)
	return &to, to.Check()
}

// Without returns the configuration without the port at a place, which nothing else in it may name.
func (c *Switch) Without(place int) (*Switch, error) {
	gone := c.index(place)
	if what := c.names(gone); what != "" {
		return nil, fmt.Errorf("port %s: %s names it: take that out of the file, with the port, and `photon reload`",
			c.Ports[gone].Device.V, what)
	}
	to := *c
	to.running = Running{}
	to.Ports = slices.Delete(slices.Clone(c.Ports), gone, gone+1)
	less := func(v Value[int]) Value[int] {
		if v.V > gone {
			v.V--
		}
		return v
	}
	all := func(list []Value[int]) []Value[int] {
		list = slices.Clone(list)
		for i := range list {
			list[i] = less(list[i])
		}
		return list
	}
	to.VLANs = slices.Clone(c.VLANs)
	for i := range to.VLANs {
		v := &to.VLANs[i]
		v.Untagged, v.Tagged = all(v.Untagged), all(v.Tagged)
	}
	to.Learning.Static = slices.Clone(c.Learning.Static)
	for i := range to.Learning.Static {
		a := &to.Learning.Static[i]
		a.Port, a.Ports = less(a.Port), all(a.Ports)
	}
	to.Routes = slices.Clone(c.Routes)
	for i := range to.Routes {
		r := &to.Routes[i]
		r.Via = slices.Clone(r.Via)
		for j := range r.Via {
			r.Via[j].Port = less(r.Via[j].Port)
		}
	}
	return &to, to.Check()
}

// names says what names a port of the file by its number; empty: nothing does.
func (c *Switch) names(port int) string {
	is := func(v Value[int]) bool { return v.IsSet() && v.V == port }
	for _, v := range c.VLANs {
		if slices.ContainsFunc(v.Untagged, is) || slices.ContainsFunc(v.Tagged, is) {
			return fmt.Sprintf("VLAN %d", v.ID.V)
		}
	}
	for _, a := range c.Learning.Static {
		if slices.ContainsFunc(a.places(), is) {
			return fmt.Sprintf("static address %v", a.MAC.V)
		}
	}
	for _, r := range c.Routes {
		for _, hop := range r.Via {
			if is(hop.Port) {
				return fmt.Sprintf("the route to %v", r.Prefix.V)
			}
		}
	}
	return ""
}
