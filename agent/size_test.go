package agent

import (
	"testing"
	"unsafe"

	"photon/wire"
)

// A packet touches the first lines of its flow only, and flows are whole lines.
func TestFlowsAreWholeCacheLines(t *testing.T) {
	var f flow
	if size := unsafe.Sizeof(f); size%64 != 0 {
		t.Errorf("a flow is %d bytes: flowPad must be %d more", size, 64-size%64)
	}
	if used := unsafe.Offsetof(f.head) + wire.EthernetLen + wire.IPv4Len + wire.UDPLen + bthFixed; used > 64*flowLines {
		t.Errorf("a packet touches %d bytes of its flow, %d lines are fetched", used, flowLines)
	}
}
