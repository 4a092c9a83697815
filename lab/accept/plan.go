package accept

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"photon/config"
	"photon/dataplane/dpdk"
	"photon/lab/testbed"
	"photon/units"
)

// Plan is the file of an acceptance run.
type Plan struct {
	// Cables are two, each from a port that becomes the switch's to one of its peer.
	Cables []Cable `yaml:"cables"`
	// Rate of every link, if it is to be less than the card's: for cards that are emulated. What needs
	// the card's own rate is left out then.
	Rate     config.Value[units.Rate] `yaml:"rate"`
	Response config.Value[units.Time] `yaml:"response"` // longest gap between two polls, for the headroom; 100us
	Rounds   config.Value[int]        `yaml:"rounds"`   // how often the switch is paused; 20
	DPDK     DPDK                     `yaml:"dpdk"`
	// Figure11 is the testbed file (docs/testbed.md) on which PCN's figure 11 is repeated.
	Figure11 config.Value[string] `yaml:"figure11"`

	file string
}

// Cable joins two ports of this machine.
type Cable struct {
	Switch config.Value[string] `yaml:"switch"` // the port of the switch: a PCI address, or a virtual device
	Peer   config.Value[string] `yaml:"peer"`   // the port at its other end
}

// DPDK is how the processes of a run poll.
type DPDK struct {
	Hugepages config.Value[bool] `yaml:"hugepages"` // true for cards, false for virtual devices
	// Cores are two: the switch's, and its peer's. The last ones of the machine.
	Cores []config.Value[int]      `yaml:"cores"`
	Sleep config.Value[units.Time] `yaml:"sleep"` // of an idle worker; 0: it polls without rest
}

const (
	lossless        = 3 // the priority that has PFC, of DSCP 26
	dataDSCP        = 26
	second          = 4 // the switch's other priority that has PFC
	secondDSCP      = 34
	beside          = 0 // a priority without
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
	case n == 0 && !p.Figure11.IsSet():
		return errors.New(
			"an acceptance run needs cables (`cables: [{switch: 0000:03:00.0, peer: 0000:82:00.0}, ...]`), or a testbed (`figure11: testbed.yaml`)",
		)
	case n != 0 && n != 2:
		return fmt.Errorf("%d cables: two are needed, from two ports of the switch to two of its peer", n)
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
	case len(p.DPDK.Cores) != 0 && len(p.DPDK.Cores) != 2:
		return wrong(p.DPDK.Cores[0], "%d cores: name two, the switch's and its peer's", len(p.DPDK.Cores))
	case len(p.DPDK.Cores) == 2 && p.DPDK.Cores[0].V == p.DPDK.Cores[1].V:
		return wrong(p.DPDK.Cores[1], "core %d twice: the switch and its peer poll at the same time", p.DPDK.Cores[1].V)
	}
	for _, c := range p.DPDK.Cores {
		if c.V < 0 || c.V >= runtime.NumCPU() {
			return wrong(c, "core %d: this machine has 0 to %d", c.V, runtime.NumCPU()-1)
		}
	}
	if p.Figure11.IsSet() {
		if _, err := testbed.Read(p.Testbed()); err != nil {
			return wrong(p.Figure11, "figure11: %v", err)
		}
	}
	return nil
}

// Testbed is the path of the file for figure 11, which is given from the plan's folder.
func (p *Plan) Testbed() string {
	if filepath.IsAbs(p.Figure11.V) {
		return p.Figure11.V
	}
	return filepath.Join(filepath.Dir(p.file), p.Figure11.V)
}

// Devices are all ports, cable by cable, the switch's end first.
func (p *Plan) Devices() (all []string) {
	for _, c := range p.Cables {
		all = append(all, c.Switch.V, c.Peer.V)
	}
	return all
}

// Describe says what a run will do.
func (p *Plan) Describe() (lines []string) {
	for _, c := range p.Cables {
		lines = append(lines, fmt.Sprintf("a cable from %s, the switch's, to %s, its peer's", c.Switch.V, c.Peer.V))
	}
	if p.Figure11.IsSet() {
		lines = append(lines, "figure 11 on the testbed of "+p.Testbed())
	}
	return lines
}

// huge reports whether huge pages are used: cards want them, virtual devices need none.
func (p *Plan) huge() bool {
	cards := false
	for _, d := range p.Devices() {
		cards = cards || dpdk.IsPCI(d)
	}
	return p.DPDK.Hugepages.Or(cards)
}

// core is the switch's (0) or its peer's (1); the last ones of the machine, if it has two.
func (p *Plan) core(i int) int {
	if len(p.DPDK.Cores) == 2 {
		return p.DPDK.Cores[i].V
	}
	return max(0, runtime.NumCPU()-1-i)
}

// slow says why what needs the card's own rate cannot be done; empty: it can.
func (p *Plan) slow() string {
	if p.Rate.IsSet() {
		return fmt.Sprintf("%s says rate: %v, which is not the card's own", p.file, p.Rate.V)
	}
	return ""
}
