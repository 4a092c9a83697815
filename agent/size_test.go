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
	if used := wire.EthernetLen + wire.CNTagLen + wire.IPv4Len + wire.UDPLen + wire.BTHLen; used > headNear {
		t.Errorf("headers of %d bytes need a third line", used)
	}
}
