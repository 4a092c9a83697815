package dpdk

import (
	"fmt"
	"syscall"
)

// FlowControl is what becomes of the PFC and PAUSE frames that reach a device, before photon sees them. PFC is photon's to
// do: a card that acts on such frames, or keeps them to itself, loses lossless frames although every counter is zero.
type FlowControl uint8

// What is known of it.
const (
	FlowControlNotNeeded FlowControl = iota // a virtual device, to which they are frames as any other
	FlowControlOff                          // the driver has switched it off, and passes such frames up
	FlowControlUnknown                      // the driver does not know
	FlowControlRefused                      // the driver says that the card acts on none, and refused to pass them up
	FlowControlOn                           // the card acts on them, and cannot be configured otherwise
	FlowControls                            // how many there are
)

var flowControlNames = [FlowControls]string{"not_needed", "off", "unknown", "refused", "on"}

func (f FlowControl) String() string { return flowControlNames[f] }

// driverSays is what a driver answered: its error numbers, as DPDK has them, or 0.
type driverSays struct {
	got     int  // when asked what it does
	acts    bool // it acts on pauses, or sends some by itself
	taken   int  // when asked to do nothing, and to pass MAC control frames up
	kernels bool // it is the kernel's, of a card behind a virtual device: it was only asked, not configured
}

// flowControlOf relies on the driver's answer, since nothing else knows the card.
func (s driverSays) flowControlOf(virtual bool) FlowControl {
	switch {
	case s.kernels && s.acts:
		return FlowControlOn
	case s.kernels:
		return FlowControlUnknown
	case s.got == -int(syscall.ENOTSUP) && virtual:
		return FlowControlNotNeeded
	case s.got != 0:
		return FlowControlUnknown
	case s.taken == 0:
		return FlowControlOff
	case s.acts:
		return FlowControlOn
	}
	return FlowControlRefused
}

// Trouble says what is wrong with the device of a port that has lossless priorities; empty: nothing is known to be.
func (d *Device) Trouble() string {
	const look = "`When PFC does not work` in docs/operate.md says how to find out"
	driver, mend := "driver "+d.Driver, "`pfc: {priorities: []}` does without lossless priorities"
	if d.Virtual {
		iface, _ := argument(d.Spec, "iface")
		driver, mend = "kernel's driver of "+iface, fmt.Sprintf("`ethtool -A %s autoneg off rx off tx off`", iface)
	}
	switch d.FlowControl {
	case FlowControlUnknown:
		return fmt.Sprintf("the %s does not say what its card does with PFC and PAUSE frames: if it keeps them, "+
			"no pause of the peer is obeyed, and lossless frames are lost there; %s", driver, look)
	case FlowControlRefused:
		return fmt.Sprintf("the %s does not take the order to pass MAC control frames up: if its card keeps them, "+
			"no pause of the peer is obeyed, and lossless frames are lost there; %s", driver, look)
	case FlowControlOn:
		return fmt.Sprintf("by the %s its card acts on PAUSE frames by itself, or sends them, which photon cannot switch off: "+
			"no priority is lossless there (%s)", driver, mend)
	}
	return ""
}

// Lossy reports whether the device's driver says that no priority can be lossless there.
func (d *Device) Lossy() bool { return d.FlowControl == FlowControlOn && !d.Virtual }
