package dataplane_test

import (
	"flag"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/dataplane"
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
)

const us = units.Microsecond

// anyVLANs are VLANs 10 and 20, with ports of every kind.
func anyVLANs(t *rapid.T, ports int) []dataplane.VLAN {
	v := []dataplane.VLAN{{ID: 10}, {ID: 20}}
	for p := range uint16(ports) {
		switch draw(t, "member", 0, 0, 0, 1, 2, 3, 4) {
		case 0:
			v[0].Untagged = append(v[0].Untagged, p)
		case 1:
			v[1].Untagged = append(v[1].Untagged, p)
		case 2:
			v[0].Untagged, v[1].Tagged = append(v[0].Untagged, p), append(v[1].Tagged, p)
		case 3:
			v[0].Tagged, v[1].Tagged = append(v[0].Tagged, p), append(v[1].Tagged, p)
		}
	}
	return v
}

// anyForwarding draws what may change while a switch runs: VLANs, static addresses, routes.
func anyForwarding(t *rapid.T, c *dataplane.SwitchConfig) {
	n := len(c.Ports)
	c.VLANs, c.Router, c.Static = nil, dataplane.Router{}, nil
	for i := range c.Ports {
		c.Ports[i].Addresses = nil
	}
	if rapid.Bool().Draw(t, "VLANs") {
		c.VLANs = anyVLANs(t, n)
		for i := range c.Ports {
			c.Ports[i].Accept = draw(t, "accept", dataplane.AcceptUsual, dataplane.AcceptUsual, dataplane.AcceptAll, dataplane.AcceptTagged, dataplane.AcceptUntagged)
		}
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "static") {
		e := dataplane.StaticEntry{MAC: hostMAC(i), Ports: []uint16{uint16(i % n)}}
		if i == 2 {
			e.MAC, e.Ports = hostMAC(99), nil
			for p := range uint16(n) {
				if rapid.Bool().Draw(t, "one of") {
					e.Ports = append(e.Ports, p)
				}
			}
		}
		if c.VLANs != nil {
			e.VLAN = draw[uint16](t, "VLAN of a static address", 0, 10, 20)
		}
		if c.Static = append(c.Static, e); e.Ports == nil || c.Check() != nil {
			c.Static = c.Static[:len(c.Static)-1]
		}
	}
	if !rapid.Bool().Draw(t, "router") {
		return
	}
	c.Router = dataplane.Router{MAC: routerMAC, Addresses: []netip.Addr{netip.MustParseAddr("10.0.9.1"), netip.MustParseAddr("fd00:9::1")}}
	if rapid.Bool().Draw(t, "more addresses") { // which are less near to hosts, and differ from theirs in an earlier byte
		c.Router.Addresses = append(c.Router.Addresses, netip.MustParseAddr("10.1.0.1"), netip.MustParseAddr("fd01::1"))
	}
	if rapid.Bool().Draw(t, "ICMP") {
		c.Router.ICMP = dataplane.ICMP{Rate: draw(t, "errors a second", 1_000_000, 1_000_000, 50_000), Burst: draw(t, "errors at once", 100, 2, 1), DSCP: draw[uint8](t, "DSCP of errors", 48, 48, 26, 0)}
		if rapid.Bool().Draw(t, "addresses of ports") {
			c.Ports[n-1].Addresses = []netip.Addr{netip.MustParseAddr("10.0.9.2"), netip.MustParseAddr("fd00:9::2")}
		}
		if c.VLANs != nil && rapid.Bool().Draw(t, "addresses of VLANs") {
			c.VLANs[1].Addresses = []netip.Addr{netip.MustParseAddr("10.0.9.3")}
		}
	}
	for _, prefix := range []string{"10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/23", "10.0.2.0/24", "10.0.1.1/32", "0.0.0.0/0", "fd00:0:0:1::/64", "fd00::/56"} {
		route := dataplane.Route{Prefix: netip.MustParsePrefix(prefix)}
		for range rapid.IntRange(0, 3).Draw(t, "hops") {
			hop := dataplane.NextHop{Port: uint16(rapid.IntRange(0, n-1).Draw(t, "hop")), MAC: hostMAC(200 + len(route.Via)), MTU: draw(t, "MTU of a hop", 0, 0, 0, 100, 400, 1280)}
			if c.VLANs != nil {
				hop.VLAN = draw[uint16](t, "VLAN of a hop", 0, 10, 20)
			}
			with := *c
			with.Router.Routes = []dataplane.Route{{Prefix: route.Prefix, Via: append(slices.Clone(route.Via), hop)}}
			if with.Check() == nil {
				route.Via = append(route.Via, hop)
			}
		}
		if route.Via == nil {
			route.Refuse = draw(t, "refuse", dataplane.Carry, dataplane.Prohibit, dataplane.Blackhole)
		}
		if route.Via != nil || route.Refuse != dataplane.Carry {
			c.Router.Routes = append(c.Router.Routes, route)
		}
	}
}

// anyBuffer draws thresholds, limits and weights.
func anyBuffer(t *rapid.T, c *dataplane.SwitchConfig) {
	for prio := range c.PFC {
		xoff := units.Size(draw(t, "XOFF", 60_000, 20_000, 3000, 300, 64, 5001))
		c.PFC[prio] = pfc.Thresholds{XOFF: xoff, XON: min(xoff, units.Size(draw(t, "XON", 0, 100, 2000, int(xoff)))), Headroom: units.Size(draw(t, "headroom", 40_000, 5000, 2048, 0)), Alpha: draw(t, "alpha", 0, 0, 0.125, 0.5, 3)}
	}
	for i := range c.Ports {
		c.Ports[i].Headroom = units.Size(draw(t, "headroom of a port", 0, 0, 0, 10_000))
		c.Ports[i].Alpha = draw(t, "alpha of a port", 0, 0, 0, 1.0)
		c.Ports[i].LossyLimit = draw[units.Size](t, "limit of a port", 0, 0, 0, 3000, 20_000)
		c.Ports[i].LossyAlpha = draw(t, "alpha of a port's lossy frames", 0, 0, 0, 0.125, 1, 7)
		anyQueues(t, &c.Ports[i])
	}
	if rapid.Bool().Draw(t, "lossy frames have no limits but the tail") {
		for i := range c.Ports {
			p := &c.Ports[i]
			p.LossyLimit, p.LossyAlpha = 0, 0
			for prio := range p.Queues {
				p.Queues[prio].Alpha, p.Queues[prio].Min = 0, 0
			}
		}
	}
	c.Tail = units.Size(draw(t, "tail", 1_000_000, 30_000, 2000, 100))
	c.Share = draw(t, "share", 0, 0, 0.25, 4)
	c.Pause = draw(t, "pause", 0, 0, 10*us, 100*us)
	for prio := range c.Weights {
		c.Weights[prio] = draw(t, "weight", 0, 0, 1, 5, 100)
	}
	if rapid.Bool().Draw(t, "strict") {
		c.Weights = [8]int{}
	}
	most := units.Size(0)
	for _, p := range newReference(*c).ports {
		for prio := range 8 {
			most = max(most, newReference(*c).thresholds(p, prio).Headroom)
		}
	}
	if c.Headroom = 0; most > 0 && rapid.Bool().Draw(t, "shared headroom") {
		c.Headroom = most + draw[units.Size](t, "headroom that is shared", 0, 0, 100, 3000)
	}
	c.Buffer = 1
	c.Buffer = reserved(*c) + units.Size(draw(t, "pool", 1_000_000, 100_000, 10_000, 2000, 64, 0))
}

// anyPorts draws what ports have of their own.
func anyPorts(t *rapid.T, c *dataplane.SwitchConfig) {
	alike := rapid.Bool().Draw(t, "ports alike")
	for i := range c.Ports {
		p := &c.Ports[i]
		p.Lossless, p.Asymmetric, p.Pause, p.MTU, p.Classes, p.PCPOut = nil, false, false, 0, nil, nil
		if alike {
			continue
		}
		switch rapid.IntRange(0, 5).Draw(t, "flow control") {
		case 0:
			none := uint8(0)
			p.Lossless, p.Pause = &none, true
		case 1, 2:
			own := draw[uint8](t, "lossless of a port", 1<<3, 0, 1<<4|1<<3, 1, 1<<6)
			p.Lossless = &own
		case 3:
			p.Asymmetric = true
		}
		p.MTU = draw(t, "MTU of a port", 0, 0, min(c.MTU, 1000), 300, 100)
		if rapid.IntRange(0, 2).Draw(t, "maps in") == 0 {
			k := dataplane.Classes{DSCP: dataplane.DefaultDSCP(), PCP: dataplane.DefaultPCP(), Trust: draw(t, "trust", dataplane.TrustDSCP, dataplane.TrustPCP, dataplane.TrustNone), Default: draw[uint8](t, "default", 0, 3)}
			k.DSCP[0], k.DSCP[26], k.PCP[3] = draw[uint8](t, "of DSCP 0", 0, 3, 7), draw[uint8](t, "of DSCP 26", 3, 4), draw[uint8](t, "of PCP 3", 3, 1)
			p.Classes = &k
		}
		if rapid.IntRange(0, 2).Draw(t, "map out") == 0 {
			p.PCPOut = &[8]uint8{7, 1, 2, draw[uint8](t, "PCP of 3", 5, 3), 0, 5, 6, 4}
		}
	}
}

// anyQueues draws what queues of a port have of their own.
func anyQueues(t *rapid.T, p *dataplane.PortConfig) {
	p.Queues = [8]dataplane.QueueConfig{}
	p.Shaper = anyShaper(t, 9)
	if rapid.Bool().Draw(t, "plain queues") {
		return
	}
	for prio := range p.Queues {
		q := &p.Queues[prio]
		q.Shaper = anyShaper(t, 4)
		q.Alpha = draw(t, "alpha of a queue", 0, 0, 0.125, 2, dataplane.NoAlpha)
		q.Min = draw[units.Size](t, "min of a queue", 0, 0, 64, 2500, 20_000)
		if rapid.Bool().Draw(t, "WRED") {
			q.WRED.Kmin = draw[units.Size](t, "Kmin", 0, 0, 500, 3000)
			q.WRED.Kmax = q.WRED.Kmin + draw[units.Size](t, "Kmax", 1, 2000, 20_000)
			q.WRED.Pmax = draw(t, "Pmax", 0.5, 1, 0.1)
			switch rapid.IntRange(0, 4).Draw(t, "kind of WRED") {
			case 3:
				q.WRED.NoECN = true
			case 4:
				q.WRED.NoDrop = true
			}
		}
	}
}

// anyShaper is one in so many, of rates at which a byte takes whole picoseconds.
func anyShaper(t *rapid.T, of int) (s dataplane.Shaper) {
	if rapid.IntRange(1, of).Draw(t, "shaper") == of {
		s = dataplane.Shaper{Rate: draw(t, "rate of a shaper", units.Gbps, 10*units.Mbps, 4*units.Gbps), Burst: draw[units.Size](t, "burst of a shaper", 1546, 1600, 5000, 100_000)}
	}
	return s
}

// reserved is what the lossless priorities take of the buffer, with the links that ports have at first.
func reserved(c dataplane.SwitchConfig) units.Size { return newReference(c).reserved() }

func (r *reference) reserved() units.Size {
	sum := units.Size(0)
	for _, p := range r.ports {
		for prio := range 8 {
			if r.accountable(p, prio) {
				t := r.thresholds(p, prio)
				if sum += t.XOFF; r.config.Headroom == 0 {
					sum += t.Headroom
				}
			}
			sum += p.config.Queues[prio].Min
		}
	}
	return sum + r.config.Headroom
}

// anyScheme is a scheme's congestion points.
func anyScheme(t *rapid.T) (name string, cp func(marking.Place) marking.CP) {
	name = draw(t, "scheme", "none", "npecn", "red", "qcn", "tcd", "telemetry", "pacc", "npecn", "ib", "tcd over ib")
	red := marking.REDParams{Kmin: 1000, Kmax: 10_000, Pmax: 0.5}
	seed := func(p marking.Place) uint64 { return uint64(8*p.Port + p.Prio) }
	sampling := draw(t, "sampling", marking.Adaptive, marking.Fixed)
	ib := marking.IBParams{Weight: draw(t, "weight", 15, 8, 0), Reference: 12_000, PacketSize: draw[units.Size](t, "packet size", 0, 512), Rate: draw(t, "marking rate", 0, 2), Victims: draw(t, "victims", false, true)}
	return name, map[string]func(p marking.Place) marking.CP{
		"none":  func(marking.Place) marking.CP { return marking.None{} },
		"npecn": func(marking.Place) marking.CP { return marking.NewNPECN() },
		"red":   func(p marking.Place) marking.CP { return marking.NewRED(red, seed(p)) },
		"tcd": func(p marking.Place) marking.CP {
			return marking.NewTCD(marking.TCDParams{REDParams: red, Interval: 5 * us}, seed(p))
		},
		"ib":          func(marking.Place) marking.CP { return marking.NewIB(ib) },
		"tcd over ib": func(marking.Place) marking.CP { return marking.NewTCDOver(5*us, marking.NewIB(ib)) },
		"telemetry":   func(p marking.Place) marking.CP { return marking.Telemetry{Link: p.Rate} },
		"qcn": func(p marking.Place) marking.CP {
			return marking.NewQCN(marking.QCNParams{SetPoint: 2000, Weight: 2, SampleBase: 10_000, Jitter: 0.3, Sampling: sampling}, seed(p))
		},
		"pacc": func(p marking.Place) marking.CP {
			return marking.NewPACC(marking.PACCParams{Period: 10 * us, Phase: 10 * us, QTh: 2000, QBurst: 500, BTh: 100, Beta1: 0.5, Beta2: 0.5, Unit: 100, W: 0.9, Gap: us, Flows: 64})
		},
	}[name]
}

func anyWatchdog(t *rapid.T) pfc.WatchdogConfig {
	return pfc.WatchdogConfig{Detect: draw(t, "detect", 0, 4*us, 20*us), Restore: draw(t, "restore", 0, 3*us), Action: draw(t, "action", pfc.Drop, pfc.Forward, pfc.Alert, pfc.DropBoth)}
}

// anyConfig is a switch of 2 to 6 ports.
func anyConfig(t *rapid.T) dataplane.SwitchConfig {
	c := dataplane.SwitchConfig{Classes: dataplane.DefaultClasses(), FDBSize: 256, Control: 6}
	for i := range rapid.IntRange(2, 6).Draw(t, "ports") {
		c.Ports = append(c.Ports, dataplane.PortConfig{MAC: hostMAC(100 + i), Link: fabric.Link{Rate: draw(t, "rate", 10*units.Gbps, units.Gbps, 25*units.Gbps)}})
		if rapid.IntRange(0, 5).Draw(t, "limits") == 5 {
			c.Ports[i].Flood = dataplane.FloodLimits{
				Broadcast: dataplane.FloodLimit{Frames: 1_000_000, Burst: 3}, Multicast: dataplane.FloodLimit{Frames: 300_000, Burst: 1}, Unknown: dataplane.FloodLimit{Rate: units.Gbps, Burst: 4000},
			}
		}
	}
	c.MTU = draw(t, "MTU", 1500, 1500, 500)
	c.Lossless = draw[uint8](t, "lossless", 1<<3, 1<<3, 1<<3|1<<6, 0, 0xFF)
	c.Cell = draw[units.Size](t, "cell", 0, 0, 200, 2048)
	const dscp = dataplane.TrustDSCP
	c.Trust = draw(t, "trust of all ports", dscp, dscp, dataplane.TrustPCP, dataplane.TrustNone)
	c.Default = draw[uint8](t, "default of all ports", 0, 0, 3)
	c.Learn, c.Age = draw(t, "learn", true, true, true, false), draw(t, "age", 0, 300*units.Second, 2*units.Second)
	c.NoUnknown = rapid.IntRange(0, 9).Draw(t, "no unknown") == 9
	c.NoBroadcast = rapid.IntRange(0, 9).Draw(t, "no broadcast") == 9
	c.NoMulticast = rapid.IntRange(0, 9).Draw(t, "no multicast") == 9
	c.Deadlock = draw(t, "deadlock", 0, units.Millisecond)
	c.Salt = rapid.Uint32().Draw(t, "salt")
	if rapid.IntRange(0, 3).Draw(t, "odd maps") == 3 {
		c.PCP, c.DSCP[10] = [8]uint8{0, 1, 2, 7, 4, 3, 6, 5}, 3
	}
	anyPorts(t, &c)
	anyBuffer(t, &c)
	anyForwarding(t, &c)
	_, c.CP = anyScheme(t)
	anyJudged(t, &c)
	c.Watchdog = anyWatchdog(t)
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	return c
}

// Whatever happens in whatever order: the switch does what the reference does.
func TestDifferential(t *testing.T) { differential(t, 1) }

// With several workers, too, which tell each other what they have to after each step: a queue and an account
// may belong to two of them.
func TestDifferentialWorkers(t *testing.T) { differential(t, 3) }

// By itself the test draws the same cases each time, so that it says something of the change at hand; with
// -rapid.checks=10000 or so it draws others.
func differential(t *testing.T, workers int) {
	if f := flag.Lookup("rapid.seed"); flag.Lookup("rapid.checks").Value.String() == "100" && f.Value.String() == "0" {
		set := func(name, to string) {
			if err := flag.Set(name, to); err != nil {
				t.Fatal(err)
			}
		}
		set("rapid.seed", "1")
		set("rapid.checks", "400")
		defer set("rapid.seed", "0")
		defer set("rapid.checks", "100")
	}
	passed := 0
	rapid.Check(t, func(r *rapid.T) {
		c := anyConfig(r)
		world := worldKind{workers: 1, exits: rapid.Bool().Draw(r, "exits"), lateTimers: rapid.IntRange(0, 3).Draw(r, "late") == 3, before: draw[uint16](r, "before", 128, 4)}
		if workers > 1 {
			world.workers, world.ample = rapid.IntRange(2, workers).Draw(r, "workers"), true
			for i := range c.Ports {
				c.Ports[i].Worker = rapid.IntRange(0, world.workers-1).Draw(r, "worker")
			}
			world.fit(&c)
		}
		passed += compare(t, c, world, anyOps(r, c, world, 40)).passed
	})
	t.Logf("%d frames passed the queues", passed)
	if passed == 0 {
		t.Error("no frame passed the queues")
	}
}

// fit changes a configuration for a world. In an ample one there is so much buffer that a trial fills none of it.
// With several workers a queue that takes no frame says so later than the reference would, when more of the same
// burst, or more copies of one frame, are in the buffer: it is not to matter. And notices that several congestion
// points make of one burst have no order.
func (w *worldKind) fit(c *dataplane.SwitchConfig) {
	if w.workers > 1 && c.CP != nil && samples(c) {
		c.CP = func(marking.Place) marking.CP { return marking.NewNPECN() }
	}
	if !w.ample {
		return
	}
	for prio := range c.PFC {
		c.PFC[prio].XOFF = 10 * units.MB
	}
	c.Tail, c.Share = 10*units.MB, 0
	for i := range c.Ports {
		c.Ports[i].LossyLimit, c.Ports[i].LossyAlpha = 0, 0
		for prio := range c.Ports[i].Queues {
			c.Ports[i].Queues[prio].Alpha = 0
		}
	}
	c.Buffer = reserved(*c) + 10*units.MB
}

var bursts = []int{1, 1, 1, 2, 2, 5, 5, 10, 30, 64}

// anyOps are things that happen.
func anyOps(t *rapid.T, c dataplane.SwitchConfig, world worldKind, most int) (ops []op) {
	x := &arrivals{t: t, config: c}
	for range rapid.IntRange(1, most).Draw(t, "steps") {
		ops = append(ops, x.anyOp(world))
	}
	return ops
}

func (x *arrivals) anyOp(world worldKind) (o op) {
	t := x.t
	o.after = units.Time(draw(t, "after", 0, 0, rapid.Int64Range(0, int64(3*us)).Draw(t, "some"), int64(20*us)))
	_, rounds := x.config.CP(marking.Place{Rate: units.Gbps}).(marking.Notifier)
	if rapid.IntRange(0, 20).Draw(t, "later") == 20 && !rounds { // a congestion point catches up with all rounds between
		o.after = draw(t, "much later", units.Second, 3*units.Second, 400*units.Second)
	}
	o.port = rapid.IntRange(0, len(x.config.Ports)-1).Draw(t, "port")
	switch what := rapid.IntRange(0, 30).Draw(t, "what"); {
	case what == 30:
		o.clear = true
	case what == 29:
		if c := x.anyReload(world); c.Check() == nil {
			o.reload = &c
			was := x.config.CP
			if x.config = c; c.CP == nil {
				x.config.CP = was
			}
		}
	case what == 28:
		o.link = &dataplane.LinkState{Up: rapid.Bool().Draw(t, "up"), Shut: rapid.IntRange(0, 3).Draw(t, "shut") == 3, Rate: draw(t, "new rate", 0, 0, units.Gbps, 40*units.Gbps), Headroom: draw[units.Size](t, "new headroom", 0, 0, 3000)}
	case what < 15:
		alike := rapid.Bool().Draw(t, "frames alike") // as those of a flow are, which go through the stages together
		for i := range draw(t, "burst", bursts...) {
			if alike && i > 0 {
				o.frames = append(o.frames, o.frames[0])
				continue
			}
			a := arrival{bytes: x.anyFrame(o.port), off: -1, digest: rapid.Bool().Draw(t, "digest")}
			if rapid.IntRange(0, 7).Draw(t, "elsewhere") == 7 {
				a.off = rapid.IntRange(0, 100).Draw(t, "off")
			}
			o.frames = append(o.frames, a)
		}
		o.burst = rapid.Bool().Draw(t, "together")
		o.drain = rapid.IntRange(0, 5).Draw(t, "drain") > 0 == world.exits
		if world.exits {
			o.queue = rapid.IntRange(0, 9).Draw(t, "queue") == 9
			for range x.config.Ports {
				o.exits = append(o.exits, exit{draw(t, "exit", 64, 64, 10, 1, 0), draw[units.Time](t, "free", 0, 0, 0, -1000, 1), draw[units.Time](t, "per byte", 0, 0, 800)})
			}
		}
	default:
		o.room = draw(t, "room", 1, 1, 3, 64)
	}
	return o
}

// anyJudged has the scheme judge lossy priorities, too; their queues have no WRED then.
func anyJudged(t *rapid.T, c *dataplane.SwitchConfig) {
	if rapid.Bool().Draw(t, "others judged") {
		c.Judged = draw[uint8](t, "judged", 1<<0, 1<<3, 0xFF, 0)
	}
	for i := range c.Ports {
		for prio := range c.Ports[i].Queues {
			if c.Judged>>prio&1 != 0 {
				c.Ports[i].Queues[prio].WRED = marking.WREDParams{}
			}
		}
	}
}

// anyReload is another configuration that a running switch may take over.
func (x *arrivals) anyReload(world worldKind) dataplane.SwitchConfig {
	t := x.t
	c := clone(x.config)
	switch rapid.IntRange(0, 4).Draw(t, "changed") {
	case 4:
		anyPorts(t, &c)
	case 0:
		anyForwarding(t, &c)
	case 1:
		anyBuffer(t, &c)
	case 2:
		c.Watchdog = anyWatchdog(t)
	case 3:
		c.Judged = 0
	}
	anyJudged(t, &c)
	if c.CP = nil; rapid.Bool().Draw(t, "another scheme") {
		_, c.CP = anyScheme(t)
	}
	world.fit(&c)
	c.Buffer = max(c.Buffer, reserved(c))
	return c
}
