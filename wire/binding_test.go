package wire

import (
	"net/netip"
	"testing"
)

// A question says where who asks is, and an answer where who answers; whatever else comes does no harm.
func FuzzBindings(f *testing.F) {
	for _, a := range [][2]string{{"10.0.0.1", "10.0.0.2"}, {"fd00::1", "fd00::2"}} {
		from, target := netip.MustParseAddr(a[0]), netip.MustParseAddr(a[1])
		b := make([]byte, SolicitLen)
		b = b[:Solicit(b, 0x020000000001, 0, from, target)]
		says, ok := ARPBinding(b[EthernetLen:])
		if from.Is6() {
			says, ok = NDBinding(b[EthernetLen:], len(b)-EthernetLen)
		}
		if !ok || says != (Binding{Addr: from, MAC: 0x020000000001, Override: true}) {
			f.Errorf("%v %+v", ok, says)
		}
		if from.Is6() {
			Advertise(b[EthernetLen:], 0x020000000002)
			says, ok = NDBinding(b[EthernetLen:], len(b)-EthernetLen)
		} else {
			AnswerARP(b[EthernetLen:], 0x020000000002)
			says, ok = ARPBinding(b[EthernetLen:])
		}
		if !ok || says != (Binding{Addr: target, MAC: 0x020000000002, Override: true, Answer: true}) {
			f.Errorf("%v %+v", ok, says)
		}
		f.Add(b[EthernetLen:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if says, ok := ARPBinding(b); ok && (says.MAC == 0 || says.MAC.Multicast() || !says.Addr.Is4()) {
			t.Errorf("%+v", says)
		}
		if len(b) < IPv6Len {
			return
		}
		if says, ok := NDBinding(b, len(b)); ok && (says.MAC.Multicast() || says.MAC == 0 && !says.Answer || !says.Addr.Is6() || b[7] != 255) {
			t.Errorf("%+v", says)
		}
	})
}
