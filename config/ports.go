package config

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"photon/dataplane"
	"photon/pfc"
)

// errPauseLossy is what is wrong with limits for lossy frames that come through a port that sends PAUSE.
var errPauseLossy = errors.New("lossy_ingress: a port that sends PAUSE discards nothing for want of room: none of its frames are lossy")

// trusts are what a file may say of the priority that frames come with.
var trusts = map[string]dataplane.Trust{"dscp": dataplane.TrustDSCP, "pcp": dataplane.TrustPCP, "none": dataplane.TrustNone}

func trustOf(v Value[string], other dataplane.Trust) (dataplane.Trust, error) {
	if !v.IsSet() {
		return other, nil
	}
	t, ok := trusts[v.V]
	if !ok {
		return t, fail(v, "trust %q: dscp, pcp or none", v.V)
	}
	return t, nil
}

// ByClassSelector reports whether an untagged IP frame has the priority of its DSCP's class selector at every port, as
// it has if the file says nothing of it.
func (c *Switch) ByClassSelector() bool {
	usual := func(m map[int]Value[int]) bool {
		for dscp, prio := range m {
			if prio.V != dscp>>3 {
				return false
			}
		}
		return true
	}
	for i := range c.Ports {
		p := &c.Ports[i]
		if p.Trust.Or(c.Trust.V) == "none" || !usual(p.DSCP) {
			return false
		}
	}
	return usual(c.DSCP)
}

// own is what the i-th port has of its own, where others go by the switch.
func (c *Switch) own(p Port, s *dataplane.SwitchConfig, i int) error {
	to := &s.Ports[i]
	if p.Lossless != nil {
		set, err := setOf(p.Lossless)
		if err != nil {
			return err
		}
		to.Lossless = &set
	}
	switch to.Pause, to.Asymmetric, to.MTU = p.Pause.V, p.Asymmetric.V, p.MTU.V; {
	case to.Pause && s.LosslessAt(i) != 0:
		return fail(p.Pause, "pause: PAUSE stops everything, so that a port that sends it has no lossless priorities (`lossless: []`)")
	case to.Pause && to.Asymmetric:
		return fail(p.Asymmetric, "asymmetric_pfc: a port that sends PAUSE obeys PAUSE")
	case p.MTU.IsSet() && (to.MTU < 46 || to.MTU > s.MTU):
		return fail(p.MTU, "mtu %d of a port must be from 46 to the switch's, %d (`mtu:` says what the longest is of all ports)", to.MTU, s.MTU)
	}
	return c.maps(p, s, to)
}

// checkAgents says which of what a switch's port may have of its own an agent's has: it has one port, for which the file
// speaks, and none of it.
func (p *Port) checkAgents() error {
	line, key := 0, ""
	if p.Lossless != nil { // be it none
		line, key = p.Device.Line, "lossless"
	}
	says := func(of int, name string) {
		if of > 0 && (line == 0 || of < line) {
			line, key = of, name
		}
	}
	says(p.Asymmetric.Line, "asymmetric_pfc")
	says(p.Pause.Line, "pause")
	says(p.MTU.Line, "mtu")
	says(p.Trust.Line, "trust")
	says(p.Default.Line, "default_priority")
	for name, m := range map[string]map[int]Value[int]{"dscp_to_priority": p.DSCP, "pcp_to_priority": p.PCP, "priority_to_pcp": p.PCPOut} {
		for _, v := range m {
			says(v.Line, name)
		}
	}
	for _, q := range p.Queues {
		says(q.line(), "queues")
	}
	says(p.Shaper.line(), "shaper")
	says(p.Ingress.line(), "lossy_ingress")
	if line == 0 {
		return nil
	}
	return &Error{Line: line, Err: fmt.Errorf("%s: the port of an agent has none of its own, a switch's may", key)}
}

// maps are a port's, from what frames say of their priority, and to it.
func (c *Switch) maps(p Port, s *dataplane.SwitchConfig, to *dataplane.PortConfig) error {
	k := s.Classes
	var err error
	if k.Trust, err = trustOf(p.Trust, s.Trust); err != nil {
		return err
	}
	if err := priorities(p.DSCP, k.DSCP[:], "DSCP"); err != nil {
		return err
	}
	if err := priorities(p.PCP, k.PCP[:], "PCP"); err != nil {
		return err
	}
	if d := p.Default; d.V < 0 || d.V >= pfc.Classes {
		return fail(d, "default_priority %d: there are 0 to 7", d.V)
	}
	k.Default = uint8(p.Default.Or(int(s.Default)))
	if k != s.Classes {
		to.Classes = &k
	}
	if c.PCPOut == nil && p.PCPOut == nil {
		return nil
	}
	points := dataplane.DefaultPCP()
	for _, m := range []map[int]Value[int]{c.PCPOut, p.PCPOut} {
		for prio, pcp := range m {
			if prio < 0 || prio >= pfc.Classes || pcp.V < 0 || pcp.V >= pfc.Classes {
				return fail(pcp, "priority_to_pcp: %d to %d: there are priorities and code points 0 to 7", prio, pcp.V)
			}
			points[prio] = uint8(pcp.V)
		}
	}
	to.PCPOut = &points
	return nil
}

// describeOwn says what ports have of their own.
func describeOwn(s *dataplane.SwitchConfig) (lines []string) {
	for i, p := range s.Ports {
		what := ""
		if p.Lossless != nil {
			what += fmt.Sprintf(", lossless priorities %s", bitsOf(*p.Lossless))
		}
		if p.Pause {
			what += ", sends PAUSE"
		}
		if p.Asymmetric {
			what += ", obeys PFC of every priority"
		}
		if p.MTU != 0 {
			what += fmt.Sprintf(", mtu %d", p.MTU)
		}
		if p.LossyLimit > 0 {
			what += fmt.Sprintf(", at most %v of lossy frames", p.LossyLimit)
		}
		if p.LossyAlpha > 0 {
			what += fmt.Sprintf(", lossy frames up to %v of what is free of the shared buffer", p.LossyAlpha)
		}
		if p.Shaper.Rate > 0 {
			what += ", " + describeShaper(p.Shaper)
		}
		if k := p.Classes; k != nil {
			for name, t := range trusts {
				if t == k.Trust {
					what += ", trusts " + name
				}
			}
			if k.Default != 0 {
				what += fmt.Sprintf(", default priority %d", k.Default)
			}
		}
		if p.PCPOut != nil {
			what += fmt.Sprintf(", code points of priorities 0 to 7 %v", *p.PCPOut)
		}
		if what != "" && !p.Vacant {
			lines = append(lines, fmt.Sprintf("port %d: %s", i, what[2:]))
		}
	}
	return lines
}

// bitsOf are the numbers of a set in words.
func bitsOf(set uint8) string {
	return cmp.Or(strings.Trim(fmt.Sprint(pfc.Priorities(set)), "[]"), "none")
}
