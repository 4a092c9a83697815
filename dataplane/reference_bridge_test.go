package dataplane_test

import (
	"encoding/binary"
	"slices"

	"photon/dataplane"
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// Where the reference sends a frame: priority, VLAN, address, flood.

// refBucket is a token bucket for what is flooded, counted in time that fills it.
type refBucket struct{ tokens, at units.Time }

// priority is a frame's class.
func (r *reference) priority(p *refPort, h *refHead) int {
	says := r.config.Classes
	if own := p.config.Classes; own != nil {
		says = *own
	}
	switch {
	case h.etherType == 0x22E7:
		return int(r.config.Control)
	case says.Trust == dataplane.TrustNone:
		return int(says.Default)
	case len(h.tags) > 0 && (says.Trust == dataplane.TrustPCP || h.ip == 0):
		return int(says.PCP[h.tags[0].control>>13])
	case h.ip != 0:
		return int(says.DSCP[h.tos>>2])
	}
	return int(says.Default)
}

// vlanOf is the VLAN of a frame, and whether its port takes it. Only C-tags name VLANs.
func (r *reference) vlanOf(in int, h *refHead) (vlan int, ok bool) {
	if len(r.config.VLANs) == 0 {
		return 0, true
	}
	accept := r.config.Ports[in].Accept
	if accept == dataplane.AcceptUsual {
		accept = dataplane.AcceptUntagged
		for _, v := range r.config.VLANs {
			if slices.Contains(v.Tagged, uint16(in)) {
				accept = dataplane.AcceptAll
			}
		}
	}
	if id := int(h.vlan()); id != 0 {
		_, member := r.form(id, in)
		return id, member && accept != dataplane.AcceptUntagged
	}
	vlan = r.untagged(in)
	return vlan, vlan != 0 && accept != dataplane.AcceptTagged
}

// untagged is the VLAN of which a port sends frames without tag; 0: none.
func (r *reference) untagged(port int) int {
	for _, v := range r.config.VLANs {
		if slices.Contains(v.Untagged, uint16(port)) {
			return int(v.ID)
		}
	}
	return 0
}

// form says whether a port is a member of a VLAN, and sends its frames tagged.
func (r *reference) form(vlan, port int) (tagged, member bool) {
	for _, v := range r.config.VLANs {
		if int(v.ID) == vlan {
			tagged = slices.Contains(v.Tagged, uint16(port))
			return tagged, tagged || slices.Contains(v.Untagged, uint16(port))
		}
	}
	return false, vlan == 0
}

// static is where an address is that the configuration names.
func (r *reference) static(s station) (ports []uint16) {
	for _, e := range r.config.Static {
		vlan := int(e.VLAN)
		if vlan == 0 && len(r.config.VLANs) > 0 {
			vlan = r.untagged(int(e.Ports[0]))
		}
		if e.MAC == s.mac && vlan == s.vlan {
			ports = e.Ports
		}
	}
	return ports
}

func (r *reference) learn(now units.Time, s station, in int) {
	if r.config.Learn && !r.ports[in].down && r.static(s) == nil && s.mac != r.config.Router.MAC {
		r.known[s] = whereabouts{in, now / units.Second * units.Second}
	}
}

// learned is where an address was seen, not too long ago.
func (r *reference) learned(now units.Time, s station) (w whereabouts, ok bool) {
	w, ok = r.known[s]
	age := r.config.Age / units.Second * units.Second
	return w, ok && (age == 0 || now/units.Second*units.Second-w.seen <= age)
}

// forward finds out where a frame goes.
func (r *reference) forward(now units.Time, p *refPort, vlan int, h *refHead, f refFrame) {
	s := station{vlan, h.dst}
	ports := r.static(s)
	w, learned := r.learned(now, s)
	switch {
	case h.dst == 0xFFFF_FFFF_FFFF && r.config.NoBroadcast,
		h.dst != 0xFFFF_FFFF_FFFF && h.dst.Multicast() && r.config.NoMulticast:
		r.lose(now, p, f.prio, fabric.DropFlood)
	case h.dst.Multicast():
		r.flood(now, p, vlan, f, h.dst == 0xFFFF_FFFF_FFFF)
	case r.config.Router.MAC != 0 && h.dst == r.config.Router.MAC:
		r.route(now, p, vlan, h, f)
	case ports != nil:
		r.emit(now, p, r.oneOf(p, f.bytes, h, ports), vlan, f)
	case learned:
		r.emit(now, p, w.port, vlan, f)
	case r.config.NoUnknown:
		r.lose(now, p, f.prio, fabric.DropUnicast)
	default:
		r.flood(now, p, vlan, f, false)
	}
}

// oneOf is one of several ports.
func (r *reference) oneOf(p *refPort, b []byte, h *refHead, ports []uint16) int {
	var ways []dataplane.NextHop
	for _, port := range ports {
		ways = append(ways, dataplane.NextHop{Port: port})
	}
	return int(r.hop(p, b, h, ways).Port)
}

// flood sends a frame to all other ports of its VLAN that have a link.
func (r *reference) flood(now units.Time, p *refPort, vlan int, f refFrame, broadcast bool) {
	kind := 2
	if broadcast {
		kind = 0
	} else if wire.MACAt(f.bytes).Multicast() {
		kind = 1
	}
	var to []int
	for _, other := range r.ports {
		if _, member := r.form(vlan, other.number); member && other != p && !other.down {
			to = append(to, other.number)
		}
	}
	if !p.buckets[kind].take(now, p.limits()[kind], p.wireLen(len(f.bytes))) {
		r.lose(now, p, f.prio, fabric.DropFlood)
		return
	}
	if len(to) == 0 {
		r.lose(now, p, f.prio, fabric.DropNoPort)
	}
	for _, port := range to {
		r.emit(now, p, port, vlan, f)
	}
}

func (p *refPort) limits() [3]dataplane.FloodLimit {
	return [3]dataplane.FloodLimit{p.config.Flood.Broadcast, p.config.Flood.Multicast, p.config.Flood.Unknown}
}

// each is how long the tokens of a frame take to come.
func each(l dataplane.FloodLimit, bytes int) units.Time {
	if l.Frames > 0 {
		return (units.Second + units.Time(l.Frames) - 1) / units.Time(l.Frames)
	}
	return l.Rate.Serialize(units.Size(bytes))
}

func depth(l dataplane.FloodLimit) units.Time {
	switch {
	case l.Frames > 0:
		return units.Time(l.Burst) * each(l, 0)
	case l.Rate > 0:
		return l.Rate.Serialize(l.Burst)
	}
	return 0
}

func (b *refBucket) take(now units.Time, l dataplane.FloodLimit, bytes int) bool {
	if l == (dataplane.FloodLimit{}) {
		return true
	}
	b.tokens, b.at = min(depth(l), b.tokens+now-b.at), now
	if b.tokens < each(l, bytes) {
		return false
	}
	b.tokens -= each(l, bytes)
	return true
}

// emit sends a frame out of a port, in the form that the port gives frames of a VLAN.
func (r *reference) emit(now units.Time, in *refPort, out, vlan int, f refFrame) {
	if out == in.number {
		r.lose(now, in, f.prio, fabric.DropNoPort)
		return
	}
	r.leaveBy(now, in, r.ports[out], vlan, f)
}

// leaveBy queues a frame at the port by which it leaves, as a frame of a VLAN.
func (r *reference) leaveBy(now units.Time, in, out *refPort, vlan int, f refFrame) {
	f, ok := r.setTag(f, out.number, vlan)
	if !ok {
		r.lose(now, in, f.prio, fabric.DropVLAN)
		return
	}
	if len(f.bytes)-readHead(f.bytes).payload > r.mtuOf(out) {
		r.lose(now, in, f.prio, fabric.DropOversize)
		return
	}
	r.queue(now, in, out, f)
}

// setTag puts a frame's tag on or takes it off.
func (r *reference) setTag(f refFrame, out, vlan int) (refFrame, bool) {
	f.bytes = slices.Clone(f.bytes)
	hasTag := len(f.bytes) >= 18 && binary.BigEndian.Uint16(f.bytes[12:]) == 0x8100
	points := r.ports[out].config.PCPOut
	if vlan == 0 {
		if hasTag && points != nil {
			f.bytes[14] = f.bytes[14]&0x1F | points[f.prio]<<5
		}
		return f, true
	}
	tagged, member := r.form(vlan, out)
	switch {
	case !member:
		return f, false
	case tagged && hasTag: // it keeps its code point
		f.bytes[14], f.bytes[15] = f.bytes[14]&0xF0|byte(vlan>>8), byte(vlan)
		if points != nil {
			f.bytes[14] = f.bytes[14]&0x1F | points[f.prio]<<5
		}
	case tagged:
		pcp := r.codePoint(out, f.prio)
		if points != nil {
			pcp = points[f.prio]
		}
		f.bytes = slices.Insert(f.bytes, 12, 0x81, 0, pcp<<5|byte(vlan>>8), byte(vlan))
		f.head.move(4)
	case hasTag:
		if len(f.bytes) >= 22 && binary.BigEndian.Uint16(f.bytes[16:]) == 0x8100 {
			return f, false // it would be in the VLAN of the inner tag
		}
		f.takeTag()
	}
	return f, true
}

// takeTag takes a tag off; a frame that is too short without it is padded.
func (f *refFrame) takeTag() {
	f.bytes = slices.Delete(f.bytes, 12, 16)
	f.bytes = append(f.bytes, make([]byte, max(0, 60-len(f.bytes)))...)
	f.head.move(-4)
}

// behind is the VLAN of a port's in which an address is known, else that of frames without tag.
func (r *reference) behind(now units.Time, p *refPort, m wire.MAC) (vlan int, ok bool) {
	for _, v := range r.config.VLANs {
		s := station{int(v.ID), m}
		_, learned := r.learned(now, s)
		if _, member := r.form(s.vlan, p.number); member && (learned || r.static(s) != nil || m == r.config.Router.MAC) {
			return s.vlan, true
		}
	}
	vlan = r.untagged(p.number)
	return vlan, vlan != 0 || len(r.config.VLANs) == 0
}

// codePoint is what a new tag says of a priority at a port: the least code point that frames of the priority may come
// with there.
func (r *reference) codePoint(port, prio int) byte {
	means := r.config.PCP
	if k := r.ports[port].config.Classes; k != nil {
		means = k.PCP
	}
	for pcp, of := range means {
		if int(of) == prio {
			return byte(pcp)
		}
	}
	return byte(prio)
}
