package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"photon/agent"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/ratelimit"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// Agent is agent.yaml.
type Agent struct {
	Name       Value[string]      `yaml:"name"` // in metrics; agent
	Role       Value[string]      `yaml:"role"` // sender, receiver, both, or nic: the frames of applications, and nothing else; both
	Port       Port               `yaml:"port"`
	App        Application        `yaml:"application"` // of role nic
	MAC        Value[wire.MAC]    `yaml:"mac"`         // made from the address if absent: 02:00 and an IPv4 address's bytes
	IP         Value[wire.IP]     `yaml:"ip"`
	Gateway    Gateway            `yaml:"gateway"` // for flows out of the agent's network; none
	Scheme     Scheme             `yaml:"scheme"`
	PFC        PFC                `yaml:"pfc"`
	Payload    Value[units.Size]  `yaml:"payload"`          // of a full packet; 1000B
	DataDSCP   Value[int]         `yaml:"data_dscp"`        // 26
	CNPDSCP    Value[int]         `yaml:"cnp_dscp"`         // 48
	AckDSCP    Value[int]         `yaml:"ack_dscp"`         // 48
	DSCP       map[int]Value[int] `yaml:"dscp_to_priority"` // others: the class selector, DSCP/8
	AckEvery   Value[int]         `yaml:"ack_every"`        // one packet in so many asks to be acknowledged; 0: the last only; 32
	AckTimeout Value[units.Time]  `yaml:"ack_timeout"`      // without progress, until packets are sent again; 67ms
	Retries    Value[int]         `yaml:"retries"`          // in a row, before a flow fails; 7
	Recovery   Value[string]      `yaml:"recovery"`         // go_back_n: all is repeated from the packet on that is missing; selective: what is lost; go_back_n
	Window     Value[int]         `yaml:"window"`           // selective: packets of a flow under way; 512
	Reorder    Value[int]         `yaml:"reorder"`          // selective: a packet is lost when so many behind it have come; 1
	LowTimeout Value[units.Time]  `yaml:"low_timeout"`      // selective: in place of ack_timeout while few packets are under way; none
	LowPackets Value[int]         `yaml:"low_packets"`      // selective: few are so many, or fewer; 3
	Entropy    Value[string]      `yaml:"entropy"`          // what has a UDP source port of its own, by which switches choose paths: flow, packet or flowlet; flow
	FlowletGap Value[units.Time]  `yaml:"flowlet_gap"`      // entropy: flowlet: a flow that sent nothing for longer gets another port
	NPDelay    Value[units.Time]  `yaml:"np_delay"`         // from the decision to send a CNP until it is ready to leave; 0s
	PauseDelay Value[units.Time]  `yaml:"pause_delay"`      // from the arrival of a PFC frame until it is obeyed; 0s
	Memory     *Memory            `yaml:"memory"`           // what queue pairs that are not agents' may write to and read from; none
	Flows      []Flow             `yaml:"flows"`            // to send
	Traffic    Value[string]      `yaml:"traffic"`          // file of flows and workloads to send, relative to this one
	Results    Value[string]      `yaml:"results"`          // CSV file to which flows are written as they end; none
	Send       Value[int]         `yaml:"send"`             // most flows sent at a time; 4096, and at least those of flows
	Tenants    []Tenant           `yaml:"tenants"`          // groups of flows that share a cap and turns at the port
	Receive    Value[int]         `yaml:"receive"`          // most flows received at a time; 4096
	Metrics    Value[string]      `yaml:"metrics"`          // address, or off; 127.0.0.1:9464
	Series     Series             `yaml:"series"`           // what has series of its own in them
	Admin      Value[string]      `yaml:"admin"`            // path of the admin socket, or off; /run/photon/NAME.sock
	Live       Live               `yaml:"live"`             // page for browsers
	PProf      Value[string]      `yaml:"pprof"`            // loopback address of the runtime's profiles, as in 127.0.0.1:6060; none
	DPDK       DPDK               `yaml:"dpdk"`

	file string
}

// Flow is a flow to send.
type Flow struct {
	To    Value[wire.IP]    `yaml:"to"`
	ToMAC Value[wire.MAC]   `yaml:"to_mac"` // absent: the gateway's, or made from the address as the peer's agent does
	QP    Value[int]        `yaml:"qp"`     // both ends use it, between agents; the flow's place in the list, from 1
	Count Value[int]        `yaml:"count"`  // equal flows, with QPs that follow each other; 1
	PSN   Value[int]        `yaml:"psn"`    // the queue pair is of a network card or Soft-RoCE, and expects this PSN first; absent: it is of an agent
	Size  Value[units.Size] `yaml:"size"`   // of payload; absent: until the agent stops
	Start Value[units.Time] `yaml:"start"`  // after the agent's start; 0s

	Rate   Value[units.Rate] `yaml:"rate"`   // never faster; absent: as the reaction point allows
	Weight Value[int]        `yaml:"weight"` // frames per turn when flows wait for the port, 1 to 255; 1
	Tenant Value[string]     `yaml:"tenant"` // whose cap and turns it shares; none

	// With a psn: size is that of a message.
	LocalQP  Value[int] `yaml:"local_qp"` // number of the agent's own queue pair; qp
	PeerPSN  Value[int] `yaml:"peer_psn"` // that the peer sends first; absent: whatever comes first
	Messages Value[int] `yaml:"messages"` // one after the other; 0: the agent only answers; 1
	Write    *Remote    `yaml:"write"`    // messages are RDMA WRITEs; absent: SENDs
	Read     *Remote    `yaml:"read"`     // messages are RDMA READs
	Receive  *Buffers   `yaml:"receive"`  // where the peer's SENDs are put; absent: they are not kept
}

// Tenant is a group of flows.
type Tenant struct {
	Name   Value[string]     `yaml:"name"`
	Weight Value[int]        `yaml:"weight"` // frames per turn at the port, of all its flows together, 1 to 255; 1
	Cap    Value[units.Rate] `yaml:"cap"`    // of all its flows together, on the wire; none
}

// ReadAgent reads and checks a file.
func ReadAgent(file string) (*Agent, error) {
	b, err := ReadText(file)
	if err != nil {
		return nil, err
	}
	return ParseAgent(file, b)
}

// ParseAgent is ReadAgent of a text that was read already; file is for errors.
func ParseAgent(file string, b []byte) (*Agent, error) {
	c := &Agent{}
	if err := Decode(file, b, c); err != nil {
		return nil, err
	}
	c.file = file // an empty file leaves nothing in c
	return c, c.Check()
}

// AgentNode is a host that is ready to be made.
type AgentNode struct {
	Config  agent.Config // but for NP and NewRP's network
	Link    fabric.Link
	Flows   []agent.FlowSpec
	Scheme  *scheme.Scheme
	Gateway Gateway

	tenants  map[string]int
	warnings []string
}

// Tenant is the number by which flows name a tenant; 0 for the empty name.
func (n *AgentNode) Tenant(name string) (int, error) { return tenant(n.tenants, name) }

func tenant(tenants map[string]int, name string) (int, error) {
	if i, ok := tenants[name]; ok || name == "" {
		return i, nil
	}
	return 0, fmt.Errorf("there is no tenant %q (`tenants:` names them)", name)
}

// Check finds what can be known without opening the device.
func (c *Agent) Check() error {
	if err := tooMuch(reflect.ValueOf(c)); err != nil {
		return inFile(c.file, err)
	}
	if err := checkListening(c.Metrics, c.Series, c.Admin, c.Name, c.Live, c.PProf); err != nil {
		return inFile(c.file, err)
	}
	if err := c.Port.check(); err != nil {
		return inFile(c.file, err)
	}
	if err := c.Port.checkAgents(); err != nil {
		return inFile(c.file, err)
	}
	if err := c.checkRole(); err != nil {
		return inFile(c.file, err)
	}
	if err := cmp.Or(c.PFC.check(), c.ofOthers()); err != nil {
		return inFile(c.file, err)
	}
	if err := c.DPDK.check(); err != nil {
		return inFile(c.file, err)
	}
	if n := c.DPDK.Workers.Or(1); n != 1 {
		return inFile(c.file, fail(c.DPDK.Workers, "%d workers: an agent has one port and one worker", n))
	}
	if c.IsNIC() {
		if _, err := c.ResolveNIC(nil); err != nil {
			return err
		}
	} else if _, err := c.Resolve(nil); err != nil {
		return err
	}
	return inFile(c.file, c.checkDevices())
}

// checkDevices says what is wrong with what devices are told. The rest of the configuration is right.
func (c *Agent) checkDevices() error {
	if !c.IsNIC() {
		return c.Port.checkDevice(c.MTU(), c.MTU())
	}
	mtus := c.NICMTUs()
	for i, p := range c.NICPorts() {
		if err := p.checkDevice(mtus[i], max(mtus[0], mtus[1])); err != nil {
			return err
		}
	}
	return nil
}

// File is where the configuration was read from; empty: nowhere.
func (c *Agent) File() string { return c.file }

// TrafficFile is the file of flows and workloads; empty: there is none. A
// relative path begins at this configuration's folder.
func (c *Agent) TrafficFile() string {
	if c.Traffic.V == "" || filepath.IsAbs(c.Traffic.V) {
		return c.Traffic.V
	}
	return filepath.Join(filepath.Dir(c.file), c.Traffic.V)
}

// ReadTraffic reads the file of flows and workloads; nil: there is none.
func (c *Agent) ReadTraffic() ([]byte, error) {
	if c.Traffic.V == "" {
		return nil, nil
	}
	b, err := os.ReadFile(c.TrafficFile())
	if err != nil {
		return nil, inFile(c.file, fail(c.Traffic, "traffic %s: %v", c.TrafficFile(), plainFileError(err)))
	}
	return b, nil
}

// ResultsFile opens the file to which flows are written as they end, at its end; nil: there is none.
func (c *Agent) ResultsFile() (*os.File, error) {
	r := c.Results
	if err := writable("results", r, r.V); err != nil || r.V == "" {
		return nil, inFile(c.file, err)
	}
	f, err := os.OpenFile(r.V, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, inFile(c.file, fail(r, "results %s: %v", r.V, plainFileError(err)))
	}
	return f, nil
}

// CheckFolders says which file cannot be written because its folder is not there, or because it is no file. It
// writes nothing.
func (c *Agent) CheckFolders() error {
	err := writable("results", c.Results, c.Results.V)
	if err == nil && c.Memory != nil {
		err = writable("memory: file", c.Memory.File, c.memoryPath())
	}
	return inFile(c.file, err)
}

// writable checks the path of a file that is to be written, which v names; empty: there is none.
func writable(key string, v Value[string], path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return fail(v, "%s %s: that is not a file", key, path)
		}
		return nil
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil {
		return fail(v, "%s %s: folder %s: %v", key, path, dir, plainFileError(err))
	}
	if !info.IsDir() {
		return fail(v, "%s %s: %s is not a folder", key, path, dir)
	}
	return nil
}

// MetricsAddress is where metrics are served; empty: nowhere.
func (c *Agent) MetricsAddress() string {
	a, _ := metricsAddress(c.Metrics) // Check has seen it
	return a
}

// AdminSocket is where the admin socket is to be.
func (c *Agent) AdminSocket() Admin {
	a, _ := admin(c.Admin, c.Name) // Check has seen it
	return a
}

// Options are those of the world.
func (c *Agent) Options() dpdk.Options {
	if c.IsNIC() {
		return c.DPDK.options(c.NICPorts(), c.nicFrames(), c.NICMTUs()[agent.Wire])
	}
	return c.DPDK.options([]Port{c.Port}, 20_000, c.MTU())
}

// Resolve works out the whole configuration; device is nil as long as it is not open.
func (c *Agent) Resolve(device *dpdk.Device) (*AgentNode, error) {
	n, err := c.resolve(device)
	return n, inFile(c.file, err)
}

func (c *Agent) resolve(device *dpdk.Device) (*AgentNode, error) {
	if c.IsNIC() {
		return nil, errNotHost
	}
	if !c.IP.IsSet() {
		return nil, errors.New("an agent needs its address (`ip: 10.0.0.1`)")
	}
	if !c.IP.V.Unicast() {
		return nil, fail(c.IP, "ip %v: that is no address of a host", c.IP.V)
	}
	if m := c.MAC; m.IsSet() && !m.V.Unicast() {
		return nil, fail(m, "mac %v: that is no address of a host (leave it out for one that is made from the `ip`)", m.V)
	}
	if p := c.Scheme.Priorities; p != nil {
		return nil, FailIn([]any{p}, "scheme: priorities: all flows of an agent have it (a switch or a NIC has some)")
	}
	if err := c.Gateway.check(c.IP); err != nil {
		return nil, err
	}
	if p := c.Payload; p.IsSet() && (p.V < 1 || p.V > 9000) {
		return nil, fail(p, "payload %v must be from 1B to 9KB", p.V)
	}
	if err := c.checkReceive(); err != nil {
		return nil, err
	}
	if err := c.checkPatience(); err != nil {
		return nil, err
	}
	lossless, err := c.PFC.lossless()
	if err != nil {
		return nil, err
	}
	var reported units.Rate
	if device != nil {
		reported = device.Rate
	}
	link := c.Port.link(c.Port.rate(reported))
	n := &AgentNode{Link: link, Gateway: c.Gateway, Config: agent.Config{
		MAC: c.MAC.Or(MACFor(c.IP.V)), IP: c.IP.V, Link: link, Lossless: lossless, DSCP: dataplane.DefaultDSCP(), Announce: true,
		Payload:  int(c.Payload.Or(1000)),
		AckEvery: c.AckEvery.Or(32), AckTimeout: c.AckTimeout.Or(agent.UsualTimeout), Retries: c.Retries.Or(7),
		NPDelay: c.NPDelay.V, PauseDelay: c.PauseDelay.V, Receivers: c.receivers(), Age: 10 * units.Second, Finished: 1 << 16,
	}}
	if n.Config.Entropy, err = c.entropy(); err != nil {
		return nil, err
	}
	if n.Config.Selective, err = c.selective(); err != nil {
		return nil, err
	}
	if err := priorities(c.DSCP, n.Config.DSCP[:], "DSCP"); err != nil {
		return nil, err
	}
	for _, d := range []struct {
		v    Value[int]
		or   int
		into *uint8
	}{{c.DataDSCP, 26, &n.Config.DataDSCP}, {c.CNPDSCP, cnpDSCP, &n.Config.ControlDSCP}, {c.AckDSCP, cnpDSCP, &n.Config.AckDSCP}} {
		v := d.v.Or(d.or)
		if v < 0 || v > 63 {
			return nil, fail(d.v, "DSCP %d: there are 0 to 63", v)
		}
		*d.into = uint8(v)
	}
	for _, d := range []Value[units.Time]{c.NPDelay, c.PauseDelay} {
		if d.V < 0 {
			return nil, fail(d, "delay %v must not be negative", d.V)
		}
	}
	if n.Config.Tenants, n.tenants, err = c.tenants(); err != nil {
		return nil, err
	}
	if n.Config.Memory, err = c.Memory.build(device != nil); err != nil {
		return nil, err
	}
	if err := c.flows(n); err != nil {
		return nil, err
	}
	parts, recipe, err := c.Scheme.build(scheme.Network{Line: link.Rate, Seed: uint64(n.Config.MAC)})
	if err != nil {
		return nil, err
	}
	n.Scheme, n.warnings = recipe, c.Scheme.inert(recipe, link.Rate)
	n.Config.NP, n.Config.NewRP, n.Config.Carry, n.Config.Period = parts.NP(n.Config.Receivers), parts.RP, parts.Carry, parts.Every
	n.Config.MTU = mtu(&n.Config)
	if err := n.Config.Check(); err != nil {
		return nil, err
	}
	return n, nil
}

// entropy is what has a source port of its own.
func (c *Agent) entropy() (e agent.Entropy, err error) {
	kind, gap := c.Entropy, c.FlowletGap
	by := slices.Index(agent.EntropyKinds, kind.Or(agent.EntropyKinds[agent.PerFlow]))
	if by < 0 {
		return e, fail(kind, "entropy %q: one of %s", kind.V, strings.Join(agent.EntropyKinds, ", "))
	}
	e = agent.Entropy{By: agent.EntropyKind(by), Gap: gap.V}
	switch {
	case e.By == agent.PerFlowlet && gap.V <= 0:
		return e, fail(kind, "entropy: flowlet needs a flowlet_gap (write it like `flowlet_gap: 50us`)")
	case e.By != agent.PerFlowlet && gap.IsSet():
		return e, fail(gap, "flowlet_gap: that is of `entropy: flowlet`")
	case e.By != agent.PerFlow && c.Recovery.V != "selective":
		return e, fail(kind, "entropy: %s: packets then overtake each other, which only selective repeat allows (`recovery: selective`)",
			kind.V)
	}
	return e, nil
}

// mostFlows bounds the memory of an agent.
const mostFlows = 1 << 20

// checkReceive says what is no number of flows to receive.
func (c *Agent) checkReceive() error {
	if r := c.Receive; r.V < 0 || r.V > mostFlows {
		return fail(r, "receive %d: from 0 to %d", r.V, mostFlows)
	}
	return nil
}

// selective is how lost packets are repeated, if selectively; nil: the sender goes back to the first.
func (c *Agent) selective() (*agent.Selective, error) {
	r, w, o := c.Recovery, c.Window, c.Reorder
	switch {
	case r.IsSet() && r.V != "go_back_n" && r.V != "selective":
		return nil, fail(r, "recovery %q: go_back_n or selective", r.V)
	case r.V != "selective" && w.IsSet():
		return nil, fail(w, "window: that is of selective repeat (`recovery: selective`)")
	case r.V != "selective" && o.IsSet():
		return nil, fail(o, "reorder: that is of selective repeat (`recovery: selective`)")
	case r.V != "selective" && c.LowTimeout.IsSet():
		return nil, fail(c.LowTimeout, "low_timeout: that is of selective repeat (`recovery: selective`)")
	case !c.LowTimeout.IsSet() && c.LowPackets.IsSet():
		return nil, fail(c.LowPackets, "low_packets: for so many there is a low_timeout (write it like `low_timeout: 100us`)")
	case r.V != "selective":
		return nil, nil
	}
	s := &agent.Selective{Window: w.Or(512), Reorder: o.Or(1), LowTimeout: c.LowTimeout.V}
	s.LowPackets = c.LowPackets.Or(min(agent.DefaultLowPackets, s.Window))
	if w.IsSet() && (w.V < 1 || w.V > agent.MostWindow) {
		return nil, fail(w, "window %d: from 1 to %d packets", w.V, agent.MostWindow)
	}
	if s.Reorder < 1 || s.Reorder > s.Window {
		return nil, fail(o, "reorder %d: from 1 packet to the window, %d", s.Reorder, s.Window)
	}
	if t, most := c.LowTimeout, c.AckTimeout.Or(agent.UsualTimeout); t.IsSet() && (t.V <= 0 || t.V > most) {
		return nil, fail(t, "low_timeout %v: more than 0s, at most ack_timeout, %v", t.V, most)
	}
	if s.LowPackets < 1 || s.LowPackets > s.Window {
		return nil, fail(c.LowPackets, "low_packets %d: from 1 packet to the window, %d", s.LowPackets, s.Window)
	}
	return s, nil
}

// checkPatience says what is wrong with how losses are dealt with.
func (c *Agent) checkPatience() error {
	if n := c.AckEvery; n.V < 0 || n.V > agent.MostAckEvery {
		return fail(n, "ack_every %d: from 0 (the last packet of a flow only) to %d", n.V, agent.MostAckEvery)
	}
	if t := c.AckTimeout; t.IsSet() && (t.V <= 0 || t.V > agent.MostTimeout) {
		return fail(t, "ack_timeout %v: more than 0s, at most %v", t.V, agent.MostTimeout)
	}
	if n := c.Retries; n.IsSet() && (n.V < 1 || n.V > agent.MostRetries) {
		return fail(n, "retries %d: from 1 to %d", n.V, agent.MostRetries)
	}
	return nil
}

// tenants are what `tenants:` says, and their numbers by name.
func (c *Agent) tenants() (all []ratelimit.Tenant, names map[string]int, err error) {
	names = map[string]int{}
	for i, t := range c.Tenants {
		if t.Name.V == "" {
			return nil, nil, fail(t.Cap, "tenant %d needs a name", i+1)
		}
		if names[t.Name.V] > 0 {
			return nil, nil, fail(t.Name, "tenant %s is there twice", t.Name.V)
		}
		r := ratelimit.Tenant{Weight: t.Weight.Or(1), Cap: t.Cap.V}
		if err := r.Validate(); err != nil {
			wrong := cmp.Or(t.Weight.Line, t.Name.Line)
			if t.Cap.V < 0 {
				wrong = t.Cap.Line
			}
			return nil, nil, &Error{Line: wrong, Err: fmt.Errorf("tenant %s: %w", t.Name.V, err)}
		}
		all = append(all, r)
		names[t.Name.V] = len(all)
	}
	return all, names, nil
}

func (c *Agent) flows(n *AgentNode) error {
	used, own := map[string]bool{}, map[string]bool{} // queue pairs of peers, and of the agent with peers
	for i, f := range c.Flows {
		if !f.To.IsSet() {
			return fail(f.QP, "flow %d does not say where to (`to: 10.0.0.2`)", i+1)
		}
		if !f.To.V.Unicast() {
			return fail(f.To, "to %v: that is no address of a host", f.To.V)
		}
		if m := f.ToMAC; m.IsSet() && !m.V.Unicast() {
			return fail(m, "to_mac %v: that is no address of a host (leave it out if the peer is an agent without a `mac`)", m.V)
		}
		if f.To.V == c.IP.V {
			return fail(f.To, "a flow to %v, the agent's own address", f.To.V)
		}
		if f.To.V.Is4() != c.IP.V.Is4() {
			return fail(f.To, "a flow from %v to %v mixes IPv4 and IPv6", c.IP.V, f.To.V)
		}
		tenant, err := n.Tenant(f.Tenant.V)
		if err != nil {
			return fail(f.Tenant, "%v", err)
		}
		if w := f.Weight.Or(1); w < 1 || w > ratelimit.MaxWeight {
			return fail(f.Weight, "weight %d: from 1 to %d", w, ratelimit.MaxWeight)
		}
		if f.Rate.V < 0 {
			return fail(f.Rate, "rate %v must be positive", f.Rate.V)
		}
		if n := f.Count.Or(1); n < 1 || n > mostFlows {
			return fail(f.Count, "count %d: from 1 to %d", n, mostFlows)
		}
		if f.Size.V < 0 {
			return fail(f.Size, "size %v must not be negative (leave it out for an endless flow)", f.Size.V)
		}
		if f.Size.IsSet() && f.Size.V == 0 && !f.PSN.IsSet() { // only queue pairs have messages of no bytes
			return fail(f.Size, "size 0B: a flow has something to send (leave it out for an endless flow)")
		}
		if f.Start.V < 0 {
			return fail(f.Start, "start %v must not be negative", f.Start.V)
		}
		pair, err := f.pair(c, n.Config.Payload)
		if err != nil {
			return err
		}
		for k := range f.Count.Or(1) {
			qp := f.QP.Or(len(n.Flows)+1-k) + k
			if qp < 1 || qp >= 1<<24 { // agent.Traffic gives a flow on 0 another
				return fail(f.QP, "queue pair %d: there are 1 to %d (without `qp`, its place in the list is taken)",
					qp, 1<<24-1)
			}
			id := fmt.Sprint(f.To.V, qp)
			if used[id] {
				return fail(f.QP, "queue pair %d to %v is used twice", qp, f.To.V)
			}
			used[id] = true
			local := uint32(qp)
			if pair != nil {
				local = pair.Local
			}
			if id = fmt.Sprint(f.To.V, local); own[id] {
				return FailIn([]any{f.LocalQP, f.QP, f.To}, "the agent's own queue pair %d, to %v, is used twice "+
					"(a flow with a psn has another by `local_qp: N`)", local, f.To.V)
			}
			own[id] = true
			n.Flows = append(n.Flows, agent.FlowSpec{
				Peer: f.To.V, PeerMAC: f.ToMAC.Or(n.Gateway.MACTo(f.To.V)), QP: uint32(qp),
				Size: f.Size.V * units.Size(f.Messages.Or(1)), Start: f.Start.V, Limit: f.Rate.V,
				Weight: f.Weight.Or(1), Tenant: tenant, PSN: uint32(f.PSN.V), Pair: pair,
			})
		}
	}
	n.Config.Senders = c.Send.Or(max(len(n.Flows), 4096))
	if n.Config.Senders < max(1, len(n.Flows)) || n.Config.Senders > mostFlows {
		return fail(c.Send, "send %d: at least the %d flows of this file, at most %d", n.Config.Senders, len(n.Flows), mostFlows)
	}
	return nil
}

// Describe prints what is in force, for the operator to see at the start.
func (n *AgentNode) Describe() []string {
	c := &n.Config
	acknowledged := fmt.Sprintf("once in %d packets", c.AckEvery)
	switch {
	case c.Carry.Ack || c.AckEvery == 1 || c.Selective != nil:
		acknowledged = "packet by packet"
	case c.AckEvery == 0:
		acknowledged = "at their end"
	}
	again := "sent again"
	if s := c.Selective; s != nil {
		again = fmt.Sprintf("selectively sent again (%v) or", s)
	}
	return append([]string{
		fmt.Sprintf("scheme %s: %s", n.Scheme.Name, n.Scheme.Summary),
		fmt.Sprintf(
			"address %v, %v, link %v, payload %d B%s", c.IP, c.MAC, n.Link.Rate, c.Payload, n.Gateway.describe(),
		),
		fmt.Sprintf("priority of data %d, of CNPs %d, of acknowledgements %d; PFC obeyed on %08b", c.DSCP[c.DataDSCP], c.DSCP[c.ControlDSCP], c.DSCP[c.AckDSCP], c.Lossless),
		fmt.Sprintf("%d flows to send, up to %d received; acknowledged %s, %s after %v, given up after %d retries",
			len(n.Flows), c.Receivers, acknowledged, again, c.AckTimeout, c.Retries),
	}, n.warnings...)
}
