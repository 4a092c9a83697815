package accept

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"photon/config"
	"photon/dataplane/dpdk"
	"photon/lab/testbed"
	"photon/units"
)

// Plan is the file of an acceptance run.
type Plan struct {
	// Switch is the file of the switch that is to be accepted (docs/operate.md). Without one it is a switch that
	// has a port at each cable, one worker, and PFC for two priorities.
	Switch config.Value[string] `yaml:"switch"`
	// Cables are two at least, each from a port of the switch to one of its peer. A peer that is a port of the
	// switch's file, too, is the switch's in a second turn, in which the ends of its cable are exchanged.
	Cables []Cable `yaml:"cables"`
	// Rate of every link, if it is to be less than the card's: for cards that are emulated. What needs
	// the card's own rate is left out then. With a file of the switch, that has it, and the response.
	Rate     config.Value[units.Rate] `yaml:"rate"`
	Response config.Value[units.Time] `yaml:"response"` // longest gap between two polls, for the headroom; 100us
	Rounds   config.Value[int]        `yaml:"rounds"`   // how often the switch is paused; 20
	DPDK     DPDK                     `yaml:"dpdk"`
	// Figure11 is the testbed file (docs/testbed.md) on which PCN's figure 11 is repeated.
	Figure11 config.Value[string] `yaml:"figure11"`

	file string
	sw   *config.Switch     // what Switch names, or what stands in for it
	node *config.SwitchNode // the same, as far as it is known without its devices
	only []string           // stages and steps that are asked for; none: all
}

// Cable joins two ports of this machine.
type Cable struct {
	Switch config.Value[string] `yaml:"switch"` // the port of the switch: a PCI address, or a virtual device
	Peer   config.Value[string] `yaml:"peer"`   // the port at its other end
}

// DPDK is how the processes of a run poll.
type DPDK struct {
	Hugepages config.Value[bool] `yaml:"hugepages"` // true for cards, false for virtual devices
	// Cores are two: the switch's, and its peer's. The last ones of the machine. With a file of the switch, which
	// has its own, one: the peer's.
	Cores []config.Value[int]      `yaml:"cores"`
	Sleep config.Value[units.Time] `yaml:"sleep"` // of an idle worker; 0: it polls without rest
}

const (
	lossless        = 3 // a priority that has PFC, and
	second          = 4 // another, of a switch without a file
	mostCables      = 16
	defaultResponse = 100 * units.Microsecond
	defaultRounds   = 20
	leastRate       = units.Mbps
)

// Read reads and checks a plan.
func Read(file string) (*Plan, error) {
	b, err := config.ReadText(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, b)
}

// Parse is Read of a text that was read already; file is for errors and for names beside it.
func Parse(file string, b []byte) (*Plan, error) {
	p := &Plan{}
	if err := config.Decode(file, b, p); err != nil {
		return nil, err
	}
	p.file = file
	if err := p.check(); err != nil {
		var e *config.Error
		if !errors.As(err, &e) {
			e = &config.Error{Err: err}
		}
		if e.File == "" {
			e.File = file
		}
		return nil, e
	}
	return p, nil
}

func wrong[T any](v config.Value[T], format string, args ...any) error {
	return &config.Error{Line: v.Line, Err: fmt.Errorf(format, args...)}
}

func (p *Plan) check() error {
	switch n := len(p.Cables); {
	case n == 0 && p.Switch.IsSet():
		return wrong(p.Switch, "switch: needs cables (`cables: [{switch: 0000:03:00.0, peer: 0000:82:00.0}, ...]`)")
	case n == 0 && !p.Figure11.IsSet():
		return errors.New(
			"an acceptance run needs cables (`cables: [{switch: 0000:03:00.0, peer: 0000:82:00.0}, ...]`), or a testbed (`figure11: testbed.yaml`)",
		)
	case n == 1:
		return fmt.Errorf("%d cables: two are needed at least, from ports of the switch to ports of its peer", n)
	case n > mostCables:
		return fmt.Errorf("%d cables: there are %d at most", n, mostCables)
	}
	var ports config.Switch // which knows what a port can be
	for i, c := range p.Cables {
		for _, end := range []struct {
			name string
			config.Value[string]
		}{{"switch", c.Switch}, {"peer", c.Peer}} {
			if end.V == "" {
				return fmt.Errorf("cable %d has no `%s:` (a PCI address such as 0000:03:00.0)", i+1, end.name)
			}
			ports.Ports = append(ports.Ports, config.Port{Device: end.Value})
		}
	}
	if len(ports.Ports) > 0 {
		if err := ports.Check(); err != nil {
			return err
		}
	}
	switch {
	case p.Rate.IsSet() && p.Rate.V < leastRate:
		return wrong(p.Rate, "rate %v must be %v at least", p.Rate.V, leastRate)
	case p.Response.V < 0 || p.Response.V > units.Second:
		return wrong(p.Response, "response %v: the longest gap between two polls, 0 to 1s", p.Response.V)
	case p.Rounds.IsSet() && (p.Rounds.V < 1 || p.Rounds.V > 10000):
		return wrong(p.Rounds, "rounds %d: from 1 to 10000", p.Rounds.V)
	}
	if len(p.Cables) > 0 {
		if err := p.readSwitch(); err != nil {
			return err
		}
	}
	if err := p.checkCores(); err != nil {
		return err
	}
	if p.Figure11.IsSet() {
		if _, err := testbed.Read(p.Testbed()); err != nil {
			return wrong(p.Figure11, "figure11: %v", err)
		}
	}
	return nil
}

func (p *Plan) checkCores() error {
	cores := p.DPDK.Cores
	switch n := len(cores); {
	case n == 0:
		return nil
	case p.Switch.IsSet() && n != 1:
		return wrong(cores[0], "%d cores: name one, the peer's; %s has the switch's", n, p.Switch.V)
	case !p.Switch.IsSet() && n != 2:
		return wrong(cores[0], "%d cores: name two, the switch's and its peer's", n)
	}
	for i, c := range cores {
		switch {
		case c.V < 0 || c.V >= runtime.NumCPU():
			return wrong(c, "core %d: this machine has 0 to %d", c.V, runtime.NumCPU()-1)
		case i == 1 && c.V == cores[0].V:
			return wrong(c, "core %d twice: the switch and its peer poll at the same time", c.V)
		case p.Switch.IsSet() && slices.Contains(p.switchCores(), c.V):
			return wrong(c, "core %d is one of the switch's, which polls at the same time", c.V)
		}
	}
	return nil
}

// Testbed is the path of the file for figure 11, which is given from the plan's folder.
func (p *Plan) Testbed() string { return p.beside(p.Figure11.V) }

// beside is the path of a file that is given from the plan's folder.
func (p *Plan) beside(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(p.file), file)
}

// Devices are all ports, cable by cable, the switch's end first.
func (p *Plan) Devices() (all []string) {
	for _, c := range p.Cables {
		all = append(all, c.Switch.V, c.Peer.V)
	}
	return all
}

// huge reports whether huge pages are used: cards want them, virtual devices need none.
func (p *Plan) huge() bool { return p.DPDK.Hugepages.Or(slices.ContainsFunc(p.Devices(), dpdk.IsPCI)) }

// switchCores are where the switch's workers poll: where its file says, else on the last ones of the machine.
func (p *Plan) switchCores() (all []int) {
	if !p.Switch.IsSet() && len(p.DPDK.Cores) == 2 {
		return []int{p.DPDK.Cores[0].V}
	}
	workers := 1
	if p.sw != nil {
		workers = p.sw.DPDK.Workers.Or(1)
		for _, c := range p.sw.DPDK.Cores {
			all = append(all, c.V)
		}
	}
	for i := len(all); i < workers; i++ {
		all = append(all, max(0, runtime.NumCPU()-1-i))
	}
	return all[:workers]
}

// peerCore is where its peer polls: where the plan says, else on the last one that is none of the switch's.
func (p *Plan) peerCore() int {
	if n := len(p.DPDK.Cores); n > 0 {
		return p.DPDK.Cores[n-1].V
	}
	for core := runtime.NumCPU() - 1; core > 0; core-- {
		if !slices.Contains(p.switchCores(), core) {
			return core
		}
	}
	return 0
}

// response is the longest gap between two polls that the headroom is worked out for.
func (p *Plan) response() units.Time {
	if p.Switch.IsSet() {
		return p.sw.PFC.Response.Or(defaultResponse)
	}
	return p.Response.Or(defaultResponse)
}

// said is the rate that the plan, or the switch's file, gives the link of a port; 0: none.
func (p *Plan) said(spec string) units.Rate {
	for _, c := range p.Cables {
		if p.Switch.IsSet() && (c.Switch.V == spec || c.Peer.V == spec) {
			return p.sw.Ports[p.number(c.Switch.V)].Rate.Or(p.sw.Rate.V)
		}
	}
	return p.Rate.V
}

// slow says why what needs the card's own rate cannot be done at a port; empty: it can.
func (p *Plan) slow(spec string, card units.Rate) string {
	rate := p.said(spec)
	if rate == 0 || rate == card {
		return ""
	}
	file := p.file
	if p.Switch.IsSet() {
		file = p.beside(p.Switch.V)
	}
	return fmt.Sprintf("%s says rate: %v, which is not the card's own", file, rate)
}
