package build

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/dataplane"
	"photon/fabric"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/pfc"
	"photon/scheme"
	"photon/sim"
	"photon/units"
	"photon/wire"
)

// Whatever the network is, lossless means lossless: topologies, rates, delays, frames, thresholds, pools,
// priorities, workers, schemes and events are drawn at random. More are tried by
//
//	go test ./lab/build -run Networks -rapid.checks=10000
func TestNetworksLoseNothing(t *testing.T) {
	plain := Wrap
	defer func() { Wrap, AddAllAtStart = plain, false }()
	AddAllAtStart = true // and receivers forget nothing: they are asked what they took
	rapid.Check(t, func(t *rapid.T) {
		c := drawNetwork(t)
		if err := c.check(); err != nil {
			t.Fatalf("%v\n%s", err, c.text())
		}
	})
}

// randomNetwork is one case. Text is of an experiment; what experiments cannot ask for stands beside it.
type randomNetwork struct {
	scheme       string
	kind, sizes  string
	groups       [][]string // hosts that send to each other: those behind one switch or two neighbours
	trunk        string     // a link that can fail; empty: none
	line, fast   units.Rate
	near, far    units.Time
	mtu, payload units.Size
	lossless     []int
	ackLossless  bool
	xoff, xon    units.Size
	alpha        string
	beyond       units.Size // of the buffer, what is not reserved
	flows        []randomFlow
	workers      int
	gap          units.Time
	fails        [2]units.Time // down and up; 0, 0: it does not
	reloadAt     units.Time    // 0: there is none
	reloadXOFF   units.Size
	reloadAlpha  float64
	storm        [2]units.Time // of the host to which the first flow goes; 0, 0: there is none
	watchdog     pfc.WatchdogConfig
	lane         units.Size // buffer of a lane with credits; 0: there is PFC
	update       units.Size

	taken   map[int]uint64 // packets, by flow that has ended
	ended   units.Time     // when all lossless flows had
	stopped bool           // lossy flows that had not ended: their acknowledgements are strangers
}

type randomFlow struct {
	from, to string
	size     units.Size
	start    units.Time
	prio     int
}

const lossyPriority = 1

func pick[T any](t *rapid.T, name string, of ...T) T { return rapid.SampledFrom(of).Draw(t, name) }

func drawNetwork(t *rapid.T) *randomNetwork {
	c := &randomNetwork{scheme: pick(t, "scheme", scheme.Names()...)}
	rates := []units.Rate{1, 10, 25, 40, 50, 100, 200, 400}
	if c.scheme == "hpcc" {
		rates = []units.Rate{25, 50, 100, 200, 400} // that INT can name
	}
	c.line, c.fast = pick(t, "link_rate", rates...)*units.Gbps, pick(t, "trunk_rate", rates...)*units.Gbps
	delay := func(name string) units.Time {
		return pick(t, name, 10*units.Nanosecond, 100*units.Nanosecond, units.Microsecond, 5*units.Microsecond, 50*units.Microsecond, 500*units.Microsecond)
	}
	c.near, c.far = delay("host_delay"), delay("trunk_delay")
	c.mtu = pick[units.Size](t, "mtu", 1500, 9000)
	c.payload = pick(t, "payload", 2, 64, 256, 1000, 1024, c.mtu-100)
	c.topology(t)
	c.lossless = [][]int{{3}, {3, 4}, {3, 4, 5}}[rapid.IntRange(0, 2).Draw(t, "lossless")]
	c.thresholds(t)
	c.traffic(t)
	c.workers = rapid.IntRange(1, 3).Draw(t, "workers")
	c.gap = pick(t, "gap", 10*units.Nanosecond, 300*units.Nanosecond, 3*units.Microsecond)
	c.events(t)
	c.credits(t)
	return c
}

func (c *randomNetwork) topology(t *rapid.T) {
	hosts := rapid.IntRange(1, 4).Draw(t, "hosts")
	n := rapid.IntRange(2, 4).Draw(t, "switches")
	on := func(s ...int) (list []string) {
		for _, s := range s {
			for h := range hosts {
				list = append(list, fmt.Sprintf("H%d-%d", s, h))
			}
		}
		return list
	}
	all := func(n int) (list []string) {
		for h := range n {
			list = append(list, fmt.Sprintf("H%d", h))
		}
		return list
	}
	switch c.kind = pick(t, "topology", "star", "chain", "ring", "leaf-spine"); c.kind {
	case "star":
		c.sizes, c.groups = fmt.Sprintf("hosts: %d", hosts+1), [][]string{all(hosts + 1)}
	case "chain":
		c.sizes = fmt.Sprintf("switches: %d, hosts: %d", n, hosts)
		every := []int{}
		for s := range n {
			every = append(every, s)
		}
		c.groups = [][]string{on(every...)}
	case "ring": // without a deadlock: no frame crosses two of its links, but when one of them has failed
		n = max(3, n)
		c.sizes, c.trunk = fmt.Sprintf("switches: %d, hosts: %d", n, hosts), "S0>S1"
		for s := range n {
			c.groups = append(c.groups, on(s, (s+1)%n))
		}
	default:
		spines := rapid.IntRange(1, 3).Draw(t, "spines")
		c.sizes = fmt.Sprintf("tors: %d, hosts: %d, spines: %d", n, hosts, spines)
		if c.groups = [][]string{all(n * hosts)}; spines > 1 {
			c.trunk = "T0>C0"
		}
	}
}

func (c *randomNetwork) thresholds(t *rapid.T) {
	frame := c.payload + 100
	c.xoff = pick(t, "xoff", frame, 2*frame, 5*frame, 30*frame, c.mtu, 20*c.mtu)
	c.alpha = pick(t, "alpha", "0", "0.02", "0.125", "1", "8")
	if c.alpha != "0" && rapid.Bool().Draw(t, "nothing set aside") {
		c.xoff = 1
	}
	c.xon = units.Size(rapid.Int64Range(0, int64(c.xoff)).Draw(t, "xon"))
	c.beyond = pick(t, "beyond", 0, c.mtu+18, 5*frame, 40*frame, 100*units.KB, 2*units.MB)
	c.ackLossless = rapid.Bool().Draw(t, "lossless acknowledgements") || c.beyond < 50*frame // or none would pass
}

func (c *randomNetwork) traffic(t *rapid.T) {
	incast := rapid.Bool().Draw(t, "incast")
	for i := range rapid.IntRange(1, 8).Draw(t, "flows") {
		among := pick(t, "group", c.groups...)
		to := pick(t, "to", among...)
		if incast && i > 0 && slices.Contains(among, c.flows[0].to) {
			to = c.flows[0].to
		}
		from := slices.DeleteFunc(slices.Clone(among), func(h string) bool { return h == to })
		f := randomFlow{from: pick(t, "from", from...), to: to, prio: pick(t, "priority", append(slices.Clone(c.lossless), lossyPriority)...)}
		if i == 0 {
			f.prio = c.lossless[0]
		}
		packets := units.Size(pick(t, "packets", 1, 10, 100, 400))
		f.size = packets*c.payload - units.Size(rapid.Int64Range(0, int64(c.payload)-1).Draw(t, "less"))
		f.start = units.Time(rapid.IntRange(0, 50).Draw(t, "start")) * units.Microsecond
		c.flows = append(c.flows, f)
	}
}

func (c *randomNetwork) events(t *rapid.T) {
	at := func(name string) units.Time {
		return pick(t, name, 20*units.Microsecond, 100*units.Microsecond, units.Millisecond, 5*units.Millisecond)
	}
	if c.trunk != "" && rapid.Bool().Draw(t, "a link fails") {
		c.fails[0] = at("fails")
		c.fails[1] = c.fails[0] + at("comes back")
	}
	if rapid.Bool().Draw(t, "a reload") {
		c.reloadAt, c.reloadXOFF = at("reloads"), units.Size(rapid.Int64Range(1, int64(c.xoff)).Draw(t, "xoff then"))
		c.reloadAlpha = pick(t, "alpha then", 0, 0.02, 1)
	}
	if rapid.Bool().Draw(t, "a storm") {
		c.storm[0] = at("storms")
		c.storm[1] = c.storm[0] + 4*at("storms for")
	}
	if rapid.Bool().Draw(t, "a watchdog") {
		c.watchdog = pfc.WatchdogConfig{Detect: at("detect"), Restore: at("restore"), Action: pick(t, "action", pfc.Drop, pfc.Forward)}
	}
}

// credits may take the place of PFC.
func (c *randomNetwork) credits(t *rapid.T) {
	if !rapid.Bool().Draw(t, "credits") {
		return
	}
	longest := max(c.mtu+22, c.payload+200)
	c.lane = pick(t, "lane buffer", longest+64, 2*longest, 20*longest, 128*units.KiB, 200*units.KB)
	c.update = pick[units.Size](t, "update", 0, 64, 4096)
	if c.fails[1] > 0 { // what was on its way when it failed must have arrived when it is back
		c.fails[1] = max(c.fails[1], c.fails[0]+c.far+c.fast.Serialize(c.mtu+100)+units.Nanosecond)
		c.fails[1] -= c.fails[1] % units.Nanosecond
	}
	if c.watchdog.Action = pick(t, "action", pfc.Drop, pfc.Alert); c.watchdog.Detect > 0 {
		c.watchdog.Detect = max(c.watchdog.Detect, units.Millisecond) // a credit takes a round trip
	}
}

// text is the experiment. What it cannot ask for is in comments.
func (c *randomNetwork) text() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# %d workers that look every %v; storm %v; watchdog %+v; thresholds at %v: xoff %v, alpha %v", c.workers, c.gap, c.storm, c.watchdog, c.reloadAt, c.reloadXOFF, c.reloadAlpha)
	p("id: test/random\ntitle: random\nduration: 100s\nseed: 1\ntopology: {kind: %s, %s}\nparameters:", c.kind, c.sizes)
	p("  link_rate: %s\n  trunk_rate: %s\n  host_delay: %s\n  trunk_delay: %s", yamlRate(c.line), yamlRate(c.fast), yamlTime(c.near), yamlTime(c.far))
	p("  payload: %dB\n  mtu: %dB\n  priority: %d", int64(c.payload), int64(c.mtu), c.lossless[0])
	if c.lane > 0 {
		p("  flow_control: credits\n  lane_buffer: %dB\n  credit_update: %dB", int64(c.lane), int64(min(c.update, c.lane)))
	} else {
		p("  xoff: %dB\n  xon: %dB\n  alpha: %s\n  pause_delay: %s", int64(c.xoff), int64(c.xon), c.alpha, yamlTime(c.respond()))
	}
	p("  buffer: %dB\n  start_phase: 0s", int64(c.buffer(c.built)))
	p("  lossless: {value: [%s], source: drawn}", strings.Trim(strings.ReplaceAll(fmt.Sprint(c.lossless), " ", ", "), "[]"))
	if c.ackLossless {
		p("  ack_priority: %d", c.lossless[0])
	}
	p("flows:")
	for i, f := range c.flows {
		p("  - {name: f%d, from: %s, to: %s, size: %dB, start: %s, dscp: %d}", i, f.from, f.to, int64(f.size), yamlTime(f.start), DSCPOf(f.prio))
	}
	p("schemes: [%s]\nmeasure: {sample: 10us}", c.scheme)
	if c.fails[1] > 0 {
		p("events:\n  - {at: %s, link: %s, rate: 0bps}\n  - {at: %s, link: %s, rate: %s}", yamlTime(c.fails[0]), c.trunk, yamlTime(c.fails[1]), c.trunk, yamlRate(c.fast))
	}
	return b.String()
}

func yamlRate(r units.Rate) string { return fmt.Sprintf("%dGbps", r/units.Gbps) }
func yamlTime(t units.Time) string { return fmt.Sprintf("%dns", t/units.Nanosecond) }

// respond is how long a host takes to obey a pause: all that headroom allows it.
func (c *randomNetwork) respond() units.Time {
	return c.line.Serialize(pfc.PeerResponse(c.line)) / units.Nanosecond * units.Nanosecond
}

// needed is the headroom by the product's own rule: of the longest frame without FCS, and nothing else
// beyond what the standard gives a peer.
func (c *randomNetwork) needed(link fabric.Link) units.Size {
	return pfc.HeadroomOf(link.Rate, link.Delay, 0, 0, c.mtu+wire.EthernetLen+wire.VLANLen).Sum()
}

// built is the headroom of the laboratory's switches, which allows hosts that take longer more.
func (c *randomNetwork) built(link fabric.Link) units.Size {
	return c.needed(link) + link.Rate.Bytes(c.respond())
}

// buffer is what the largest of the switches needs, and what is beyond that.
func (c *randomNetwork) buffer(headroom func(fabric.Link) units.Size) units.Size {
	most := units.Size(0)
	for _, reserved := range c.reserved(headroom) {
		most = max(most, reserved)
	}
	return most + c.beyond
}

// reserved is what each switch reserves.
func (c *randomNetwork) reserved(headroom func(fabric.Link) units.Size) map[int]units.Size {
	host, trunk := fabric.Link{Rate: c.line, Delay: c.near}, fabric.Link{Rate: c.fast, Delay: c.far}
	var a, b, d int
	var plan *topology.Plan
	switch c.kind {
	case "star":
		_, _ = fmt.Sscanf(c.sizes, "hosts: %d", &a)
		plan = topology.Star(a, host)
	case "chain", "ring":
		_, _ = fmt.Sscanf(c.sizes, "switches: %d, hosts: %d", &a, &b)
		if plan = topology.Chain(a, b, host, trunk); c.kind == "ring" {
			plan = topology.Ring(a, b, host, trunk)
		}
	default:
		_, _ = fmt.Sscanf(c.sizes, "tors: %d, hosts: %d, spines: %d", &a, &b, &d)
		plan = topology.Clos(topology.ClosSize{Pods: 1, ToRs: a, Hosts: b, Spines: d, Uplinks: 1}, host, trunk)
	}
	m := map[int]units.Size{}
	for i := range plan.Nodes {
		for _, end := range plan.Nodes[i].Ends {
			if !plan.Nodes[i].Host {
				set := c.xoff + headroom(end.Link)
				if c.lane > 0 {
					set = c.lane
				}
				m[i] += units.Size(len(c.lossless)) * set
			}
		}
	}
	return m
}

// check runs the case and says what is wrong.
func (c *randomNetwork) check() error {
	e, err := experiment.Parse("random.yaml", []byte(c.text()))
	if err != nil {
		return err
	}
	w := sim.New()
	w.SetWorkers(c.workers, c.gap)
	seen := map[string]*witness{}
	stormy := c.flows[0].to
	Wrap = func(name string, node fabric.Node, envs []*fabric.Env) fabric.Node {
		if len(name) == 0 || name[0] != 'H' {
			return node
		}
		x := &witness{Server: node.(fabric.Server), env: envs[0], psns: map[uint32][]uint32{}, next: units.Never}
		if name == stormy && c.storm[1] > 0 {
			x.storm(c.storm, c.lossless)
		}
		seen[name] = x
		return x
	}
	n, err := Build(e, w, e.Schemes[0], 1, Observer{})
	if err != nil {
		return err
	}
	if err := n.Schedule(e); err != nil {
		return err
	}
	if err := c.tighten(n); err != nil {
		return err
	}
	if err := c.go_(n, w); err != nil {
		return err
	}
	return c.judge(n, w, seen)
}

// tighten leaves the switches no more headroom than there must be.
func (c *randomNetwork) tighten(n *Network) error {
	reserved := c.reserved(c.needed)
	for i, s := range n.Switches {
		k := n.configs[i]
		k.Ports, k.Watchdog, k.CP = slices.Clone(k.Ports), c.watchdog, nil
		for port := range k.Ports {
			k.Ports[port].Headroom = c.needed(k.Ports[port].Link)
		}
		k.Buffer = reserved[i] + c.beyond
		n.configs[i] = k
		if err := apply(0, s, k); err != nil {
			return err
		}
	}
	if c.reloadAt == 0 {
		return nil
	}
	n.happen([]change{{c.reloadAt, func(now units.Time) {
		for i, s := range n.Switches {
			k := n.configs[i]
			k.Ports = slices.Clone(k.Ports)
			for prio := range k.PFC {
				k.PFC[prio].XOFF, k.PFC[prio].XON = c.reloadXOFF, min(k.PFC[prio].XON, c.reloadXOFF)
			}
			for port := range k.Ports {
				k.Ports[port].Alpha = c.reloadAlpha
			}
			n.configs[i] = k
			n.setFault(apply(now, s, k))
		}
	}}}, 10*units.Microsecond)
	return nil
}

func apply(now units.Time, s Switch, k dataplane.SwitchConfig) error {
	ch, err := s.(linked).Prepare(k)
	if err == nil {
		s.(linked).Apply(now, ch)
	}
	return err
}

// go_ runs until all lossless flows have ended, and the network is empty.
func (c *randomNetwork) go_(n *Network, w *sim.World) error {
	const step, patience = 10 * units.Millisecond, 10 * units.Second
	arrived, last := uint64(0), units.Time(0)
	ctx := context.Background()
	c.taken = map[int]uint64{}
	for now := step; ; now += step {
		if err := w.Run(ctx, now); err != nil {
			return err
		}
		if n.Fault() != nil {
			return n.Fault()
		}
		n.Collect()
		sum, left := uint64(0), []int{}
		for i := range n.Flows.Len() {
			if _, noted := c.taken[i]; n.Flows.At(i).Done && !noted { // the receiver forgets it in a while
				c.taken[i] = n.Hosts[n.Flows.At(i).To].Received(topology.IP(n.Flows.At(i).From), QP(i)).Frames
			}
			if c.flows[i].prio == lossyPriority {
				continue
			}
			if sum += n.Received(i); !n.Flows.At(i).Done {
				left = append(left, i)
			}
		}
		if len(left) == 0 && now > max(c.storm[1], c.fails[1], c.reloadAt) {
			break
		}
		if sum != arrived {
			arrived, last = sum, now
		}
		if len(left) > 0 && now > last+patience {
			return fmt.Errorf("flows %v stand still since %v", left, last)
		}
	}
	c.ended = w.Now()
	for i := range n.Flows.Len() {
		if f := n.Flows.At(i); !f.Done {
			c.stopped = true
			n.Hosts[f.From].StopFlow(w.Now(), int(f.Slot))
		}
	}
	return w.Run(ctx, w.Now()+200*units.Millisecond) // hosts send again after 67 ms
}

// judge says what was promised and not kept.
func (c *randomNetwork) judge(n *Network, w *sim.World, seen map[string]*witness) error {
	if err := w.Audit(); err != nil {
		return err
	}
	if err := c.agree(n, w); err != nil {
		return err
	}
	dropping, ignoring := c.watchdog.Detect > 0 && c.watchdog.Action == pfc.Drop, c.watchdog.Detect > 0 && c.watchdog.Action == pfc.Forward
	late := c.ended > 67*units.Millisecond // a flow that waits so long is sent again, whether or not anything was lost
	broken := c.fails[1] > 0 || dropping || ignoring || late
	excused := map[fabric.Reason]bool{
		fabric.DropLink: c.fails[1] > 0, fabric.DropNoPort: c.fails[1] > 0, // routes lead back to where it came from
		fabric.DropStorm: dropping, fabric.DropHeadroom: ignoring, fabric.DropSequence: broken, fabric.DropUnknown: broken || c.stopped, // acknowledgements of what came twice, of flows that have ended
	}
	look := func(name string, st fabric.Stats, empty bool) error {
		for port := range st.Ports {
			p := &st.Ports[port]
			for _, prio := range c.lossless {
				for why, lost := range p.Discards {
					if lost[prio] > 0 && !excused[fabric.Reason(why)] {
						return fmt.Errorf("%s port %d lost %d frames of priority %d: %v, first at %v", name, port, lost[prio], prio, fabric.Reason(why), p.LostAt[prio])
					}
				}
			}
			if c.lane > 0 && (p.Ingress.Pauses != [8]uint64{} || p.Egress.Pauses != [8]uint64{} || p.Egress.Ignored != 0) {
				return fmt.Errorf("%s port %d sent or obeyed a PAUSE: %+v, %+v", name, port, p.Ingress, p.Egress)
			}
			if held := p.Ingress.PausedNow; empty && (p.QueueFrames != [8]uint64{} || p.Buffered != [8]units.Size{} || p.Ingress.Headroom != [8]units.Size{} || held != 0) {
				return fmt.Errorf("%s port %d is not empty: %v frames wait, %v are buffered, %v in headroom, held %08b", name, port, p.QueueFrames, p.Buffered, p.Ingress.Headroom, held)
			}
		}
		return nil
	}
	for _, i := range slices.Sorted(maps.Keys(n.Switches)) {
		if err := look(n.Plan.Nodes[i].Name, n.Switches[i].Stats(w.Now()), true); err != nil {
			return err
		}
	}
	for _, i := range slices.Sorted(maps.Keys(n.Hosts)) {
		if err := look(n.Plan.Nodes[i].Name, n.Hosts[i].Stats(w.Now()), false); err != nil {
			return err
		}
	}
	for i := range n.Flows.Len() {
		if _, ended := c.taken[i]; ended {
			strict := !broken && c.flows[i].prio != lossyPriority
			if err := c.arrived(i, seen[c.flows[i].to].psns[QP(i)], strict); err != nil {
				return fmt.Errorf("flow %d: %w", i, err)
			}
		}
	}
	return nil
}

// arrived says what is wrong with a flow that has ended. Strict: nothing of it was lost, so that each packet
// came once and in order.
func (c *randomNetwork) arrived(i int, psns []uint32, strict bool) error {
	f := &c.flows[i]
	packets := uint64((f.size + c.payload - 1) / c.payload)
	if c.taken[i] != packets {
		return fmt.Errorf("%d packets were taken, it has %d; %v came", c.taken[i], packets, psns)
	}
	received := map[uint32]bool{}
	for at, psn := range psns {
		if received[psn] = true; strict && int(psn) != at {
			return fmt.Errorf("packet %d is the %d. to come", psn, at)
		}
	}
	if uint64(len(received)) != packets {
		return fmt.Errorf("%d packets came, it has %d", len(received), packets)
	}
	return nil
}

// witness stands between a host and its link. It sees what comes, and may storm PAUSE.
type witness struct {
	fabric.Server
	env         *fabric.Env
	psns        map[uint32][]uint32 // of data packets, by queue pair
	next, until units.Time          // of the storm
	every       units.Time
	sent        uint64
	pause       pfc.Frame
}

func (x *witness) storm(span [2]units.Time, prios []int) {
	x.next, x.until, x.every = span[0], span[1], 10*units.Microsecond
	for _, prio := range prios {
		x.pause.Enable |= 1 << prio
		x.pause.Quanta[prio] = pfc.MaxQuanta
	}
	x.env.Wake(0, x.next)
}

func (x *witness) Receive(now units.Time, port int, burst []fabric.Frame) {
	for _, f := range burst {
		var h wire.Header
		if b := x.env.Header(f); wire.Parse(b, &h) && h.BTH > 0 {
			if bth := wire.BTH(b[h.BTH:]); bth.Opcode() <= 0x0C {
				x.psns[bth.DestQP()] = append(x.psns[bth.DestQP()], bth.PSN())
			}
		}
	}
	x.Server.Receive(now, port, burst)
}

func (x *witness) Serve(now units.Time, port int, f *fabric.Frame) (bool, units.Time) {
	if now < x.next {
		sent, next := x.Server.Serve(now, port, f)
		return sent, min(next, x.next)
	}
	if x.env.AllocAt(f, pfc.FrameLen) {
		what := x.pause
		if now >= x.until { // the last one lets go
			what.Quanta = [8]uint16{}
		}
		what.Encode(x.env.Bytes(f), topology.MAC(99, 0))
		x.sent++
	}
	if x.next = now + x.every; now >= x.until {
		x.next = units.Never
	}
	return true, x.Next(now, port)
}

func (x *witness) Next(now units.Time, port int) units.Time {
	return min(x.Server.Next(now, port), max(now, x.next))
}

func (x *witness) Stats(now units.Time) fabric.Stats {
	st := x.Server.Stats(now)
	st.Ports[0].TxControl += x.sent
	return st
}
