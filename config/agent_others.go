package config

import (
	"errors"
	"reflect"
)

// ofOthers says which key of an agent's file would change nothing, since only a switch has what it is about, or only a
// switch and a NIC.
func (c *Agent) ofOthers() error {
	const (
		shares  = "an agent has one port, which shares with nobody"
		pauses  = "a host obeys pauses and sends none: what a switch or a NIC (role: nic) goes by changes nothing here"
		aSwitch = "an agent has none, a switch does"
	)
	p, f := &c.Port, &c.PFC
	type key struct {
		name string
		said any
		why  string
	}
	keys := []key{
		{"storm control", p.Storm, aSwitch},
		{"impair", p.Impair, "a port of a switch is impaired, an agent's is not"},
		{"accept", p.Accept, "an agent has no VLANs, a switch does"},
		{"shutdown", p.Shutdown, "a port of a switch is shut, an agent is ended"},
		{"addresses", p.Addresses, "an agent does not route, a switch does"},
		{"headroom_pool", f.HeadPool, shares},
		{"over_subscribe_ratio", f.Ratio, shares},
		{"watchdog", f.Watchdog, aSwitch},
		{"shares", c.Scheme.Shares, aSwitch},
		{"deadlock", f.Deadlock, "an agent looks for none, a switch does"},
	}
	if !c.IsNIC() {
		keys = append(keys, []key{
			{"cable_delay", p.CableDelay, pauses}, {"cable_length", p.Cable, pauses},
			{"xoff", f.XOFF, pauses}, {"xon", f.XON, pauses}, {"headroom", f.Headroom, pauses},
			{"response", f.Response, pauses}, {"mac_phy_delay", f.MACPHY, pauses}, {"alpha", f.Alpha, pauses},
			{"pause", f.Pause, pauses},
		}...)
	}
	for _, k := range keys {
		if line := lineIn(reflect.ValueOf(k.said)); line > 0 {
			return &Error{Line: line, Err: errors.New(k.name + ": " + k.why)}
		}
	}
	return nil
}
