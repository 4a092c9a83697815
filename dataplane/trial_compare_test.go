package dataplane_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"photon/dataplane"
	"photon/fabric"
	"photon/units"
)

// same compares what a port sent.
func (x *trial) same(port int, sent [][]byte, want []refFrame) {
	for i := range max(len(sent), len(want)) {
		switch {
		case i >= len(sent):
			x.fail("port %d sends %d frames; the next should be %s", port, len(sent), describe(want[i].bytes))
		case i >= len(want):
			x.fail("port %d sends %d frames, of which %d too many, the first of these %s",
				port, len(sent), len(sent)-len(want), describe(sent[i]))
		case want[i].in == made && isNotice(want[i].bytes):
			if !sameNotice(sent[i], want[i].bytes) {
				x.fail("port %d sends\n%x\nand should send something like\n%x", port, sent[i], want[i].bytes)
			}
		case !bytes.Equal(sent[i], want[i].bytes):
			x.fail("port %d sends, as frame %d of %d, %s\n%x\nand should send %s\n%x", port, i,
				len(sent), describe(sent[i]), sent[i], describe(want[i].bytes), want[i].bytes)
		}
	}
}

func isNotice(b []byte) bool {
	h := readHead(b)
	return h.etherType == 0x22E7 || h.cnp
}

// sameNotice compares what is not free in a CNM or CNP of the switch: not how it names its congestion point
// and itself.
func sameNotice(a, b []byte) bool {
	x, y := readHead(a), readHead(b)
	if len(a) != len(b) || x.dst != y.dst || x.etherType != y.etherType ||
		x.payload != y.payload || x.cnp != y.cnp || !slices.Equal(x.tags, y.tags) {
		return false
	}
	if x.cnp {
		return bytes.Equal(a[x.ip+12:x.bth-8], b[x.ip+12:x.bth-8]) && bytes.Equal(a[x.bth:x.bth+12], b[x.bth:x.bth+12])
	}
	p := x.payload
	return bytes.Equal(a[p:p+2], b[p:p+2]) && bytes.Equal(a[p+10:], b[p+10:])
}

// describe is a frame in a few words.
type describe []byte

func (b describe) String() string {
	if len(b) < 14 {
		return fmt.Sprintf("%d bytes %x", len(b), []byte(b))
	}
	h := readHead(b)
	s := fmt.Sprintf("%d bytes %x>%x", len(b), uint64(h.src), uint64(h.dst))
	for _, tag := range h.tags {
		s += fmt.Sprintf(" tag %x:%d:%d", tag.kind, tag.control>>13, tag.control&0xFFF)
	}
	if h.payload > 14+4*len(h.tags) {
		s += " CN-TAG"
	}
	s += fmt.Sprintf(" type %04x", h.etherType)
	if h.ip != 0 {
		s += fmt.Sprintf(" tos %02x flow %s", h.tos, h.flow)
	}
	if h.etherType == 0x8808 {
		s += fmt.Sprintf(" %x", []byte(b[h.payload:min(len(b), h.payload+20)]))
	}
	return s
}

// check compares all that can be seen from outside.
func (x *trial) check() {
	if got, want := x.sw.FDB().Entries(x.now), x.ref.entries(x.now); !reflect.DeepEqual(got, want) {
		x.fail("known addresses\n%v\nshould be\n%v", got, want)
	}
	stats := x.sw.Stats(x.now)
	wrong := ""
	for i, p := range x.ref.ports {
		got, want := stats.Ports[i], x.ref.count(x.now, p)
		if x.world.lateTimers { // what a pause has counted is known when somebody looks
			got.Egress, got.Watchdog = want.Egress, want.Watchdog
		}
		for prio, n := range got.Ingress.Peak {
			least := p.least[prio]
			if x.world.exits { // what passes was never there, or all of a burst was
				least = want.Buffered[prio]
			}
			most := want.Ingress.Peak[prio]
			if x.bursts { // it may count the longest frame of a burst, which is not there or of another priority
				most += x.longest
			}
			if x.world.workers > 1 { // what another worker sends past its queues was in the buffer till then
				most = max(most, n)
			}
			if n >= least && n <= most {
				want.Ingress.Peak[prio] = n
			}
		}
		want.Shaped, want.PortShaped = got.Shaped, got.PortShaped // who asks often finds more of them waiting
		if got != want {
			wrong += fmt.Sprintf("port %d counts %s\n", i, difference(got, want))
			continue
		}
		if x.world.lateTimers {
			continue
		}
		sends, timer := x.ref.when(x.now, p)
		next, due := x.sw.Next(x.now, i), x.env(i).Due(i)
		if next > sends || next < x.now {
			x.fail("port %d is to be called at %v; something leaves at %v, the first timer is at %v", i, next, sends, timer)
		}
		if next == x.now && timer > x.now { // a timer that was no use: it must not be there again
			x.transmit(i, 1)
			if next := x.sw.Next(x.now, i); next == x.now {
				x.fail("port %d wants to be called for nothing, again and again", i)
			}
		}
		if due > sends {
			x.fail("port %d was woken for %v, and something leaves at %v", i, due, sends)
		}
	}
	if wrong != "" {
		x.fail("%s", wrong)
	}
	b := x.sw.Buffer()
	if used := b.LossyUsed; int(used) != x.ref.used {
		x.fail("%d bytes of the pool are used, %d should be", used, x.ref.used)
	}
	if int(b.HeadUsed) != x.ref.headed() {
		x.fail("%d bytes of headroom are used, %d should be", b.HeadUsed, x.ref.headed())
	}
	x.pooled = max(x.pooled, x.ref.used)
	x.ref.most = max(x.ref.most, x.ref.used)
	if peak := int(b.LossyPeak); x.world.workers == 1 && (peak < x.pooled || peak > x.ref.most) {
		x.fail("%d bytes of the pool are the most that were used, it was between %d and %d", peak, x.pooled, x.ref.most)
	}
	if x.world.workers == 1 && int(b.HeadPeak) != x.ref.heads {
		x.fail("%d bytes of headroom are the most that were used, not %d", b.HeadPeak, x.ref.heads)
	}
	if err := x.sw.Audit(); err != nil {
		x.Fatal(err)
	}
}

// entries is the forwarding database.
func (r *reference) entries(now units.Time) (all []dataplane.FDBEntry) {
	vlans := []int{0}
	if len(r.config.VLANs) > 0 {
		vlans = nil
		for _, v := range r.config.VLANs {
			vlans = append(vlans, int(v.ID))
		}
	}
	for _, v := range vlans {
		if r.config.Router.MAC != 0 {
			all = append(all, dataplane.FDBEntry{VLAN: uint16(v), MAC: r.config.Router.MAC, Static: true})
		}
		for _, e := range r.config.Static {
			ports := r.static(station{v, e.MAC})
			if ports == nil {
				continue
			}
			if int(e.VLAN) == v || e.VLAN == 0 && (v == 0 || r.untagged(int(e.Ports[0])) == v) {
				all = append(all, dataplane.FDBEntry{VLAN: uint16(v), MAC: e.MAC, Ports: r.withLink(ports), Static: true})
			}
		}
	}
	for s := range r.known {
		if w, ok := r.learned(now, s); ok {
			all = append(all, dataplane.FDBEntry{VLAN: uint16(s.vlan), MAC: s.mac, Ports: []uint16{uint16(w.port)}, Age: now/units.Second*units.Second - w.seen})
		}
	}
	slices.SortFunc(all, func(a, b dataplane.FDBEntry) int {
		if a.VLAN != b.VLAN {
			return int(a.VLAN) - int(b.VLAN)
		}
		return int(int64(a.MAC) - int64(b.MAC))
	})
	return all
}

// withLink are those of some ports that have a link, or all if none has.
func (r *reference) withLink(ports []uint16) []uint16 {
	up := slices.DeleteFunc(slices.Clone(ports), func(p uint16) bool { return r.ports[p].down })
	if len(up) == 0 {
		return ports
	}
	return up
}

// difference names the counters that differ.
func difference(got, want fabric.PortStats) (s string) {
	var compare func(name string, a, b reflect.Value)
	compare = func(name string, a, b reflect.Value) {
		switch a.Kind() {
		case reflect.Struct:
			for i := range a.NumField() {
				compare(name+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
			}
		case reflect.Array:
			for i := range a.Len() {
				at := fmt.Sprintf("%s[%d]", name, i)
				if a.Len() == int(fabric.Reasons) {
					at = fmt.Sprintf("%s[%v]", name, fabric.Reason(i))
				}
				compare(at, a.Index(i), b.Index(i))
			}
		default:
			if !a.Equal(b) {
				s += fmt.Sprintf("%s %v, not %v; ", name[1:], a, b)
			}
		}
	}
	compare("", reflect.ValueOf(got), reflect.ValueOf(want))
	return s
}

// end has everything leave, and looks whether every place for a frame is free again.
func (x *trial) end() {
	for i := range x.ref.ports {
		for x.transmit(i, 64) > 0 {
		}
	}
	x.sw.Close()
	if n := x.mem.left(); n != places {
		x.fail("%d of %d places for frames are free after all", n, places)
	}
}
