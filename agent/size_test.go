package agent

import (
	"testing"
	"unsafe"
)

// A packet touches the first lines of its flow only, and flows are whole lines.
func TestFlowsAreWholeCacheLines(t *testing.T) {
	var f flow
	if size := unsafe.Sizeof(f); size%64 != 0 {
		t.Errorf("a flow is %d bytes: flowPad must be %d more", size, 64-size%64)
	}
	if used := unsafe.Offsetof(f.head) + 54 + 12; used > 64*flowLines { // RoCEv2 over IPv4
		t.Errorf("a packet touches %d bytes of its flow, %d lines are fetched", used, flowLines)
	}
}
