package dpdk

import (
	"strings"
	"syscall"
	"testing"
)

// What the drivers of cards and of virtual devices can answer, and what follows: an order that was not taken never counts
// as one that was.
func TestFlowControlOf(t *testing.T) {
	const no, broken, invalid = -int(syscall.ENOTSUP), -int(syscall.EIO), -int(syscall.EINVAL)
	for name, c := range map[string]struct {
		says    driverSays
		virtual bool
		want    FlowControl
		lossy   bool   // nothing starts
		text    string // that is said; empty: nothing
	}{
		"a virtual device":                  {driverSays{got: no}, true, FlowControlNotNeeded, false, ""},
		"a card whose driver takes it":      {driverSays{acts: true}, false, FlowControlOff, false, ""},
		"and that did nothing before":       {driverSays{}, false, FlowControlOff, false, ""},
		"a card whose driver has no say":    {driverSays{got: no}, false, FlowControlUnknown, false, "driver net_x does not say"},
		"one that cannot tell":              {driverSays{got: broken}, false, FlowControlUnknown, false, "driver net_x does not say"},
		"one that refuses, and has it off":  {driverSays{taken: no}, false, FlowControlRefused, false, "does not take the order"},
		"and for another reason":            {driverSays{taken: invalid}, false, FlowControlRefused, false, "does not take the order"},
		"one that refuses, and has it on":   {driverSays{acts: true, taken: no}, false, FlowControlOn, true, "`pfc: {priorities: []}`"},
		"and for yet another":               {driverSays{acts: true, taken: broken}, false, FlowControlOn, true, "acts on PAUSE"},
		"a virtual device that is broken":   {driverSays{got: broken}, true, FlowControlUnknown, false, "kernel's driver of eth7 does not say"},
		"a card of the kernel's, on":        {driverSays{got: no, kernels: true, acts: true}, true, FlowControlOn, false, "`ethtool -A eth7 autoneg off rx off tx off`"},
		"a card of the kernel's, off":       {driverSays{got: no, kernels: true}, true, FlowControlUnknown, false, "kernel's driver of eth7 does not say"},
		"a virtual device that has a say":   {driverSays{}, true, FlowControlOff, false, ""},
		"a virtual device that acts itself": {driverSays{acts: true, taken: no}, true, FlowControlOn, false, "acts on PAUSE"},
	} {
		d := Device{Spec: "net_x0,iface=eth7", Driver: "net_x", Virtual: c.virtual, FlowControl: c.says.flowControlOf(c.virtual)}
		if d.FlowControl != c.want || d.Lossy() != c.lossy {
			t.Errorf("%s: %v, lossy %v", name, d.FlowControl, d.Lossy())
		}
		if text := d.Trouble(); c.text == "" && text != "" || !strings.Contains(text, c.text) || strings.Contains(text, "\n") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
