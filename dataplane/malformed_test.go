package dataplane

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// twins are two switches that get the same frames, the second the way of those that come together.
type twins [2]*rig

func newTwins(t testing.TB) (w twins) {
	for i := range w {
		c := config(3)
		c.Learn, c.Age = true, 300*units.Second
		c.Static = c.Static[:2]
		c.Watchdog = pfc.WatchdogConfig{Detect: units.Millisecond, Restore: units.Millisecond}
		c.Deadlock = units.Millisecond
		w[i] = newRig(t, c)
		w[i].together = i == 1
	}
	return w
}

// in lets a frame arrive at both, whose bytes at hand are those of b and whose
// length may be more.
func (w twins) in(port int, b []byte, length int) {
	for _, r := range w {
		r.in(port, b, length)
	}
}

// out takes what both send at all ports, and fails if it is not the same.
func (w twins) out(t testing.TB, now units.Time) (sent [][]byte) {
	t.Helper()
	for port := range w[0].sw.ports {
		var both [2][][]byte
		for i, r := range w {
			r.now = now
			both[i] = r.out(port, 64)
		}
		if !slices.EqualFunc(both[0], both[1], bytes.Equal) {
			t.Fatalf("port %d sends %x; of frames that come together %x", port, both[0], both[1])
		}
		sent = append(sent, both[0]...)
	}
	a, b := w[0].sw.Stats(now), w[1].sw.Stats(now)
	for i := range a.Ports {
		if a.Ports[i] != b.Ports[i] {
			t.Fatalf("port %d counts\n%+v\nof frames that come together\n%+v", i, a.Ports[i], b.Ports[i])
		}
	}
	for _, r := range w {
		if err := r.sw.Audit(); err != nil {
			t.Fatal(err)
		}
	}
	return sent
}

// behindTags puts tags in front of a frame's EtherType.
func behindTags(b []byte, tags ...[]byte) []byte {
	return slices.Concat(b[:12], slices.Concat(tags...), b[12:])
}

// ipv6 is the headers of an IPv6 packet with a next header.
func ipv6(next byte) []byte {
	b := packet(0, 1, 0, 0)
	binary.BigEndian.PutUint16(b[12:], wire.TypeIPv6)
	clear(b[14:])
	b[14], b[20], b[21] = 0x60, next, 64
	return b
}

// with changes a copy of a frame.
func with(b []byte, change func(b []byte)) []byte {
	b = bytes.Clone(b)
	change(b)
	return b
}

func put16(at int, v uint16) func([]byte) {
	return func(b []byte) { binary.BigEndian.PutUint16(b[at:], v) }
}

// becomes is what is to happen to a frame.
type becomes uint8

const (
	forwarded  becomes = iota // to the one port where its destination is
	flooded                   // to both others
	discarded                 // for a reason
	controlled                // taken as MAC control
	refused                   // the same, and counted as bad
)

var vlan, qinq = []byte{0x81, 0, 0x60, 1}, []byte{0x88, 0xA8, 0x60, 1}

// malformed are the frames. What is broken above the Ethernet header is no
// concern of a bridge, as long as nothing here reads beyond what is there:
// receivers check it.
var malformed = []struct {
	name   string
	bytes  []byte
	length int // 0: of bytes
	want   becomes
	why    fabric.Reason
}{
	{"one byte", []byte{0x02}, 0, discarded, fabric.DropMalformed},
	{"no source", packet(0, 1, 26, 2)[:9], 0, discarded, fabric.DropMalformed},
	{"no EtherType", packet(0, 1, 26, 2)[:12], 0, discarded, fabric.DropMalformed},
	{"half an EtherType", packet(0, 1, 26, 2)[:13], 0, discarded, fabric.DropMalformed},
	{"Ethernet header only", packet(0, 1, 26, 2)[:14], 0, forwarded, 0},
	{"half an IPv4 header", packet(0, 1, 26, 2)[:24], 0, forwarded, 0},
	{"IPv4 header only", packet(0, 1, 26, 2)[:34], 0, forwarded, 0},
	{"half a UDP header", packet(0, 1, 26, 2)[:38], 0, forwarded, 0},
	{"UDP header only", packet(0, 1, 26, 2)[:42], 0, forwarded, 0},
	{"half a base transport header", packet(0, 1, 26, 2)[:48], 0, forwarded, 0},
	{"all zero", make([]byte, 60), 0, discarded, fabric.DropSource},
	{"all ones", bytes.Repeat([]byte{0xFF}, 60), 0, discarded, fabric.DropSource},

	{"destination zero", with(packet(0, 1, 26, 2), func(b []byte) { clear(b[:6]) }), 0, flooded, 0},
	{"source zero", with(packet(0, 1, 26, 2), func(b []byte) { clear(b[6:12]) }), 0, discarded, fabric.DropSource},
	{"source a group", with(packet(0, 1, 26, 2), func(b []byte) { b[6] |= 1 }), 0, discarded, fabric.DropSource},
	{"source broadcast", with(packet(0, 1, 26, 2), func(b []byte) { wire.Broadcast.Put(b[6:]) }), 0, discarded, fabric.DropSource},
	{"source is destination", packet(1, 1, 26, 2), 0, forwarded, 0},
	{"to where it comes from", packet(1, 0, 26, 2), 0, discarded, fabric.DropNoPort},
	{"longest", packet(0, 1, 26, 2), 1500 + 14, forwarded, 0},
	{"one too long", packet(0, 1, 26, 2), 1500 + 14 + 2*4 + 1, discarded, fabric.DropOversize},
	{"jumbo", packet(0, 1, 26, 2), 9216, discarded, fabric.DropOversize},
	{"the longest there is", packet(0, 1, 26, 2), 1<<16 - 1, discarded, fabric.DropOversize},

	{"IPv4 checksum", with(packet(0, 1, 26, 0), put16(24, 0xBEEF)), 0, forwarded, 0},
	{"IPv4 of version 5", with(packet(0, 1, 26, 2), func(b []byte) { b[14] = 0x55 }), 0, forwarded, 0},
	{"IPv4 header of 16 bytes", with(packet(0, 1, 26, 2), func(b []byte) { b[14] = 0x44 }), 0, forwarded, 0},
	{"IPv4 header longer than the frame", with(packet(0, 1, 26, 2)[:40], func(b []byte) { b[14] = 0x4F }), 0, forwarded, 0},
	{"IPv4 options", with(packet(0, 1, 26, 2), func(b []byte) { b[14] = 0x46 }), 0, forwarded, 0},
	{"IPv4 total length 0", with(packet(0, 1, 26, 2), put16(16, 0)), 0, forwarded, 0},
	{"IPv4 total length beyond the frame", with(packet(0, 1, 26, 2), put16(16, 0xFFFF)), 0, forwarded, 0},
	{"IPv4 later fragment", with(packet(0, 1, 26, 2), put16(20, 0x1FFF)), 0, forwarded, 0},
	{"IPv4 of protocol 255", with(packet(0, 1, 26, 2), func(b []byte) { b[23] = 255 }), 0, forwarded, 0},
	{"IPv4 in the EtherType of IPv6", with(packet(0, 1, 26, 2), put16(12, wire.TypeIPv6)), 0, forwarded, 0},
	{"UDP length 0", with(packet(0, 1, 26, 2), put16(38, 0)), 0, forwarded, 0},
	{"RoCEv2 opcode unknown", with(packet(0, 1, 26, 2), func(b []byte) { b[42] = 0xFF }), 0, forwarded, 0},
	{"IPv6 header only", ipv6(59)[:54], 0, forwarded, 0},
	{"half an IPv6 header", ipv6(59)[:30], 0, forwarded, 0},
	{"IPv6 hop-by-hop options without end", with(ipv6(0), func(b []byte) { b[55] = 0xFF }), 0, forwarded, 0},
	{"IPv6 fragment header, cut", ipv6(44)[:57], 0, forwarded, 0},
	{"IPv6 routing header of itself", with(ipv6(43), func(b []byte) { b[54] = 43 }), 0, forwarded, 0},
	{"CNM, cut", with(packet(0, 1, 0, 0)[:20], put16(12, wire.TypeCNM)), 0, forwarded, 0},
	{"CN-TAG, cut", with(packet(0, 1, 0, 0)[:15], put16(12, wire.TypeCNTag)), 0, forwarded, 0},
	{"802.3 length", with(packet(0, 1, 0, 0), put16(12, 46)), 0, forwarded, 0},

	{"one tag", behindTags(packet(0, 1, 26, 2), vlan), 0, forwarded, 0},
	{"tag, cut", behindTags(packet(0, 1, 26, 2), vlan)[:15], 0, forwarded, 0},
	{"two tags", behindTags(packet(0, 1, 26, 2), qinq, vlan), 0, forwarded, 0},
	{"twelve tags", behindTags(packet(0, 1, 26, 2), qinq, vlan, vlan, vlan, vlan, vlan, vlan, vlan, vlan, vlan, vlan, vlan), 0, forwarded, 0},
	{"nothing but tags", behindTags(packet(0, 1, 26, 2)[:12], vlan, vlan, vlan, vlan, vlan, vlan, vlan, vlan), 0, forwarded, 0},

	{"PFC", pauseFrame(3, 5), 0, controlled, 0},
	{"PFC to a host", with(pauseFrame(3, 5), func(b []byte) { mac(1).Put(b) }), 0, refused, 0},
	{"PFC to all", with(pauseFrame(3, 5), func(b []byte) { wire.Broadcast.Put(b) }), 0, refused, 0},
	{"PFC from a group", with(pauseFrame(3, 5), func(b []byte) { b[6] |= 1 }), 0, refused, 0},
	{"PFC of unknown classes", with(pauseFrame(3, 5), func(b []byte) { b[16] = 0xFF }), 0, controlled, 0},
	{"PFC, cut in its times", pauseFrame(3, 5)[:26], 0, refused, 0},
	{"PFC, cut in its vector", pauseFrame(3, 5)[:17], 0, refused, 0},
	{"PFC, no opcode", pauseFrame(3, 5)[:14], 0, refused, 0},
	{"MAC control of opcode 0", with(pauseFrame(3, 5), put16(14, 0)), 0, refused, 0},
	{"MAC control of opcode 0xFFFF", with(pauseFrame(3, 5), put16(14, 0xFFFF)), 0, refused, 0},
	{"MAC control behind a CN-TAG", behindTags(pauseFrame(3, 5), []byte{0x22, 0xE9, 0, 1}), 0, discarded, fabric.DropReserved},
	{"MAC control behind a tag", behindTags(pauseFrame(3, 5), vlan), 0, discarded, fabric.DropReserved},
	{"MAC control to a host behind a tag", behindTags(with(pauseFrame(3, 5), func(b []byte) { mac(1).Put(b) }), vlan), 0, discarded, fabric.DropReserved},
	{"MAC control to a host behind two tags", behindTags(with(pauseFrame(3, 5), func(b []byte) { mac(1).Put(b) }), qinq, vlan), 0, discarded, fabric.DropReserved},
	{"IPv4 to the address of MAC control", with(packet(0, 1, 26, 2), func(b []byte) { copy(b, pauseFrame(3, 5)[:6]) }), 0, discarded, fabric.DropReserved},
	{"spanning tree", with(packet(0, 1, 0, 0), func(b []byte) { wire.MAC(0x0180_C200_0000).Put(b) }), 0, discarded, fabric.DropReserved},
	{"probe for deadlocks, cut", with(packet(0, 1, 0, 0)[:16], func(b []byte) { pfc.ProbeDestination.Put(b); put16(12, pfc.ProbeType)(b) }), 0, refused, 0},
}

// Every frame is forwarded, discarded for a reason, or taken as MAC control, and
// counted as that: alone, and in the middle of a burst of good ones.
func TestMalformedFrames(t *testing.T) {
	for _, m := range malformed {
		t.Run(m.name, func(t *testing.T) {
			w := newTwins(t)
			length := max(m.length, len(m.bytes))
			w.in(0, m.bytes, length)
			sent := w.out(t, us)
			st := w[0].stats(0)
			discards := uint64(0)
			for _, n := range st.Discarded() {
				discards += n
			}
			wantSent := map[becomes]int{forwarded: 1, flooded: 2}[m.want]
			if len(sent) != wantSent {
				t.Errorf("sent %d times", len(sent))
			}
			for _, b := range sent {
				if !bytes.HasPrefix(b, m.bytes[:min(len(m.bytes), 124)]) && wire.ECN(b[14:]) != wire.CE {
					t.Errorf("was %x, is %x", m.bytes, b)
				}
			}
			if m.want == discarded {
				n := uint64(0)
				for _, k := range st.Discards[m.why] {
					n += k
				}
				if n != 1 || discards != 1 {
					t.Errorf("discards %v", st.Discards)
				}
			} else if discards != 0 {
				t.Errorf("discards %v", st.Discards)
			}
			control, bad := uint64(0), uint64(0)
			if m.want == controlled || m.want == refused {
				control = 1
			}
			if m.want == refused {
				bad = 1
			}
			if st.RxControl != control || st.BadControl != bad {
				t.Errorf("%d MAC control frames, %d bad", st.RxControl, st.BadControl)
			}
			if _, received := st.Frames(); received != 1 {
				t.Errorf("%d frames received", received)
			}

			// Among others it changes nothing for them. Enough time passes for a
			// pause to end.
			good := packet(2, 1, 0, 0)
			for _, r := range w {
				r.now = units.Second
				var burst []fabric.Frame
				for i := range 9 {
					b, n := good, 64
					if i == 4 {
						b, n = m.bytes, length
					}
					f, _ := r.env.Alloc(n)
					copy(r.env.Header(f), b)
					burst = append(burst, f)
				}
				r.sw.Receive(r.now, 2, burst)
			}
			passed := 0
			for _, b := range w.out(t, units.Second) {
				if bytes.HasPrefix(b, good) {
					passed++
				}
			}
			if passed < 8 {
				t.Errorf("%d of 8 good frames around it passed", passed)
			}
		})
	}
}

// FuzzSwitch throws frames at a whole switch: bursts of any bytes at any port, and
// time to send. It must count every frame, forward no MAC control, and do the
// same both ways. A frame is a port, a length and that many bytes; the top bit of
// the port ends a burst.
func FuzzSwitch(f *testing.F) {
	var all []byte
	for i, m := range malformed {
		b := m.bytes[:min(len(m.bytes), 124)]
		one := append([]byte{byte(i%3) | 0x80, byte(len(b))}, b...)
		f.Add(one)
		all = append(all, one...)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, data []byte) {
		w := newTwins(t)
		now := units.Time(0)
		var arriving [][]byte
		received := uint64(0)
		for len(data) >= 2 && (received < 500 || len(arriving) > 0) {
			port, n := int(data[0]), int(data[1])
			n = min(n, len(data)-2, 124)
			if n > 0 {
				arriving = append(arriving, data[2:2+n])
				received++
			}
			data = data[2+n:]
			if port&0x80 == 0 && len(data) >= 2 && len(arriving) < 70 { // else the burst is over
				continue
			}
			for _, b := range arriving { // one by one, and together
				w[0].now = now
				w[0].in(port%3, b, len(b))
			}
			w[1].now = now
			w[1].burst(port%3, arriving...)
			arriving = arriving[:0]
			begun := w[0].control()
			own := uint64(0)
			for _, b := range w.out(t, now) {
				var h wire.Header
				if wire.Parse(b, &h) && (h.EtherType == wire.TypeMACControl || h.EtherType == pfc.ProbeType && h.Dst == pfc.ProbeDestination) {
					own++
				}
			}
			if sent := w[0].control() - begun; own != sent {
				t.Fatalf("%d MAC control frames were sent, %d of them its own", own, sent)
			}
			now += units.Time(port&0x7F) * us
		}
		total := uint64(0)
		for _, p := range w[0].sw.Stats(now).Ports {
			_, n := p.Frames()
			total += n
		}
		if total != received {
			t.Fatalf("%d frames arrived, %d are counted", received, total)
		}
	})
}

// control is how many MAC control frames the switch sent of its own.
func (r *rig) control() (n uint64) {
	for i := range r.sw.ports {
		n += r.stats(i).TxControl
	}
	return n
}
