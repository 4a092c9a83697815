package config

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"photon/agent"
	"photon/cnp"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/ratelimit"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// Roles of an agent.
const (
	roleSender   = "sender"   // sends flows, takes none
	roleReceiver = "receiver" // takes flows, sends none
	roleBoth     = "both"
	roleNIC      = "nic" // carries the frames of applications
)

// Application is the port of a NIC behind which applications are.
type Application struct {
	Device    Value[string]     `yaml:"device"`      // virtual device and arguments: net_tap0,iface=app0; net_af_packet1,...; net_memif0,...; net_vhost0,...
	Rate      Value[units.Rate] `yaml:"rate"`        // handed over no faster; as fast as the device takes frames
	MAC       []Value[wire.MAC] `yaml:"mac"`         // addresses of applications that only answer; a tap's own, and those that have sent something, are known
	MTU       Value[int]        `yaml:"mtu"`         // longest frame without Ethernet header, tags and FCS, bytes; 1500, less what hpcc and the timely schemes add
	DSCP      Value[int]        `yaml:"dscp"`        // of IP frames that applications send with DSCP 0; they keep it
	ECN       Value[string]     `yaml:"ecn"`         // clear (applications do not see the network's marks) or keep; clear
	Flows     Value[int]        `yaml:"flows"`       // most flows sent at a time; 4096
	FlowQueue Value[int]        `yaml:"flow_queue"`  // frames of one flow that may wait; 256
	Queue     Value[int]        `yaml:"queue"`       // frames that may wait in all; 4096
	Full      Value[string]     `yaml:"full"`        // a flow's queue: drop its next frame, or hold the port; by the device, see holds
	Age       Value[units.Time] `yaml:"age"`         // a flow that was slowed down makes room after such a silence; 10s
	Release   Value[units.Time] `yaml:"release"`     // a flow that was not notified for so long sends at line rate again; 2s; 0s: never
	Period    Value[units.Time] `yaml:"cnp_period"`  // a flow takes one notification in it; the scheme's
	Match     []FlowRule        `yaml:"match"`       // weights, limits and tenants of flows; the first that matches counts
	Lossy     Value[units.Size] `yaml:"lossy_queue"` // towards the application, a lossy priority drops beyond it; 1MB
}

// FlowRule says which flows of applications have what weight, limit and tenant.
// What is absent matches anything.
type FlowRule struct {
	From  Value[Prefix] `yaml:"from"`     // address of the application here
	To    Value[Prefix] `yaml:"to"`       // of the other end
	Proto Value[string] `yaml:"protocol"` // tcp, udp, or a number
	Port  Value[int]    `yaml:"port"`     // at either end
	QP    Value[int]    `yaml:"qp"`       // RoCEv2 queue pair at the other end

	Rate   Value[units.Rate] `yaml:"rate"`   // never faster; absent: as the reaction point allows
	Weight Value[int]        `yaml:"weight"` // frames per turn when flows wait for the wire, 1 to 255; 1
	Tenant Value[string]     `yaml:"tenant"` // whose cap and turns it shares; none
}

// NICNode is the complete configuration of a NIC.
type NICNode struct {
	Config agent.NICConfig
	Link   fabric.Link // of the wire
	App    fabric.Link // to the application
	Scheme *scheme.Scheme

	switchNotifies bool // by CNPs, in place of the receiver
	warnings       []string
}

// IsNIC reports whether the agent carries the frames of applications.
func (c *Agent) IsNIC() bool { return c.Role.V == roleNIC }

// NICPorts are the wire and the application's port, in the order of the node's.
func (c *Agent) NICPorts() []Port {
	app := Port{Device: c.App.Device, Rate: c.App.Rate}
	app.Device.V = dpdk.WithRing(app.Device.V, c.App.MTU.Or(defaultMTU), applicationRing)
	return []Port{c.Port, app}
}

// applicationRing is how many frames the kernel's ring at a packet socket of
// applications holds: while the port is held, they wait there, old ones before new.
const applicationRing = 256

// NICMTUs are the longest frames at NICPorts without Ethernet header, VLAN tags
// and FCS: on the wire, what the scheme adds to the application's is among them.
// The configuration must have been checked.
func (c *Agent) NICMTUs() [2]int {
	n, err := c.ResolveNIC(nil)
	if err != nil {
		return [2]int{agent.Wire: defaultMTU, agent.Application: defaultMTU}
	}
	return [2]int{agent.Wire: n.Config.MTU + added(n.Config.Carry), agent.Application: n.Config.MTU}
}

// added is how much longer a scheme makes frames of applications.
func added(c cnp.Carry) int {
	if c.Tag && !c.Ack {
		return wire.CNTagLen
	}
	return agent.ShimLen(c)
}

// MTUHint says what can be done if the wire takes no frames as long as that; "" if
// the scheme adds nothing.
func (c *Agent) MTUHint() string {
	n, err := c.ResolveNIC(nil)
	if err != nil || added(n.Config.Carry) == 0 {
		return ""
	}
	return fmt.Sprintf("scheme %s adds up to %d bytes to a frame of mtu %d: `application: {mtu: %d}` fits into 1500", n.Scheme.Name, added(n.Config.Carry), n.Config.MTU, defaultMTU-added(n.Config.Carry))
}

// checkRole says what does not go together with the role.
func (c *Agent) checkRole() error {
	switch r := c.Role.Or(roleBoth); r {
	case roleBoth:
	case roleSender:
		if c.Receive.IsSet() {
			return fail(c.Receive, "receive: a sender takes no flows (role: both does)")
		}
	case roleReceiver:
		if len(c.Flows) > 0 {
			return fail(c.Flows[0].To, "flows: a receiver sends none (role: both does)")
		}
		if c.Send.IsSet() {
			return fail(c.Send, "send: a receiver sends none (role: both does)")
		}
		if c.Traffic.IsSet() {
			return fail(c.Traffic, "traffic: a receiver sends none (role: both does)")
		}
	case roleNIC:
		return c.checkNIC()
	default:
		return fail(c.Role, "role %q: sender, receiver, both or nic", r)
	}
	if line := lineIn(reflect.ValueOf(c.App)); line > 0 {
		return &Error{Line: line, Err: errors.New("application: only an agent with `role: nic` has one")}
	}
	return nil
}

// receivers is how many flows may be received at a time: a sender takes none.
func (c *Agent) receivers() int {
	if c.Role.V == roleSender {
		return 0
	}
	return c.Receive.Or(4096)
}

func (c *Agent) checkNIC() error {
	notHere := func(line int, key, why string) error {
		return &Error{Line: line, Err: fmt.Errorf("%s: %s", key, why)}
	}
	const own = "a NIC sends and receives nothing of its own (role: both does)"
	switch {
	case c.MAC.IsSet() && !c.MAC.V.Unicast():
		return fail(c.MAC, "mac %v: that is no address of a host (leave it out for the port's own)", c.MAC.V)
	case c.IP.IsSet():
		return notHere(c.IP.Line, "ip", "a NIC has no address of its own: the applications behind it have")
	case c.Gateway.isSet():
		return notHere(c.Gateway.line(), "gateway", own)
	case len(c.Flows) > 0:
		return notHere(c.Flows[0].To.Line, "flows", own)
	case c.Traffic.IsSet():
		return notHere(c.Traffic.Line, "traffic", own)
	case c.Results.IsSet():
		return notHere(c.Results.Line, "results", own)
	case c.Send.IsSet():
		return notHere(c.Send.Line, "send", own)
	case c.Payload.IsSet():
		return notHere(c.Payload.Line, "payload", own)
	case c.AckTimeout.IsSet():
		return notHere(c.AckTimeout.Line, "ack_timeout", own)
	case c.AckEvery.IsSet():
		return notHere(c.AckEvery.Line, "ack_every", own)
	case c.Recovery.IsSet():
		return notHere(c.Recovery.Line, "recovery", own)
	case c.Window.IsSet():
		return notHere(c.Window.Line, "window", own)
	case c.Reorder.IsSet():
		return notHere(c.Reorder.Line, "reorder", own)
	case c.LowTimeout.IsSet():
		return notHere(c.LowTimeout.Line, "low_timeout", own)
	case c.LowPackets.IsSet():
		return notHere(c.LowPackets.Line, "low_packets", own)
	case c.Memory != nil:
		return notHere(c.Memory.Size.Line, "memory", own)
	case c.Entropy.IsSet():
		return notHere(c.Entropy.Line, "entropy", own)
	case c.FlowletGap.IsSet():
		return notHere(c.FlowletGap.Line, "flowlet_gap", own)
	case c.Retries.IsSet():
		return notHere(c.Retries.Line, "retries", own)
	case c.AckDSCP.IsSet():
		return notHere(c.AckDSCP.Line, "ack_dscp", own)
	case c.DataDSCP.IsSet():
		return notHere(c.DataDSCP.Line, "data_dscp", "what applications send has a DSCP; `application: {dscp: 26}` sets it where it is 0")
	case c.PFC.Alpha.IsSet():
		return notHere(c.PFC.Alpha.Line, "alpha", "a NIC has no shared buffer, a switch does")
	case !c.App.Device.IsSet():
		return fail(c.Role, "a NIC needs a port for applications (`application: {device: \"net_tap0,iface=app0\"}`)")
	case !c.NICPorts()[1].virtual():
		return fail(c.App.Device, "application: device %s: a virtual device belongs here (net_tap0, net_af_packet1, net_memif0, net_vhost0)", c.App.Device.V)
	}
	if err := usedTwice(c.Port, Port{Device: c.App.Device}); err != nil {
		return err
	}
	return checkMTU(c.App.MTU)
}

// ResolveNIC works out the whole configuration of a NIC; devices are those of
// NICPorts, or nil as long as they are not open.
func (c *Agent) ResolveNIC(devices []dpdk.Device) (*NICNode, error) {
	n, err := c.resolveNIC(devices)
	return n, inFile(c.file, err)
}

func (c *Agent) resolveNIC(devices []dpdk.Device) (*NICNode, error) {
	var line dpdk.Device
	if devices != nil {
		line = devices[agent.Wire]
	}
	if err := c.checkReceive(); err != nil {
		return nil, err
	}
	if err := checkRate(c.App.Rate); err != nil {
		return nil, err
	}
	link := c.Port.link(c.Port.rate(line.Rate))
	a := &c.App
	n := &NICNode{Link: link, App: fabric.Link{Rate: a.Rate.V}, Config: agent.NICConfig{
		Link: link, MTU: a.MTU.Or(defaultMTU), MAC: c.MAC.Or(portMAC(line, 0)), DSCP: dataplane.DefaultDSCP(), PCP: dataplane.DefaultPCP(),
		Flows: a.Flows.Or(4096), FlowQueue: a.FlowQueue.Or(256), Queue: a.Queue.Or(4096), Age: a.Age.Or(10 * units.Second), Release: a.Release.Or(2 * units.Second),
		Pause: c.PFC.Pause.V, Tail: a.Lossy.Or(units.MB), Receivers: c.Receive.Or(4096),
	}}
	n.Config.Lossy = max(leastLossy, int(n.Config.Tail/256))
	s := &n.Config
	if err := c.nicPauses(s); err != nil {
		return nil, err
	}
	if err := c.nicCodePoints(s); err != nil {
		return nil, err
	}
	if err := c.nicFlows(s, devices); err != nil {
		return nil, err
	}
	if err := c.nicScheme(n); err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		return nil, fail(a.Device, "application: %v", err)
	}
	if s.PFC.Headroom < units.Size(s.MTU) {
		return nil, fail(c.PFC.Headroom, "headroom %v is less than a frame, %d B", s.PFC.Headroom, s.MTU)
	}
	n.warnings = append(n.warnings, c.nicWarnings(s, devices)...)
	return n, nil
}

// nicWarnings are about pauses of the NIC that do not keep its peer from overrunning it.
func (c *Agent) nicWarnings(s *agent.NICConfig, devices []dpdk.Device) (lines []string) {
	if s.Lossless == 0 {
		return nil
	}
	if need := c.PFC.headroom(c.Port, s.Link.Rate, s.MTU).Sum(); s.PFC.Headroom < need {
		lines = append(lines, fmt.Sprintf("  warning: headroom %v is less than the %v that the wire port needs; "+
			"lossless frames may be "+
			"lost when its peer is paused", s.PFC.Headroom, need))
	}
	if n := c.worldFrames() + shortFrames(s); devices != nil || c.DPDK.Frames.IsSet() {
		if have := c.frames(); have < n {
			lines = append(lines, fmt.Sprintf("  warning: %d frame buffers are fewer than the %d that short frames "+
				"of lossless priorities "+
				"may need; they may be lost if the application does not take them (`dpdk: {frames: %d}`)", have, n, n))
		}
	}
	response, gap := c.PFC.Response.Or(defaultResponse), c.PFC.pauseGap(c.Port, s.Link.Rate, s.MTU)
	return append(lines, warnOfPause("the wire port", s.Pause, s.Link.Rate, response, gap)...)
}

// leastLossy is how many frames of lossy priorities may wait for an application together, unless `lossy_queue` is
// large.
const leastLossy = 8192

// shortFrames is how many frames may wait in a NIC if they are the shortest: before the headroom of each lossless
// priority is full, of all lossy ones, and for the wire.
func shortFrames(s *agent.NICConfig) (n int) {
	for prio := range pfc.Classes {
		if s.Lossless>>prio&1 != 0 {
			n += int((s.PFC.XOFF+s.PFC.Headroom)/wire.MinFrameLen) + 1
		}
	}
	return n + s.Lossy + s.Queue
}

// nicFrames is how many frame buffers a NIC has: as many as may wait in it and in the rings of its devices, however
// short they are. Without a free one no XOFF could be sent. The rate of a card is not known yet.
func (c *Agent) nicFrames() int {
	usual := c.App.Queue.Or(4096) + 16384
	if n, err := c.resolveNIC(nil); err == nil {
		return max(usual, c.worldFrames()+shortFrames(&n.Config))
	}
	return usual
}

// frames is how many there are.
func (c *Agent) frames() int {
	if f := c.DPDK.Frames; f.IsSet() { // nicFrames resolves the configuration, which asks for this number
		return f.V
	}
	return c.nicFrames()
}

// worldFrames is how many of them rings and workers hold.
func (c *Agent) worldFrames() int {
	var devices []string
	for _, p := range c.NICPorts() {
		devices = append(devices, p.Device.V)
	}
	return dpdk.WorldBuffers(devices, c.DPDK.Workers.Or(1), 0)
}

// nicPauses works out when a NIC pauses its peer, and how late it obeys.
func (c *Agent) nicPauses(s *agent.NICConfig) (err error) {
	if s.Lossless, err = c.PFC.lossless(); err != nil {
		return err
	}
	if s.Judged = s.Lossless; c.Scheme.Priorities != nil {
		if s.Judged, err = setOf(c.Scheme.Priorities); err != nil {
			return err
		}
	}
	if s.PFC, err = c.PFC.thresholds(s.MTU); err != nil {
		return err
	}
	s.PFC.Headroom = c.PFC.Headroom.Or(c.PFC.headroom(c.Port, s.Link.Rate, s.MTU).Sum())
	for _, d := range []Value[units.Time]{c.NPDelay, c.PauseDelay} {
		if d.V < 0 {
			return fail(d, "delay %v must not be negative", d.V)
		}
	}
	s.NPDelay, s.PauseDelay = c.NPDelay.V, c.PauseDelay.V
	return nil
}

// nicCodePoints works out what a NIC reads from headers, and writes into them.
func (c *Agent) nicCodePoints(s *agent.NICConfig) (err error) {
	a := &c.App
	if err := priorities(c.DSCP, s.DSCP[:], "DSCP"); err != nil {
		return err
	}
	if s.SetDSCP, err = dscp(a.DSCP, 0); err != nil {
		return err
	}
	if s.ControlDSCP, err = dscp(c.CNPDSCP, cnpDSCP); err != nil {
		return err
	}
	s.HoldFull = holdsByDefault(a.Device.V)
	if a.Full.IsSet() {
		if s.HoldFull, err = choice(a.Full, "full", "hold", "drop"); err != nil {
			return err
		}
	}
	if s.ClearCE, err = choice(a.ECN, "ecn", "clear", "keep"); err != nil {
		return err
	}
	return nil
}

// nicFlows works out whose frames a NIC takes, and how it tells flows apart.
func (c *Agent) nicFlows(s *agent.NICConfig, devices []dpdk.Device) error {
	a := &c.App
	for _, m := range a.MAC {
		if !m.V.Unicast() {
			return fail(m, "application: mac %v: that is no address of a host", m.V)
		}
		s.Known = append(s.Known, m.V)
	}
	if devices != nil && isTap(a.Device.V) { // the kernel's side has the address that the device reports
		s.Known = append(s.Known, devices[agent.Application].MAC)
	}
	tenants, names, err := c.tenants()
	if err != nil {
		return err
	}
	s.Tenants = tenants
	for i := range a.Match {
		r, err := a.Match[i].resolve(names)
		if err != nil {
			return err
		}
		s.Rules = append(s.Rules, r)
	}
	return nil
}

// nicScheme gives a NIC its notification point, and what its flows' reaction points are made of.
func (c *Agent) nicScheme(n *NICNode) error {
	a, s := &c.App, &n.Config
	parts, recipe, err := c.Scheme.build(scheme.Network{Line: s.Link.Rate, Seed: uint64(s.MAC)})
	if err != nil {
		return err
	}
	if shim := agent.ShimLen(parts.Carry); shim > 0 && !a.MTU.IsSet() { // the wire's frames are as long as they usually are
		s.MTU -= shim
	}
	if s.Receivers < 1 {
		return fail(c.Receive, "receive %d: a NIC knows of at least 1 flow", s.Receivers)
	}
	n.Scheme, n.warnings = recipe, c.Scheme.inert(recipe, s.Link.Rate)
	_, n.switchNotifies = parts.CP(marking.Place{Rate: s.Link.Rate}).(marking.Notifier)
	s.NP, s.NewRP, s.Carry, s.Period = parts.NP(s.Receivers), parts.RP, parts.Carry, a.Period.Or(parts.Every)
	return nil
}

func (r *FlowRule) resolve(tenants map[string]int) (f agent.FlowRule, err error) {
	f = agent.FlowRule{From: r.From.V.Prefix, To: r.To.V.Prefix, Weight: r.Weight.Or(1), Limit: r.Rate.V}
	switch p := r.Proto.V; p {
	case "":
	case "tcp":
		f.Proto = wire.ProtoTCP
	case "udp":
		f.Proto = wire.ProtoUDP
	default:
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil || n == 0 {
			return f, fail(r.Proto, "protocol %q: tcp, udp, or a number from 1 to 255", p)
		}
		f.Proto = uint8(n)
	}
	if r.Port.IsSet() && (r.Port.V < 1 || r.Port.V > 65535) {
		return f, fail(r.Port, "port %d: from 1 to 65535", r.Port.V)
	}
	if r.QP.IsSet() && (r.QP.V < 1 || r.QP.V >= 1<<24) {
		return f, fail(r.QP, "queue pair %d: from 1 to %d", r.QP.V, 1<<24-1)
	}
	if r.Port.IsSet() && r.QP.IsSet() {
		return f, fail(r.QP, "a flow is named by ports or by a queue pair, not by both")
	}
	if from, to := f.From.Addr(), f.To.Addr(); from.IsValid() && to.IsValid() && from.Is4() != to.Is4() {
		return f, fail(r.To, "from %v to %v mixes IPv4 and IPv6: no flow is of both", f.From, f.To)
	}
	f.Port, f.QP = uint16(r.Port.V), uint32(r.QP.V)
	if f.Weight < 1 || f.Weight > ratelimit.MaxWeight {
		return f, fail(r.Weight, "weight %d: from 1 to %d", f.Weight, ratelimit.MaxWeight)
	}
	if r.Rate.IsSet() && f.Limit <= 0 {
		return f, fail(r.Rate, "rate %v must be positive", f.Limit)
	}
	if f.Tenant, err = tenant(tenants, r.Tenant.V); err != nil {
		return f, fail(r.Tenant, "%v", err)
	}
	return f, nil
}

func dscp(v Value[int], or int) (uint8, error) {
	if d := v.Or(or); d < 0 || d > 63 {
		return 0, fail(v, "DSCP %d: there are 0 to 63", d)
	}
	return uint8(v.Or(or)), nil
}

// choice reads one of two words, the first if nothing is set, and reports whether
// it is the first.
func choice(v Value[string], key, first, second string) (bool, error) {
	switch v.Or(first) {
	case first:
		return true, nil
	case second:
		return false, nil
	}
	return false, fail(v, "%s %q: %s or %s", key, v.V, first, second)
}

// holdsByDefault reports whether a port of applications is held by default when a flow's queue is full. With
// memif and vhost-user frames then wait in the program, and none is lost. Behind a tap and a packet
// socket there is only a ring of the kernel with frames of all flows: one flow would stop the others,
// and then the kernel would drop frames of any flow. Protocols there repair losses themselves.
func holdsByDefault(device string) bool {
	return !isTap(device) && !strings.HasPrefix(device, "net_af_packet")
}

func isTap(device string) bool { return strings.HasPrefix(device, "net_tap") }

// errNotHost is returned if a host is needed and the agent is a NIC.
var errNotHost = errors.New("an agent with `role: nic` is no host")

// Describe prints what is in force, for the operator to see at the start.
func (n *NICNode) Describe() []string {
	c := &n.Config
	full, ecn, set, app, taken := "drops its next frame", "kept", "kept", "as fast as the device takes frames", ""
	if c.HoldFull {
		full = "holds the application's port, other flows' frames too"
	}
	if c.ClearCE {
		ecn = "taken off"
	}
	if c.SetDSCP > 0 {
		set = fmt.Sprintf("%d where the application sets none", c.SetDSCP)
	}
	if n.App.Rate > 0 {
		app = n.App.Rate.String()
	}
	if c.Period > 0 {
		taken = fmt.Sprintf(", a flow takes one in %v", c.Period)
	}
	lines := []string{
		fmt.Sprintf("scheme %s: %s", n.Scheme.Name, n.Scheme.Summary),
		fmt.Sprintf("wire %v, to the application %s, mtu %d", n.Link.Rate, app, c.MTU),
		fmt.Sprintf("to the wire: %d flows, %d frames in all, %d of a flow, whose full queue %s; DSCP %s", c.Flows, c.Queue, c.FlowQueue, full, set),
		fmt.Sprintf("to the application: xoff %v, xon %v, headroom %v, lossy queues %v; marks are %s", c.PFC.XOFF, c.PFC.XON, c.PFC.Headroom, c.Tail, ecn),
		fmt.Sprintf("priorities with PFC: %s, with the scheme: %s; CNPs have priority %d%s",
			bitsOf(c.Lossless), bitsOf(c.Judged), c.DSCP[c.ControlDSCP], taken),
	}
	if c.NPDelay > 0 || c.PauseDelay > 0 {
		lines = append(lines, fmt.Sprintf("CNPs leave %v after they were decided, PFC frames are obeyed %v after they came", c.NPDelay, c.PauseDelay))
	}
	if len(c.Tenants)+len(c.Rules) > 0 {
		lines = append(lines, fmt.Sprintf("%d tenants, %d rules for flows", len(c.Tenants), len(c.Rules)))
	}
	if shim := agent.ShimLen(c.Carry); shim > 0 {
		lines = append(lines, fmt.Sprintf("frames under the scheme travel inside packets of the NICs' own, up to %d bytes longer, and each is answered: the other end must be a NIC, too", shim))
	}
	if n.switchNotifies {
		lines = append(lines, n.Scheme.Name+"'s switches notify RoCEv2 flows only: others are not slowed down")
	}
	if c.SetDSCP == 0 {
		lines = append(lines, fmt.Sprintf("frames of applications have the priorities of their DSCPs: "+
			"%s are lossless, %s under the scheme", bitsOf(c.Lossless), bitsOf(c.Judged)))
	}
	return append(lines, n.warnings...)
}
