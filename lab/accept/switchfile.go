package accept

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"photon/config"
	"photon/dataplane"
	"photon/units"
)

// readSwitch reads the file of the switch that is accepted, or makes one, and says what of it cannot be.
func (p *Plan) readSwitch() error {
	if !p.Switch.IsSet() {
		return p.resolve(config.ParseSwitch(p.file, []byte(p.switchConfig())))
	}
	switch {
	case p.Rate.IsSet():
		return wrong(p.Rate, "rate: %s says the rates of its ports", p.Switch.V)
	case p.Response.IsSet():
		return wrong(p.Response, "response: %s has it (`pfc: {response: %v}`)", p.Switch.V, p.Response.V)
	}
	file := p.beside(p.Switch.V)
	b, err := config.ReadText(file)
	if err != nil {
		return wrong(p.Switch, "switch: %v", err)
	}
	if err := p.resolve(config.ParseSwitch(file, b)); err != nil {
		return err
	}
	for i, c := range p.Cables {
		if p.number(c.Switch.V) < 0 {
			return wrong(c.Switch, "cable %d: %s has no port %s: it has %s",
				i+1, p.Switch.V, c.Switch.V, strings.Join(p.portNames(), ", "))
		}
	}
	return p.sayWhatCannotBe(file)
}

func (p *Plan) resolve(sw *config.Switch, err error) error {
	if err == nil {
		p.sw = sw
		p.node, err = sw.Resolve(nil)
	}
	return err
}

func (p *Plan) portNames() (all []string) {
	for i := range p.sw.Ports {
		all = append(all, p.sw.Ports[i].Device.V)
	}
	return all
}

// number is that of a port of the switch, in the order of its file; -1: it is none.
func (p *Plan) number(device string) int { return slices.Index(p.portNames(), device) }

// sayWhatCannotBe refuses what would spoil the steps themselves, in the file of the switch.
func (p *Plan) sayWhatCannotBe(file string) error {
	say := func(line int, format string, args ...any) error {
		return &config.Error{File: file, Line: line, Err: fmt.Errorf("for an acceptance run "+format, args...)}
	}
	if l := p.sw.Learning.Learn; l.IsSet() && !l.V {
		return say(l.Line, "`learn: false` cannot be: the switch does not know its peer's addresses")
	}
	for i := range p.sw.Ports {
		port := &p.sw.Ports[i]
		if !slices.Contains(p.Devices(), port.Device.V) {
			continue
		}
		mtu := p.sw.MTU
		if port.MTU.IsSet() {
			mtu = port.MTU
		}
		switch rules, err := port.Impair.List(); {
		case err != nil:
			return err
		case len(rules) > 0:
			return say(port.Device.Line,
				"%s cannot have `impair`: what is lost would be the switch's fault", port.Device.V)
		case port.Shutdown.V:
			return say(port.Shutdown.Line, "%s cannot be shut", port.Device.V)
		case mtu.IsSet() && mtu.V < 1500:
			return say(mtu.Line, "an mtu of %d is too short: its frames need 1500", mtu.V)
		}
	}
	rate := p.node.Line
	for _, l := range p.node.Links {
		rate = min(rate, l.Rate)
	}
	if w, least := p.node.Config.Watchdog.Detect, 20*p.hold(rate); w > 0 && w < least {
		return say(p.sw.PFC.Watchdog.Detect.Line,
			"the watchdog would take its pauses for a storm: `detect` must be %v at least, or `watchdog` left out",
			least)
	}
	return nil
}

// hold is how long a port is paused at most, and at its least when all that is to be seen was: a queue that is stopped
// fills its port's share of the buffer, and each end may poll as late as the plan has it.
func (p *Plan) hold(rate units.Rate) units.Time {
	xoff := units.Size(0)
	s := &p.node.Config
	for prio := range s.PFC {
		xoff = max(xoff, s.PFC[prio].XOFF+units.Size(s.PFC[prio].Alpha*float64(s.Buffer)))
	}
	return max(10*units.Millisecond, 4*p.response(), 2*rate.Serialize(2*xoff))
}

// joined is a port of the switch, and the one that its cable leads to.
type joined struct {
	device, peer string
	number       int // of the port, in the order of the switch's file
}

// turn is which ends of the cables are the switch's: those of the plan, or exchanged, where both ends are in its file.
func (p *Plan) turn(exchanged bool) (all []joined) {
	for _, c := range p.Cables {
		j := joined{c.Switch.V, c.Peer.V, p.number(c.Switch.V)}
		if n := p.number(c.Peer.V); exchanged && n >= 0 {
			j = joined{c.Peer.V, c.Switch.V, n}
		}
		all = append(all, j)
	}
	return all
}

// exchanges reports whether there is a second turn.
func (p *Plan) exchanges() bool {
	return p.Switch.IsSet() && slices.ContainsFunc(p.Cables, func(c Cable) bool { return p.number(c.Peer.V) >= 0 })
}

// withoutCable are the ports of the switch's file that no cable leads to.
func (p *Plan) withoutCable() []string {
	return slices.DeleteFunc(p.portNames(), func(d string) bool { return slices.Contains(p.Devices(), d) })
}

// switchText is the file of the switch for a turn: the operator's, but for how one reaches it, and with ports that are
// shut and lead nowhere in place of those that are not in the turn, so that all keep their numbers and their workers.
func (p *Plan) switchText(ports []joined) (string, error) {
	if !p.Switch.IsSet() {
		return p.switchConfig(), nil
	}
	b, err := config.ReadText(p.beside(p.Switch.V))
	if err != nil {
		return "", err
	}
	var doc yaml.Node
	if err := yaml.Load(b, &doc); err != nil {
		return "", err
	}
	root := doc.Content[0]
	root.Style = 0
	var kept []*yaml.Node
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if slices.Contains([]string{"name", "admin", "metrics", "series", "live", "pprof"}, key.Value) {
			continue
		}
		kept = append(kept, key, value)
		if key.Value != "ports" {
			continue
		}
		for n, port := range value.Content {
			if slices.ContainsFunc(ports, func(j joined) bool { return j.number == n }) {
				continue
			}
			for k := 0; k+1 < len(port.Content); k += 2 {
				if port.Content[k].Value == "device" {
					port.Content[k+1].Value = fmt.Sprintf("net_null%d,no-rx=1", 90+n)
				}
			}
			port.Content = append(port.Content,
				&yaml.Node{Kind: yaml.ScalarNode, Value: "shutdown"}, &yaml.Node{Kind: yaml.ScalarNode, Value: "true"})
		}
	}
	root.Content = kept
	text, err := yaml.Dump(&doc)
	return string(text), err
}

// classes say how frames that come in by a port of the switch say their priority.
func (p *Plan) classes(port int) dataplane.Classes {
	return *p.node.Config.ClassesOf(port)
}
