package dataplane

import (
	"slices"
	"strings"
	"testing"

	"photon/credits"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// With credits a lane is a priority at both ends of a link: no port has other ones, by a setting of any kind.
func TestCreditsAreOfAllPorts(t *testing.T) {
	for name, change := range map[string]func(*PortConfig){
		"nothing":   func(*PortConfig) {},
		"lossless":  func(p *PortConfig) { p.Lossless = new(uint8) },
		"pause":     func(p *PortConfig) { p.Lossless, p.Pause = new(uint8), true },
		"asymmetry": func(p *PortConfig) { p.Asymmetric = true },
		"trust":     func(p *PortConfig) { p.Classes = &Classes{} },
		"pcp":       func(p *PortConfig) { p.PCPOut = new([8]uint8) },
	} {
		c := SwitchConfig{
			Ports: make([]PortConfig, 2), MTU: 1500, Lossless: 1 << 3, Classes: DefaultClasses(), Buffer: 12 * units.MB, Tail: units.MB, FDBSize: 16,
			Credits: &credits.Config{Buffer: 64 * units.KB},
		}
		for i := range c.Ports {
			c.Ports[i].Link.Rate = 10 * units.Gbps
		}
		change(&c.Ports[1])
		err := c.Check()
		if refused := err != nil && strings.Contains(err.Error(), "of their own"); refused != (name != "nothing") || name == "nothing" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A reload that has a watchdog look at a priority for the first time, of which the peer has been pausing for long, and by
// which other frames are lossless than before: what the watchdog discards is given back to the account that it is in then.
func TestReloadDiscardsWhatItCharges(t *testing.T) {
	c := guarded(2, pfc.Drop)
	none := uint8(0)
	c.Ports[0].Lossless, c.Ports[1].Lossless, c.Ports[1].Asymmetric = &none, &none, true
	r := newRig(t, c)
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	for range 5 {
		r.in(0, packet(0, 1, 26, 0), 1000)
	}
	for range 10 { // the pause does not end
		r.now += 2 * ms
		r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	}
	after := c
	after.Ports = slices.Clone(c.Ports)
	after.Ports[0].Lossless, after.Ports[1].Lossless, after.Ports[1].Asymmetric = nil, nil, false
	r.reload(after)
	if st := r.stats(1); st.Discards[fabric.DropStorm][3] != 5 || st.QueueFrames[3] != 0 {
		t.Errorf("the watchdog has discarded %d of 5 frames, and %d wait", st.Discards[fabric.DropStorm][3], st.QueueFrames[3])
	}
	if got := r.stats(0).Buffered[3]; got != 0 {
		t.Errorf("%v are buffered", got)
	}
	r.audit()
}

// A priority by the bytes is the one the switch goes by.
func TestPriorityOfBytes(t *testing.T) {
	c := config(2)
	c.DSCP[10] = 5
	r := newRig(t, c)
	for dscp := range uint8(64) {
		b := packet(0, 1, dscp, wire.ECT0)
		r.in(0, b, 500)
		if n := r.sw.Priority(0, b); r.stats(0).RxFrames[n] == 0 {
			t.Errorf("DSCP %d: %d", dscp, n)
		}
		r.out(1, 1)
	}
}
