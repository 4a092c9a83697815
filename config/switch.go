package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// Switch is switch.yaml.
type Switch struct {
	Name       Value[string]      `yaml:"name"` // in metrics; switch
	Ports      []Port             `yaml:"ports"`
	Rate       Value[units.Rate]  `yaml:"rate"` // of ports that say nothing themselves
	Scheme     Scheme             `yaml:"scheme"`
	PFC        PFC                `yaml:"pfc"`
	Buffer     Value[units.Size]  `yaml:"buffer"`           // of the whole switch; what is set aside, and 4MB
	LossyQueue Value[units.Size]  `yaml:"lossy_queue"`      // an egress queue of a lossy priority drops beyond it; 1MB
	LossyAlpha Value[float64]     `yaml:"lossy_alpha"`      // and beyond this part of what is free of the shared buffer; 0: no such limit
	Ingress    Ingress            `yaml:"lossy_ingress"`    // what came through one port, as a limit of its own; ports may say otherwise
	Weights    map[int]Value[int] `yaml:"weights"`          // of priorities that share by it what strict ones leave, 1 to 100; others are strict
	Queues     map[int]Queue      `yaml:"queues"`           // by priority: what its egress queues have of their own; ports may say otherwise
	MTU        Value[int]         `yaml:"mtu"`              // longest frame without Ethernet header, tags and FCS, bytes; 1500
	Trust      Value[string]      `yaml:"trust"`            // dscp (the tag of frames that are not IP), pcp (the DSCP of frames without tag), or none
	Default    Value[int]         `yaml:"default_priority"` // of frames that have none, or are not trusted; 0
	PCPOut     map[int]Value[int] `yaml:"priority_to_pcp"`  // code points written into frames that leave with a tag, others the same number; absent: they keep theirs
	DSCP       map[int]Value[int] `yaml:"dscp_to_priority"` // others: the class selector, DSCP/8
	PCP        map[int]Value[int] `yaml:"pcp_to_priority"`  // others: the same number
	Learning   Learning           `yaml:"forwarding"`
	VLANs      []VLAN             `yaml:"vlans"` // none: tags are nothing to the switch
	Router     Router             `yaml:"router"`
	Routes     []Route            `yaml:"routes"`
	SFlow      *SFlow             `yaml:"sflow"`         // none if absent
	History    History            `yaml:"history"`       // of what happened at each port
	LLDP       *LLDP              `yaml:"lldp"`          // none if absent
	Storm      StormControl       `yaml:"storm_control"` // of ports that say nothing themselves
	Metrics    Value[string]      `yaml:"metrics"`       // address, or off; 127.0.0.1:9464
	Series     Series             `yaml:"series"`        // what has series of its own in them
	Admin      Value[string]      `yaml:"admin"`         // path of the admin socket, or off; /run/photon/NAME.sock
	Live       Live               `yaml:"live"`          // page for browsers
	PProf      Value[string]      `yaml:"pprof"`         // loopback address of the runtime's profiles, as in 127.0.0.1:6060; none
	DPDK       DPDK               `yaml:"dpdk"`

	file    string
	running Running
}

// Learning is how addresses are found.
type Learning struct {
	Learn  Value[bool]       `yaml:"learn"`     // true
	Age    Value[units.Time] `yaml:"age"`       // of a learned address; 300s; 0s: it stays
	Size   Value[int]        `yaml:"size"`      // addresses, of each VLAN; 16384
	Flood  Value[bool]       `yaml:"flood"`     // frames to unknown addresses go to all ports; true
	Broad  Value[bool]       `yaml:"broadcast"` // so do those to all; true
	Multi  Value[bool]       `yaml:"multicast"` // and those to other group addresses; true
	Static []StaticAddress   `yaml:"static"`    // known from the start
}

// StaticAddress sends an address to a port, or to one of several.
type StaticAddress struct {
	MAC   Value[wire.MAC] `yaml:"mac"`
	Port  Value[int]      `yaml:"port"`  // from 0, in the order of ports
	Ports []Value[int]    `yaml:"ports"` // in place of port: several, one of which router: paths chooses
	VLAN  Value[int]      `yaml:"vlan"`  // the port's untagged one
}

// NodeName is the switch's name in metrics, and to its neighbours.
func (c *Switch) NodeName() string { return c.Name.Or(defaultName) }

// ReadSwitch reads and checks a file.
func ReadSwitch(file string) (*Switch, error) {
	b, err := ReadText(file)
	if err != nil {
		return nil, err
	}
	return ParseSwitch(file, b)
}

// ParseSwitch is ReadSwitch of a text that was read already; file is for errors.
func ParseSwitch(file string, b []byte) (*Switch, error) {
	c := &Switch{}
	if err := Decode(file, b, c); err != nil {
		return nil, err
	}
	c.file = file // an empty file leaves nothing in c
	return c, c.Check()
}

// SwitchNode is a switch that is ready to be made.
type SwitchNode struct {
	Config  dataplane.SwitchConfig
	Links   []fabric.Link
	Scheme  *scheme.Scheme
	Params  []scheme.Setting // of the scheme, as they are in force
	Shares  []marking.ShareRule
	Line    units.Rate // of the fastest port, for which they are meant
	Workers []int      // of each port
	// Headroom is what each port needs, by cause; the configuration may say otherwise.
	Headroom []pfc.HeadroomParts
	// PauseGap is how far apart polls may be so that each port's peer stays paused, and Response how far they are.
	PauseGap []units.Time
	Response units.Time
}

// Check finds what can be known without opening devices.
func (c *Switch) Check() error {
	if err := tooMuch(reflect.ValueOf(c)); err != nil {
		return inFile(c.file, err)
	}
	if err := checkListening(c.Metrics, c.Series, c.Admin, c.Name, c.Live, c.PProf); err != nil {
		return inFile(c.file, err)
	}
	if f := c.Series.Flows; f.IsSet() {
		return inFile(c.file, fail(f, "series: flows: a switch sends none, an agent does"))
	}
	if err := c.DPDK.check(); err != nil {
		return inFile(c.file, err)
	}
	if err := c.SFlow.check(); err != nil {
		return inFile(c.file, err)
	}
	for _, err := range []error{checkMTU(c.MTU), c.PFC.check(), checkRate(c.Rate), c.Learning.check(), c.checkBuffer(), c.LLDP.check(), c.History.check()} {
		if err != nil {
			return inFile(c.file, err)
		}
	}
	for _, p := range c.Ports {
		mtu := c.MTU.Or(defaultMTU)
		if err := cmp.Or(p.check(), p.checkDevice(mtu, mtu)); err != nil {
			return inFile(c.file, err)
		}
		if _, err := p.Impair.List(); err != nil {
			return inFile(c.file, err)
		}
	}
	if err := usedTwice(c.Ports...); err != nil {
		return inFile(c.file, err)
	}
	if n := len(c.Ports); n > dpdk.MaxPorts {
		return inFile(c.file, fail(c.Ports[dpdk.MaxPorts].Device, "%d ports: DPDK has room for %d", n, dpdk.MaxPorts))
	}
	_, err := c.Resolve(nil)
	return err
}

// check says what is wrong with how addresses are found.
func (l *Learning) check() error {
	const most = 1 << 23 // 256 MB of them
	switch age, size := l.Age, l.Size; {
	case age.V < 0 || age.V > 0 && age.V < units.Second:
		return fail(age, "age %v must be 1s or more, whole seconds of which count, or 0s: addresses stay", age.V)
	case size.IsSet() && (size.V < 1 || size.V > most):
		return fail(size, "size %d must be from 1 to %d addresses", size.V, most)
	}
	return nil
}

// checkBuffer says what no buffer and no queue can be.
func (c *Switch) checkBuffer() error {
	frame := longest(c.MTU.Or(defaultMTU))
	switch {
	case c.Buffer.IsSet() && c.Buffer.V <= 0:
		return fail(c.Buffer, "buffer %v must be positive", c.Buffer.V)
	case c.LossyQueue.IsSet() && c.LossyQueue.V < frame:
		return fail(c.LossyQueue, "lossy_queue %v is less than the longest frame, %v", c.LossyQueue.V, frame)
	}
	return nil
}

// File is where the configuration was read from; empty: nowhere.
func (c *Switch) File() string { return c.file }

// MetricsAddress is where metrics are served; empty: nowhere.
func (c *Switch) MetricsAddress() string {
	a, _ := metricsAddress(c.Metrics) // Check has seen it
	return a
}

// Response is the poll gap that the headroom was computed for; 0: the headroom was given.
func (c *Switch) Response() units.Time {
	if c.PFC.Headroom.IsSet() {
		return 0
	}
	return c.PFC.Response.Or(defaultResponse)
}

// AdminSocket is where the admin socket is to be.
func (c *Switch) AdminSocket() Admin {
	a, _ := admin(c.Admin, c.Name) // Check has seen it
	return a
}

// Options are those of the world. The configuration must have been checked.
func (c *Switch) Options() dpdk.Options {
	n, err := c.Resolve(nil)
	if err != nil {
		return dpdk.Options{}
	}
	o := c.DPDK.options(c.Ports, c.frames(&n.Config), n.Config.MTU)
	o.Gap = c.pollGap()
	return o
}

// Resolve works out the whole configuration. devices are the ports' devices by their places (in the
// order of the file, if the switch does not run), or nil as long as they are not open.
func (c *Switch) Resolve(devices []dpdk.Device) (*SwitchNode, error) {
	n, err := c.resolve(devices)
	return n, inFile(c.file, err)
}

// resolveWith works it out for a buffer of such cells.
func (c *Switch) resolveWith(devices []dpdk.Device, cell units.Size) (*SwitchNode, error) {
	if len(c.Ports) < 2 {
		return nil, errors.New("a switch has at least two ports (`ports:` in the file, or --port twice)")
	}
	if w := c.DPDK.Workers; w.Or(1) > len(c.Ports) {
		return nil, fail(w, "%d workers for %d ports: each port has one worker, so there are no more of them than ports", w.V, len(c.Ports))
	}
	n := &SwitchNode{Response: c.PFC.Response.Or(defaultResponse)}
	s := &n.Config
	if err := c.common(s, cell); err != nil {
		return nil, err
	}
	var network scheme.Network
	for i := range c.Ports {
		var d dpdk.Device
		if devices != nil {
			d = devices[c.number(i)]
		}
		if err := c.resolvePort(n, &network, i, d); err != nil {
			return nil, err
		}
	}
	var err error
	if s.Headroom, err = c.PFC.shared(s.Headrooms(), s.MostHeadroom()); err != nil {
		return nil, err
	}
	s.Buffer = c.Buffer.Or(s.Reserved() + defaultShared)
	if h := c.PFC.Headroom; h.V > s.Buffer {
		return nil, fail(h, "headroom %v is larger than the buffer, %v", h.V, s.Buffer)
	}
	if err := c.forwarding(s, devices); err != nil {
		return nil, err
	}
	if err := c.setScheme(n, network); err != nil {
		return nil, err
	}
	if err := c.checkWhole(s); err != nil {
		return nil, err
	}
	return n, nil
}

// common works out what all ports of a switch share.
func (c *Switch) common(s *dataplane.SwitchConfig, cell units.Size) (err error) {
	*s = dataplane.SwitchConfig{
		Cell: cell, Tail: c.LossyQueue.Or(defaultTail), Share: c.LossyAlpha.V,
		MTU: c.MTU.Or(defaultMTU), Pause: c.PFC.Pause.V,
		Classes: dataplane.DefaultClasses(),
		History: dataplane.History{Pauses: c.History.Pauses.Or(defaultPauses), Events: c.History.Events.Or(defaultEvents)},
		Learn:   c.Learning.Learn.Or(true), Age: c.Learning.Age.Or(300 * units.Second),
		FDBSize: c.Learning.Size.Or(defaultAddresses),
	}
	if s.Lossless, err = c.PFC.lossless(); err != nil {
		return err
	}
	thresholds, err := c.PFC.thresholds(s.MTU)
	if err != nil {
		return err
	}
	if s.Watchdog, err = c.PFC.watchdog(); err != nil {
		return err
	}
	if d := c.PFC.Deadlock; d.V < 0 {
		return fail(d, "deadlock %v must not be negative", d.V)
	}
	s.Deadlock = c.PFC.Deadlock.Or(100 * units.Millisecond)
	if s.Trust, err = trustOf(c.Trust, dataplane.TrustDSCP); err != nil {
		return err
	}
	if c.Default.V < 0 || c.Default.V >= pfc.Classes {
		return fail(c.Default, "default_priority %d: there are 0 to 7", c.Default.V)
	}
	s.Default = uint8(c.Default.V)
	if err := priorities(c.DSCP, s.DSCP[:], "DSCP"); err != nil {
		return err
	}
	if err := priorities(c.PCP, s.PCP[:], "PCP"); err != nil {
		return err
	}
	s.Control = s.DSCP[48]
	if err := c.weights(s); err != nil {
		return err
	}
	if a := c.LossyAlpha; !(a.V >= 0 && a.V <= mostAlpha) {
		return fail(a, "lossy_alpha %v must be from 0 to %v", a.V, mostAlpha)
	}
	for p := range s.PFC {
		s.PFC[p] = thresholds
	}
	return nil
}

// resolvePort works out the i-th port, which is on a device, after those before it.
func (c *Switch) resolvePort(n *SwitchNode, network *scheme.Network, i int, d dpdk.Device) (err error) {
	s, p := &n.Config, c.Ports[i]
	if p.Rate.V == 0 {
		p.Rate = c.Rate
	}
	rate := p.rate(d.Rate)
	network.Line, network.Rates = max(network.Line, rate), append(network.Rates, rate)
	parts := c.PFC.headroom(p, rate, s.MTU).InCells(s.Cell)
	n.Headroom, n.PauseGap = append(n.Headroom, parts), append(n.PauseGap, c.PFC.pauseGap(p, rate, s.MTU))
	headroom := c.PFC.Headroom.Or(parts.Sum())
	worker := c.workerOf(i)
	limits, err := c.limits(p, s.MTU)
	if err != nil {
		return err
	}
	var accept dataplane.Accept
	if a := p.Accept; a.IsSet() {
		if err := accept.UnmarshalText([]byte(a.V)); err != nil {
			return fail(a, "%v", err)
		}
		if len(c.VLANs) == 0 && accept != dataplane.AcceptAll {
			return fail(a, "accept: without `vlans:` a switch takes all frames, with and without a tag")
		}
	}
	s.Ports = append(s.Ports, dataplane.PortConfig{
		MAC: portMAC(d, c.number(i)), Link: p.link(rate), Headroom: headroom, Worker: worker,
		Accept: accept, Flood: limits,
	})
	pc := &s.Ports[i]
	if err := c.own(p, s, i); err != nil {
		return err
	}
	longest := units.Size(pc.Link.WireBytes(s.MTU + wire.EthernetLen + 2*wire.VLANLen))
	if err := c.ingress(p, s.MTU, pc); err != nil {
		return err
	}
	if pc.Queues, err = c.queues(p, s.LosslessAt(i), longest); err != nil {
		return err
	}
	if pc.Shaper, err = p.Shaper.params(longest); err != nil {
		return err
	}
	n.Links = append(n.Links, p.link(rate))
	n.Workers = append(n.Workers, worker)
	return nil
}

// setScheme gives a switch its congestion point.
func (c *Switch) setScheme(n *SwitchNode, network scheme.Network) error {
	network.Seed = uint64(n.Config.Ports[0].MAC) // no two nodes draw the same numbers
	if c.Scheme.Known != nil {
		network = *c.Scheme.Known
	}
	rules, err := c.Scheme.shares()
	if err != nil {
		return err
	}
	if rules != nil {
		network.Shares = marking.SharesOf(rules)
	}
	parts, recipe, err := c.Scheme.build(network)
	if err == nil && rules != nil && !recipe.Shares {
		return FailIn([]any{c.Scheme.Shares}, "shares: flows have weights and caps under af-qcn, and not under %s",
			recipe.Name)
	}
	if err != nil {
		var e *Error
		if errors.As(err, &e) && e.Line == 0 { // the usual scheme does not go with the rate
			e.Line = c.Rate.Line
		}
		return err
	}
	n.Scheme, n.Line, n.Shares = recipe, network.Line, rules
	if n.Params, err = recipe.Settings(network, c.Scheme.overrides()); err != nil {
		return err
	}
	n.Config.CP = parts.CP
	if c.Scheme.Priorities == nil {
		return nil
	}
	judged, err := setOf(c.Scheme.Priorities)
	if err != nil {
		return err
	}
	if err := c.oneMarks(&n.Config, judged); err != nil {
		return err
	}
	n.Config.Judged = judged
	n.Config.CP = func(p marking.Place) marking.CP {
		if judged>>p.Prio&1 == 0 {
			return marking.None{}
		}
		return parts.CP(p)
	}
	return nil
}

// oneMarks says which of the scheme's priorities WRED marks already.
func (c *Switch) oneMarks(s *dataplane.SwitchConfig, judged uint8) error {
	for i := range s.Ports {
		for prio, q := range s.Ports[i].Queues {
			if judged>>prio&1 != 0 && q.WRED != (marking.WREDParams{}) {
				at := slices.IndexFunc(c.Scheme.Priorities, func(v Value[int]) bool { return v.V == prio })
				return fail(c.Scheme.Priorities[at], "scheme: priority %d has WRED at port %d: one of them marks "+
					"(take it out of the scheme's `priorities`, or `wred` out of `queues`)", prio, i)
			}
		}
	}
	return nil
}

// checkWhole checks what the parts are together, and finds the line that is to blame.
func (c *Switch) checkWhole(s *dataplane.SwitchConfig) error {
	if err := s.Check(); err != nil {
		if line, ok := c.itemLine(err); ok {
			return &Error{Line: line, Err: err}
		}
		where := c.Buffer
		if !errors.Is(err, dataplane.ErrBuffer) {
			where.Line = c.MTU.Line
		} else if !where.IsSet() {
			where = c.PFC.Headroom
		}
		return fail(where, "%v", err)
	}
	return nil
}

func (c *Switch) weights(s *dataplane.SwitchConfig) error {
	for prio, w := range c.Weights {
		switch {
		case prio < 0 || prio >= pfc.Classes:
			return fail(w, "weights: priority %d: there are 0 to 7", prio)
		case w.V < 1 || w.V > 100:
			return fail(w, "weights: %d must be from 1 to 100 (leave priority %d out and it is strict)", w.V, prio)
		}
		s.Weights[prio] = w.V
	}
	return nil
}

// portMAC is the source of PFC frames: the device's address, or one of ours.
func portMAC(d dpdk.Device, i int) wire.MAC {
	if d.MAC != 0 {
		return d.MAC
	}
	return 0x0200_5057_0000 | wire.MAC(i)
}

// Base is the address that a switch's own is made of: its first port's.
func Base(first dpdk.Device) wire.MAC { return portMAC(first, 0) }

// Describe prints what is in force, for the operator to see at the start.
func (n *SwitchNode) Describe() []string {
	s := &n.Config
	lines := []string{fmt.Sprintf("scheme %s: %s", n.Scheme.Name, n.Scheme.Summary)}
	if n.Shares != nil {
		lines = append(lines, fmt.Sprintf("shares of flows: %d rules, the first that matches counts", len(n.Shares)))
	}
	if s.Judged != 0 {
		lines = append(lines, fmt.Sprintf("the scheme's priorities: %s", bitsOf(s.Judged)))
	}
	for i, p := range s.Ports {
		if p.Vacant {
			continue
		}
		h := n.Headroom[i]
		lines = append(lines, fmt.Sprintf("port %d: %v, worker %d, headroom %v", i, p.Link.Rate, p.Worker, p.Headroom))
		if i > 0 && h == n.Headroom[i-1] && p.Headroom == s.Ports[i-1].Headroom && n.PauseGap[i] == n.PauseGap[i-1] {
			continue
		}
		why := "  computed"
		if p.Headroom != h.Sum() {
			why = fmt.Sprintf("  needed %v", h.Sum())
		}
		lines = append(lines, fmt.Sprintf("%s: frames %v, XOFF %v, peer's response %v, cable %v, own response %v, transmit ring %v, MAC and PHY %v, cells %v", why, h.Frames, h.Pause, h.Peer, h.Cable, h.Own, h.Ring, h.MACPHY, h.Cells))
		if p.Headroom < h.Sum() {
			lines = append(lines, fmt.Sprintf("  warning: headroom %v is less than what port %d needs; lossless frames may be lost when its peer is paused", p.Headroom, i))
		}
		if s.Accounts(i) != 0 {
			name := fmt.Sprintf("port %d", i)
			lines = append(lines, warnOfPause(name, s.Pause, p.Link.Rate, n.Response, n.PauseGap[i])...)
		}
	}
	for prio := range s.PFC {
		if s.Lossless>>prio&1 != 0 {
			line := fmt.Sprintf("priority %d: lossless, xoff %v, xon %v", prio, s.PFC[prio].XOFF, s.PFC[prio].XON)
			if a := s.PFC[prio].Alpha; a > 0 {
				line += fmt.Sprintf(", both more by %v of what is free of the shared buffer", a)
			}
			lines = append(lines, line)
			if dscp := uint8(cnpDSCP); s.DSCP[dscp] == uint8(prio) {
				lines = append(lines, fmt.Sprintf("  note: CNPs, which have DSCP %d by default, are of priority %d, too: a pause holds them up", dscp, prio))
			}
		}
	}
	if all := s.Headrooms(); s.Headroom > 0 {
		line := fmt.Sprintf("headroom pool %v, of which ports and priorities may take %v together: over-subscribed %.3g times", s.Headroom, all, float64(all)/float64(s.Headroom))
		if s.Headroom >= all {
			line = fmt.Sprintf("headroom pool %v, of which ports and priorities take %v at most: not over-subscribed", s.Headroom, all)
		}
		lines = append(lines, line)
	}
	if s.Weights != [pfc.Classes]int{} {
		lines = append(lines, "scheduler: "+scheduler(s.Weights))
	}
	lines = append(append(lines, describeOwn(s)...), describeQueues(s)...)
	if w := s.Watchdog; w.Detect > 0 {
		lines = append(lines, fmt.Sprintf("PFC watchdog: detects after %v, restores after %v, action %v", w.Detect, w.Restore, w.Action))
	}
	lines = append(lines, describeForwarding(s)...)
	if s.Share > 0 {
		lines = append(lines, fmt.Sprintf("lossy queues: up to %v of what is free of the shared buffer", s.Share))
	}
	if shared := s.Buffer - s.Reserved(); s.Lossless != 0xFF && shared < longest(s.MTU) {
		lines = append(lines, fmt.Sprintf("warning: the buffer is %v, of which reserved parts leave %v: frames of "+
			"lossy priorities "+
			"are discarded, as CNPs and acknowledgements usually are (`buffer: %v` or more)",
			s.Buffer, shared, s.Reserved()+longest(s.MTU)))
	}
	return append(lines, fmt.Sprintf("buffer %v in cells of %v, lossy queues %v, mtu %d, learning %v", s.Buffer, s.Cell, s.Tail, s.MTU, s.Learn))
}

// scheduler says in words which priorities are strict and what share the others have.
func scheduler(weights [pfc.Classes]int) string {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	var strict, shared []string
	for prio := pfc.Classes - 1; prio >= 0; prio-- {
		if w := weights[prio]; w > 0 {
			shared = append(shared, fmt.Sprintf("%d (%.3g %%)", prio, 100*float64(w)/float64(sum)))
		} else {
			strict = append(strict, fmt.Sprint(prio))
		}
	}
	if strict == nil {
		return "the link is shared by " + strings.Join(shared, ", ")
	}
	return "strict " + strings.Join(strict, ", ") + "; what they leave is shared by " + strings.Join(shared, ", ")
}
