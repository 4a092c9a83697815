package agent

import (
	"testing"
	"unsafe"

	"photon/wire"
)

// What a packet touches of its flow is two cache lines, the timer's 32 bytes
// included, and all that is not headers is in the timer's.
func TestPacketsTouchTwoCacheLines(t *testing.T) {
	var s sending
	if size := unsafe.Sizeof(s); size != 96 {
		t.Errorf("%d bytes lie beside a timer, not 96", size)
	}
	if at := unsafe.Offsetof(s.next); at != 64 {
		t.Errorf("the headers take %d bytes, not one line", at)
	}
	if used := wire.EthernetLen + wire.CNTagLen + wire.IPv4Len + wire.UDPLen + wire.BTHLen; used > headInlineLen {
		t.Errorf("headers of %d bytes need a third line", used)
	}
}

// What packets touch of a host is in few lines, and hosts do not lie whole pages apart:
// they would all compete for the same places of the caches.
func TestHostSizes(t *testing.T) {
	var h Host
	for _, at := range []struct {
		what   string
		is, in uintptr
	}{
		{"acks", unsafe.Offsetof(h.acks), 64}, {"peers", unsafe.Offsetof(h.peers), 128}, {"lanes", unsafe.Offsetof(h.lanes), 192},
		{"flows", unsafe.Offsetof(h.flows), 704}, {"egress", unsafe.Offsetof(h.egress), 744},
	} {
		if at.is != at.in {
			t.Errorf("%s is at %d, not %d", at.what, at.is, at.in)
		}
	}
	if size := unsafe.Sizeof(peer{}); size != 64 {
		t.Errorf("a received flow has %d bytes", size)
	}
	var f flow
	if at := unsafe.Offsetof(f.requester) + unsafe.Offsetof(f.requester.retries); at > 64 {
		t.Errorf("what acknowledgements need of a flow ends behind %d bytes", at)
	}
	if size := unsafe.Sizeof(f); size != 5*64 {
		t.Errorf("a sent flow has %d bytes, not five lines", size)
	}
	if size := unsafe.Sizeof(h.lanes[0]); size != 64 {
		t.Errorf("a lane has %d bytes", size)
	}
	if size := unsafe.Sizeof(h); size > 1792 {
		t.Errorf("a host has %d bytes: the next sizes that are given out share more places", size)
	}
	if size := unsafe.Sizeof(*h.table); size != 128 {
		t.Errorf("a table has %d bytes", size)
	}
	if size := unsafe.Sizeof(*h.pacer); size != 128 {
		t.Errorf("a pacer has %d bytes", size)
	}
	if size := unsafe.Sizeof(*h.pacer.Wheel); size != 192 {
		t.Errorf("a wheel has %d bytes", size)
	}
	if size := unsafe.Sizeof(*h.env); size != 192 {
		t.Errorf("an Env has %d bytes", size)
	}
}
