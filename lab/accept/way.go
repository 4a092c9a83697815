package accept

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"

	"photon/config"
	"photon/dataplane"
	"photon/pfc"
	"photon/wire"
)

// way leads through the switch, from the peer of one of its ports to that of another.
type way struct {
	from, to int // of the turn's cables
	in, out  int // the switch's ports there, by their numbers
	inName   string
	outName  string
	src, dst wire.MAC

	vlan        int  // in which frames come in; 0: the switch has none
	tagged      bool // they come in with its tag
	leavesIn    int  // the VLAN in which they leave
	leavesTag   bool
	router, hop wire.MAC // of a way that is routed: its router and the next hop; 0: it is not
	address     [4]byte  // which is routed so

	trust          dataplane.Classes
	codes          *[8]uint8 // code points by priority of tagged frames that leave; nil: they keep theirs
	newCodes       [8]uint8  // and those of new tags
	obeyed         uint8     // priorities that an XOFF of the peer stops where the way ends
	stop, second   int       // priorities that are lossless where it begins, and stopped where it ends; -1: none
	beside         int       // one that no XOFF stops; -1: none
	noBroad, noNew bool      // frames to all, and to addresses that the switch does not know, may not be flooded
	crosses        bool      // the ports have different workers
}

// kind is how a frame says its priority.
type kind struct {
	prio, dscp int
	pcp        int // of its tag; -1: it has none, unless its VLAN asks for one
}

// ways are such that each port of a turn begins and ends one at least, and one that can be paused, as far as there is
// a way, and few more than that takes. missing are ports that begin or end none.
func (p *Plan) ways(ports []joined) (all []way, missing []string) {
	n := len(ports)
	leading := make([][]*way, n) // from a port, to each of the others, the next one first
	begins := make([]int, n)     // of the way that ends at a port, where it begins; -1: there is none
	for from := range n {
		begins[from] = -1
		for d := 1; d < n; d++ {
			if w, ok := p.way(ports, from, (from+d)%n); ok {
				leading[from] = append(leading[from], &w)
			}
		}
		slices.SortStableFunc(leading[from], func(a, b *way) int { return cmp.Compare(min(b.stop, 0), min(a.stop, 0)) })
	}
	// Each port ends at most one, as far as possible: whoever holds an end looks for another (Kuhn's matching).
	for from := range n {
		tried := make([]bool, n)
		var find func(from int) bool
		find = func(from int) bool {
			for _, w := range leading[from] {
				if tried[w.to] {
					continue
				}
				tried[w.to] = true
				if begins[w.to] < 0 || find(begins[w.to]) {
					begins[w.to] = from
					return true
				}
			}
			return false
		}
		find(from)
	}
	begun, stops, stopped := make([]bool, n), make([]bool, n), make([]bool, n)
	take := func(w *way) {
		all, begun[w.from], begins[w.to] = append(all, *w), true, w.from
		if w.stop >= 0 {
			stopped[w.from], stops[w.to] = true, true
		}
	}
	for from := range n {
		for _, w := range leading[from] {
			if begins[w.to] == from {
				take(w)
			}
		}
	}
	for from := range n {
		for _, w := range leading[from] {
			if !begun[from] || begins[w.to] < 0 || w.stop >= 0 && !(stopped[from] && stops[w.to]) {
				take(w)
			}
		}
	}
	for i := range n {
		if !begun[i] || begins[i] < 0 {
			missing = append(missing, ports[i].device)
		}
	}
	return all, missing
}

// form is how a port takes frames of a VLAN, and sends them.
type form struct {
	vlan         int
	tagged, ok   bool // ok: it is a member
	takes        bool // it takes frames in this form
	takesPrioTag bool // or with a tag that has only a priority
}

// forms are those of a port; of a switch without VLANs one, of no VLAN.
func (p *Plan) forms(port int) (all []form) {
	if len(p.sw.VLANs) == 0 {
		return []form{{0, false, true, true, true}}
	}
	isPort := func(v []int) bool { return slices.Contains(v, port) }
	anyTag := false
	for _, v := range p.sw.VLANs {
		anyTag = anyTag || isPort(values(v.Tagged))
	}
	accept := p.sw.Ports[port].Accept.V
	if accept == "" && !anyTag {
		accept = "untagged"
	}
	for _, v := range p.sw.VLANs {
		switch {
		case isPort(values(v.Tagged)):
			all = append(all, form{v.ID.V, true, true, accept != "untagged", false})
		case isPort(values(v.Untagged)):
			all = append(all, form{v.ID.V, false, true, accept != "tagged", true})
		}
	}
	return all
}

func (p *Plan) form(port, vlan int) form {
	all := p.forms(port)
	if i := slices.IndexFunc(all, func(f form) bool { return f.vlan == vlan }); i >= 0 {
		return all[i]
	}
	return form{}
}

// way is the first way from one port to another: in a VLAN of both, or by a route.
func (p *Plan) way(ports []joined, from, to int) (w way, ok bool) {
	all := p.bridged(ports, from, to)
	for i := range p.sw.Routes {
		if len(all) > 0 {
			break
		}
		all = append(all, p.routed(ports, from, to, i)...)
	}
	if len(all) == 0 {
		return w, false
	}
	return all[0], true
}

// bridged are the ways from one port to another, one in each VLAN.
func (p *Plan) bridged(ports []joined, from, to int) (all []way) {
	for _, f := range p.forms(ports[from].number) {
		g := p.form(ports[to].number, f.vlan)
		if f.takes && g.ok && g.takes { // which learns from there
			all = append(all, p.between(ports, from, to, f, g))
		}
	}
	return all
}

// routed are the ways from one port to another by a route: none, or one.
func (p *Plan) routed(ports []joined, from, to, route int) (all []way) {
	r := &p.sw.Routes[route]
	if p.whyNotRoute(route) != "" || r.Via[0].Port.V != ports[to].number {
		return nil
	}
	for _, g := range p.forms(ports[to].number) {
		if v := r.Via[0].VLAN; v.IsSet() && v.V != g.vlan || !v.IsSet() && g.tagged {
			continue
		}
		for _, f := range p.forms(ports[from].number) {
			if !f.takes {
				continue
			}
			w := p.between(ports, from, to, f, g)
			w.hop, w.address = r.Via[0].MAC.V, p.inside(route).As4()
			return append(all, w)
		}
	}
	return nil
}

// between is a way in these forms.
func (p *Plan) between(ports []joined, from, to int, f, g form) way {
	s := &p.node.Config
	in, out := ports[from].number, ports[to].number
	w := way{
		from: from, to: to, in: in, out: out, inName: ports[from].device, outName: ports[to].device,
		vlan: f.vlan, tagged: f.tagged, leavesIn: g.vlan, leavesTag: g.tagged,
		trust: p.classes(in), codes: s.Ports[out].PCPOut,
		obeyed: s.LosslessAt(out), stop: -1, second: -1, beside: -1,
		noNew:   s.NoUnknown || s.Ports[in].Flood.Unknown != dataplane.FloodLimit{},
		noBroad: s.NoBroadcast || s.Ports[in].Flood.Broadcast != dataplane.FloodLimit{},
		crosses: s.Ports[in].Worker != s.Ports[out].Worker,
	}
	if s.Ports[out].Asymmetric {
		w.obeyed = 0xFF
	}
	means := p.classes(out).PCP
	for prio := range w.newCodes { // the least that means it; of none the same number
		w.newCodes[prio] = uint8(prio)
		if pcp := slices.Index(means[:], uint8(prio)); pcp >= 0 {
			w.newCodes[prio] = uint8(pcp)
		}
		if w.codes != nil {
			w.newCodes[prio] = w.codes[prio]
		}
	}
	for _, prio := range []int{lossless, second, 5, 6, 7, 2, 1, 0} {
		_, can := w.kindOf(prio)
		switch stopped := w.obeyed>>prio&1 != 0; {
		case !can:
		case stopped && s.LosslessAt(in)>>prio&1 != 0 && w.stop < 0:
			w.stop = prio
		case stopped && s.LosslessAt(in)>>prio&1 != 0 && w.second < 0:
			w.second = prio
		case !stopped:
			w.beside = prio
		}
	}
	return w
}

// kindOf is how a frame says this priority where the way begins, if it can.
func (w *way) kindOf(prio int) (kind, bool) {
	k := kind{prio: prio, pcp: -1}
	if prio < 0 {
		return k, false
	}
	if prio > 0 {
		k.dscp = prio<<3 | 2 // 26 is usual for 3
	}
	switch w.trust.Trust {
	case dataplane.TrustNone:
		return k, int(w.trust.Default) == prio
	case dataplane.TrustPCP:
		k.dscp = 0
		k.pcp = nearest(w.trust.PCP[:], prio, prio)
		return k, k.pcp >= 0
	}
	k.dscp = nearest(w.trust.DSCP[:], prio, k.dscp)
	return k, k.dscp >= 0
}

// nearest is which index means a priority: this one, if it does, else the first; -1: none.
func nearest(means []uint8, prio, wanted int) int {
	if means[wanted] == uint8(prio) {
		return wanted
	}
	return slices.Index(means, uint8(prio))
}

// kinds are all forms in which a frame can say its priority where the way begins: each DSCP, and each code point of a
// tag.
func (w *way) kinds() (all []kind) {
	for dscp := range 64 {
		k := kind{int(w.trust.DSCP[dscp]), dscp, -1}
		if w.tagged {
			k.pcp = dscp & 7
		}
		all = append(all, w.of(k))
	}
	if !w.tagged && w.trust.Trust == dataplane.TrustPCP {
		for pcp := range 8 {
			all = append(all, w.of(kind{0, 0, pcp}))
		}
	}
	return all
}

// of is a kind with the priority that it has where the way begins.
func (w *way) of(k kind) kind {
	switch {
	case w.trust.Trust == dataplane.TrustNone:
		k.prio = int(w.trust.Default)
	case w.trust.Trust == dataplane.TrustPCP && k.pcp >= 0:
		k.prio = int(w.trust.PCP[k.pcp])
	default:
		k.prio = int(w.trust.DSCP[k.dscp])
	}
	return k
}

// tag gives a frame the tag that it needs to come in, if any: that of its VLAN, or one that has only a priority.
func (w *way) tag(b []byte, k kind) []byte {
	if k.pcp < 0 && !w.tagged {
		return b
	}
	tci := uint16(max(k.pcp, 0)) << 13
	if w.tagged {
		tci |= uint16(w.vlan)
	}
	b = append(make([]byte, wire.VLANLen), b...)
	wire.PushVLANTag(b, tci)
	return b
}

// frame is one of a stream in this way, of so many bytes without a tag.
func (w *way) frame(id int, k kind, ect bool, size int) []byte {
	to := w.dst
	if w.hop != 0 {
		to = w.router
	}
	b := template(w.src, to, id, k.dscp, ect, size)
	b[prioAt] = byte(k.prio)
	if w.hop != 0 {
		copy(b[ipAt+16:], w.address[:])
		wire.SetIPv4Checksum(b[ipAt:])
	}
	return w.tag(b, k)
}

// leaves is the frame as it leaves the switch: with the tag of the VLAN, or without, and routed, if it is.
func (w *way) leaves(b []byte) []byte {
	b = slices.Clone(b)
	prio := b[tagOf(b)+prioAt]
	tci, tagged := wire.VLANTag(b)
	switch {
	case w.leavesIn == 0:
		if tagged && w.codes != nil {
			wire.SetPCP(b, w.codes[prio])
		}
	case w.leavesTag && tagged:
		binary.BigEndian.PutUint16(b[14:], tci&0xF000|uint16(w.leavesIn))
		if w.codes != nil {
			wire.SetPCP(b, w.codes[prio])
		}
	case w.leavesTag:
		b = append(make([]byte, wire.VLANLen), b...)
		wire.PushVLANTag(b, uint16(w.newCodes[prio])<<13|uint16(w.leavesIn))
	case tagged:
		wire.PopVLANTag(b)
		b = b[wire.VLANLen:]
	}
	if w.hop != 0 {
		w.hop.Put(b)
		w.router.Put(b[6:])
		ip := b[tagOf(b)+ipAt:]
		ip[8]--
		wire.SetIPv4Checksum(ip)
	}
	return b
}

// allLeave are frames as they leave.
func (w *way) allLeave(frames [][]byte) (all [][]byte) {
	for _, f := range frames {
		all = append(all, w.leaves(f))
	}
	return all
}

// name says which way a way leads, if that is not plain.
func (w *way) name() (text string) {
	switch {
	case w.hop != 0:
		text = fmt.Sprintf(" (routed to %d.%d.%d.%d)", w.address[0], w.address[1], w.address[2], w.address[3])
	case w.vlan != 0:
		text = fmt.Sprintf(" (VLAN %d)", w.vlan)
	}
	return text
}

// noPFC stops all priorities that no XOFF stops where the way ends, and has a time for the others that does not count.
func (w *way) noPFC() *pfc.Frame {
	f := everything()
	f.Enable &^= w.obeyed
	return f
}

// inside is an address that a route leads to: the first one that is not the router's own.
func (p *Plan) inside(route int) netip.Addr {
	prefix := p.sw.Routes[route].Prefix.V
	a := prefix.Masked().Addr()
	if prefix.Bits() < a.BitLen()-1 {
		a = a.Next()
	}
	for p.isOwn(a) && prefix.Contains(a.Next()) {
		a = a.Next()
	}
	return a
}

// isOwn reports whether an address is the router's.
func (p *Plan) isOwn(a netip.Addr) bool {
	s := &p.node.Config
	for _, v := range s.VLANs {
		if slices.Contains(v.Addresses, a) {
			return true
		}
	}
	for i := range s.Ports {
		if slices.Contains(s.Ports[i].Addresses, a) {
			return true
		}
	}
	return slices.Contains(s.Router.Addresses, a)
}

// whyNotRoute is why a route cannot be tried; empty: it can.
func (p *Plan) whyNotRoute(route int) string {
	r := &p.sw.Routes[route]
	switch {
	case !r.Prefix.V.Addr().Is4():
		return "the run sends IPv4"
	case r.Action.IsSet():
		return "it leads nowhere"
	case len(r.Via) != 1:
		return "which of its next hops a packet takes is the switch's choice"
	case !r.Via[0].MAC.IsSet() || !r.Via[0].Port.IsSet():
		return "its next hop has no `mac` and `port`, and the peer answers no ARP"
	}
	for i := range p.sw.Routes {
		if other := p.sw.Routes[i].Prefix.V; other.Bits() > r.Prefix.V.Bits() && other.Contains(p.inside(route)) {
			return fmt.Sprintf("%v leads elsewhere", other)
		}
	}
	return ""
}

// words are priorities in words: 3 and 4.
func words(set uint8) string {
	text, left := "", bits.OnesCount8(set)
	for prio := range pfc.Classes {
		if set>>prio&1 == 0 {
			continue
		}
		switch left--; {
		case text == "":
			text = fmt.Sprint(prio)
		case left == 0:
			text += fmt.Sprintf(" and %d", prio)
		default:
			text += fmt.Sprintf(", %d", prio)
		}
	}
	return text
}

func values(of []config.Value[int]) (all []int) {
	for _, v := range of {
		all = append(all, v.V)
	}
	return all
}
