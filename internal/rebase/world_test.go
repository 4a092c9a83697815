package rebase

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"photon/agent"
	"photon/dataplane"
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/ratelimit"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

const (
	rate = 10 * units.Gbps
	us   = units.Microsecond
	ms   = units.Millisecond
)

// end is one end of a cable: a port of a node, or of none, where frames are only counted.
type end struct {
	node   fabric.Node // nil: of none
	env    *fabric.Env
	port   int
	peer   *end
	free   units.Time // when the link has sent what it took
	flight fabric.Flight
}

// world carries frames between nodes, one after the other, and can set its clock back.
type world struct {
	pool  *fabric.Pool
	now   units.Time
	laps  units.Time // by which the clock was set back
	ends  []*end
	nodes []fabric.Node
	envs  []*fabric.Env
	seen  []arrival
}

// arrival is a frame that came, where and when.
type arrival struct {
	who    int
	at     units.Time
	length uint16
	header string
}

func (a arrival) String() string {
	return fmt.Sprintf("%d at %d: %d bytes %x", a.who, a.at, a.length, a.header)
}

var link = fabric.Link{Rate: rate, Delay: 2 * us}

func newWorld(now units.Time) *world {
	return &world{pool: fabric.NewHeaderPoolOf(512), now: now}
}

func (w *world) env(ports int) *fabric.Env {
	e := fabric.NewEnv(w.pool, ports)
	w.envs = append(w.envs, e)
	return e
}

func (w *world) connect(a, b *end) {
	a.peer, b.peer = b, a
	w.ends = append(w.ends, a, b)
}

// wants is when an end has a frame to send, perhaps.
func (e *end) wants() units.Time {
	if e.node == nil {
		return units.Never
	}
	due := e.env.Due(e.port)
	if due == units.Never {
		return due
	}
	return max(due, e.free)
}

// run lets all happen that does before an instant.
func (w *world) run(until units.Time) {
	for {
		at, who, arrives := until, -1, false
		for i, e := range w.ends {
			if t := e.peer.flight.Next(); t < at {
				at, who, arrives = t, i, true
			}
			if t := e.wants(); t < at {
				at, who, arrives = t, i, false
			}
		}
		w.now = max(w.now, at)
		if who < 0 {
			return
		}
		e := w.ends[who]
		if arrives {
			w.arrive(who, e.peer.flight.Pop())
		} else {
			w.serve(e)
		}
		for _, env := range w.envs {
			env.Woken()
		}
	}
}

func (w *world) arrive(who int, f fabric.Frame) {
	e := w.ends[who]
	w.seen = append(w.seen, arrival{who, w.now + w.laps, f.Len, string(w.pool.Header(f))})
	if e.node == nil {
		w.pool.Free(f)
		return
	}
	e.node.Receive(w.now, e.port, []fabric.Frame{f})
}

func (w *world) serve(e *end) {
	var one [1]fabric.Frame
	e.env.SetDue(e.port, units.Never)
	if e.node.Transmit(w.now, e.port, one[:]) == 1 {
		e.launch(w.now, one[0])
	}
	e.env.SetDue(e.port, e.node.Next(w.now, e.port))
}

func (e *end) launch(now units.Time, f fabric.Frame) {
	e.free = max(e.free, now) + link.Serialize(int(f.Len))
	e.flight.Push(f, e.free+link.Delay)
}

// says has an end without a node send a frame.
func (w *world) says(e *end, b []byte) {
	f, ok := w.pool.Alloc(max(len(b), wire.MinFrameLen))
	if !ok {
		panic("no memory")
	}
	clear(w.pool.Header(f))
	copy(w.pool.Header(f), b)
	e.launch(w.now, f)
}

// setBack sets the clock back.
func (w *world) setBack() {
	const by = units.Lap
	w.now -= by
	w.laps += by
	for _, n := range w.nodes {
		n.(units.Rebaser).Rebase(by)
	}
	for _, e := range w.envs {
		e.Rebase(by)
	}
	for _, e := range w.ends {
		e.free.Rebase(by)
		e.flight.Rebase(by)
	}
}

// star is hosts, or NICs with applications that are nobody, around a switch, and somebody at its last port who
// says what he likes.
type star struct {
	*world
	sw       *dataplane.Switch
	hosts    []*agent.Host
	nics     []*agent.NIC
	apps     []*end
	stranger *end
}

const leaves = 3

func mac(i int) wire.MAC { return wire.MAC(0x020000000000 + i) }
func ip(i int) wire.IP   { return wire.IPv4(10, 0, 0, byte(i)) }

func partsOf(t rapid.TB, name string) scheme.Parts {
	t.Helper()
	recipe, err := scheme.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	over := map[string]scheme.Override{}
	for _, p := range recipe.Params { // where CNPs can go by a clock, they do, but for dcqcn's
		if name == "pcn" && p.Name == "phase" || name != "dcqcn" && p.Name == "cnp_phase" {
			over[p.Name] = scheme.Override{Value: "tick", Source: "test"}
		}
	}
	parts, err := recipe.Build(scheme.Network{Line: rate, RTT: 8 * us, Seed: 1, Clock: 12345}, over)
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

func newSwitch(t rapid.TB, cp func(marking.Place) marking.CP, action pfc.Action, env *fabric.Env) *dataplane.Switch {
	c := dataplane.SwitchConfig{
		Lossless: 1 << 3, Buffer: 2 * units.MB, Tail: 20 * units.KB, MTU: 1500, Classes: dataplane.DefaultClasses(),
		FDBSize: 64, Control: 6, CP: cp, Learn: true, Age: 2 * units.Second, Deadlock: ms,
		Watchdog: pfc.WatchdogConfig{Detect: 200 * us, Restore: 300 * us, Action: action},
	}
	c.PFC[3] = pfc.Thresholds{XOFF: 30 * units.KB, XON: 27 * units.KB, Headroom: 40 * units.KB, Alpha: 0.5}
	limit := dataplane.FloodLimit{Frames: 1000, Burst: 3}
	for i := range leaves + 1 {
		c.Ports = append(c.Ports, dataplane.PortConfig{MAC: mac(100 + i), Link: link, Flood: dataplane.FloodLimits{Broadcast: limit, Multicast: limit, Unknown: limit}})
	}
	sw, err := dataplane.NewSwitch(c, []*fabric.Env{env})
	if err != nil {
		t.Fatal(err)
	}
	return sw
}

func hostConfig(parts scheme.Parts, i int) agent.Config {
	var selective *agent.Selective // every other one repeats what is lost, and no more
	if i%2 == 1 {
		selective = &agent.Selective{Window: 64, Reorder: 1, LowTimeout: 100 * us, LowPackets: 3}
	}
	return agent.Config{
		Selective: selective,
		MAC:       mac(i + 1), IP: ip(i + 1), Link: link, Lossless: 1 << 3, DSCP: dataplane.DefaultDSCP(), DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48,
		Carry: parts.Carry, Payload: 1000, Announce: true, NPDelay: us, PauseDelay: us, Period: parts.Every, AckEvery: 16, AckTimeout: 2 * ms,
		Tenants: []ratelimit.Tenant{{Weight: 2, Cap: 8 * units.Gbps}}, Senders: 64, Receivers: 64, Age: ms, NP: parts.NP(64), NewRP: parts.RP,
	}
}

func nicConfig(parts scheme.Parts, i int) agent.NICConfig {
	return agent.NICConfig{
		Link: link, MTU: 1500, MAC: mac(200 + i), Known: []wire.MAC{mac(i + 1)},
		Lossless: 1 << 3, Judged: 1 << 3, DSCP: dataplane.DefaultDSCP(), PCP: dataplane.DefaultPCP(),
		Flows: 4, FlowQueue: 32, Queue: 128, Age: ms, Release: 2 * ms, Period: parts.Every, Carry: parts.Carry, ControlDSCP: 48, NPDelay: us, PauseDelay: us,
		PFC: pfc.Thresholds{XOFF: 30 * units.KB, XON: 27 * units.KB, Headroom: 40 * units.KB}, Tail: 20 * units.KB, ClearCE: true, Receivers: 4,
		NP: parts.NP(4), NewRP: parts.RP,
	}
}

func newStar(t rapid.TB, begin units.Time, name string, nics bool, action pfc.Action) *star {
	s := &star{world: newWorld(begin)}
	env := s.env(leaves + 1)
	s.sw = newSwitch(t, partsOf(t, name).CP, action, env)
	s.nodes = append(s.nodes, s.sw)
	for i := range leaves {
		parts := partsOf(t, name)
		e := &end{}
		if nics {
			e.env = s.env(2)
			n, err := agent.NewNIC(nicConfig(parts, i), e.env)
			if err != nil {
				t.Fatal(err)
			}
			app := &end{}
			s.connect(app, &end{node: n, env: e.env, port: agent.Application})
			e.node, s.nics, s.apps = n, append(s.nics, n), append(s.apps, app)
		} else {
			e.env = s.env(1)
			h, err := agent.New(hostConfig(parts, i), e.env)
			if err != nil {
				t.Fatal(err)
			}
			e.node, s.hosts = h, append(s.hosts, h)
		}
		s.nodes = append(s.nodes, e.node)
		s.connect(e, &end{node: s.sw, env: env, port: i})
	}
	s.stranger = &end{}
	s.connect(s.stranger, &end{node: s.sw, env: env, port: leaves})
	return s
}

// state is all that can be seen of the nodes, with instants as they would be had the clock never been set back.
func (s *star) state() (all []any) {
	for _, n := range s.nodes {
		st := n.Stats(s.now)
		for i := range st.Ports {
			for prio, at := range st.Ports[i].LostAt {
				if at != units.Never && at != 0 {
					st.Ports[i].LostAt[prio] = at + s.laps
				}
			}
		}
		all = append(all, st)
	}
	all = append(all, s.sw.FDB().Entries(s.now))
	for port := range leaves + 1 {
		all = append(all, s.sw.Watchdog(s.now, port))
	}
	for _, h := range s.hosts {
		for id := range h.Flows() {
			f := h.Flow(s.now, id)
			if f.FirstBit != 0 {
				f.FirstBit += s.laps
			}
			if f.Spec.QP != 0 {
				f.Spec.Start += s.laps
			}
			all = append(all, f)
		}
		for _, r := range slices.Clone(h.TakeResults()) {
			r.Start, r.FirstBit, r.End = r.Start+s.laps, r.FirstBit+s.laps, r.End+s.laps
			all = append(all, r)
		}
	}
	for _, n := range s.nics {
		for i := range n.Slots() {
			f, _ := n.Flow(s.now, i)
			all = append(all, f)
		}
	}
	return all
}
