package dataplane

import (
	"strings"
	"testing"

	"photon/credits"
	"photon/units"
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
			Ports: make([]PortConfig, 2), MTU: 1500, Lossless: 1 << 3, DSCP: DefaultDSCP(), PCP: DefaultPCP(), Buffer: 12 * units.MB, Tail: units.MB, FDBSize: 16,
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
