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
		lossless bool
		starts   bool
		warns    bool
	}{
		{dpdk.FlowControlNotNeeded, true, true, false},
		{dpdk.FlowControlOff, true, true, false},
		{dpdk.FlowControlUnknown, true, true, true},
		{dpdk.FlowControlRefused, true, true, true},
		{dpdk.FlowControlOn, true, false, false},
		{dpdk.FlowControlUnknown, false, true, false},
		{dpdk.FlowControlOn, false, true, false},
	} {
		x := newLinked(t, "")
		devices := x.loaded.devices
		devices[1].FlowControl, devices[1].Driver = c.state, "net_ixgbe"
		err := x.logFlowControl(c.lossless, x.file, x.loaded.conf.Ports, devices)
		if (err == nil) != c.starts || x.said("port 0000:03:00.1: ") != c.warns || x.said("port 0000:03:00.0: ") {
			t.Errorf("%v, lossless %t: %v\n%s", c.state, c.lossless, err, x.log.String())
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

// A card of which nothing was asked is looked at when something is to be lossless: by PFC, at a port of its own, or by
// PAUSE. If nothing can be lossless there, nothing changes.
func TestFlowControlAtReload(t *testing.T) {
	const lossy = "ports:\n- device: 0000:03:00.0\n- device: 0000:03:00.1\nbuffer: 3MB\ndpdk: {frames: 65536}\npfc: {priorities: []}\n"
	for _, lossless := range []string{
		strings.Replace(lossy, "[]", "[3]", 1),
		strings.Replace(lossy, "00.1\n", "00.1\n  lossless: [3]\n", 1),
		strings.Replace(lossy, "00.1\n", "00.1\n  pause: true\n", 1),
	} {
		x := newLinkedOf(t, lossy)
		card := &x.loaded.devices[1]
		card.Driver, card.FlowControl = "net_ixgbe", dpdk.FlowControlOn
		x.put(lossless)
		if _, err := x.reload(); err == nil || !strings.HasPrefix(err.Error(), x.file+":3: ") || x.loaded.conf.Lossless() {
			t.Errorf("%s%v", lossless, err)
		}
		card.FlowControl = dpdk.FlowControlUnknown
		if _, err := x.reload(); err != nil || !x.said("port 0000:03:00.1: the driver net_ixgbe does not say") {
			t.Errorf("%s%v\n%s", lossless, err, x.log.String())
		}
	}
}
