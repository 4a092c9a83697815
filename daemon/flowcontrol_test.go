package daemon

import (
	"errors"
	"strings"
	"testing"

	"photon/dataplane/dpdk"
)

// A card whose driver says that it pauses by itself is no port of a switch with lossless priorities, and one of which
// nothing is known gets a line of the log; without lossless priorities neither matters.
func TestFlowControlOfCards(t *testing.T) {
	for _, c := range []struct {
		state    dpdk.FlowControl
		lossless uint8
		starts   bool
		warns    bool
	}{
		{dpdk.FlowControlNotNeeded, 1 << 3, true, false},
		{dpdk.FlowControlOff, 1 << 3, true, false},
		{dpdk.FlowControlUnknown, 1 << 3, true, true},
		{dpdk.FlowControlRefused, 1 << 3, true, true},
		{dpdk.FlowControlOn, 1 << 3, false, false},
		{dpdk.FlowControlUnknown, 0, true, false},
		{dpdk.FlowControlOn, 0, true, false},
	} {
		x := newLinked(t, "")
		x.lossless = c.lossless
		devices := x.loaded.devices
		devices[1].FlowControl, devices[1].Driver = c.state, "net_ixgbe"
		err := x.logFlowControl(x.file, x.loaded.conf.Ports, devices)
		if (err == nil) != c.starts || x.said("port 0000:03:00.1: ") != c.warns || x.said("port 0000:03:00.0: ") {
			t.Errorf("%v, lossless %b: %v\n%s", c.state, c.lossless, err, x.log.String())
		}
		if c.warns && !x.said("net_ixgbe") {
			t.Errorf("the driver is not named:\n%s", x.log.String())
		}
		if err == nil {
			continue
		}
		if b := (Refusal{}); !errors.As(err, &b) {
			t.Errorf("%v is not the user's to mend", err)
		}
		if s := err.Error(); !strings.Contains(s, x.file+":3: ") || !strings.Contains(s, "0000:03:00.1") {
			t.Error(s)
		}
	}
}
