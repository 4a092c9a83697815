package daemon

import (
	"cmp"
	"fmt"
	"net/netip"
	"sync"

	"photon/agent"
	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/marking"
	"photon/pfc"
	"photon/scheme"
	"photon/telemetry"
	"photon/telemetry/node"
	"photon/units"
	"photon/wire"
)

// testbedNode is what a daemon does as a node of a testbed.
type testbedNode struct {
	d *daemon

	// Agents only.
	host *agent.Host
	node *config.AgentNode

	lock     sync.Mutex // of requests
	watching *recording // the worker's; requests change it within Do
	ticking  bool
}

// recording is a watch under way.
type recording struct {
	node.Recording
	read []func(now units.Time) int64 // by column
	next units.Time
	w    node.Watch
	n    int // samples taken
}

// Info implements admin.TestbedNode.
func (t *testbedNode) Info() node.Info {
	t.lock.Lock() // SetScheme changes what is reported
	defer t.lock.Unlock()
	s := t.d.snapshot()
	n := node.Info{Name: t.d.name, Switch: t.d.sw != nil, Ports: s.Ports, Stats: s.Stats}
	for _, d := range s.Devices {
		n.Missed += d.RxMissed + d.RxNoBuffer + d.RxTooLong
	}
	if t.d.sw != nil {
		n.Scheme, n.Lossless, n.Rates, n.Thresholds = s.Scheme, s.Buffer.Lossless, t.d.ratesConfigured(), s.Buffer.Thresholds
		n.Shapers = shapersOf(s.Buffer)
		n.Besides, n.Floods = t.d.besides(&s)
		n.LossyQueue, n.LossyAlpha, n.Shared = s.Buffer.Tail, s.Buffer.Share, s.Buffer.Lossy
		for _, limit := range s.Buffer.Limits {
			n.LossyIngress = append(n.LossyIngress, limit.Limit)
		}
	} else {
		n.Scheme = t.node.Scheme.Name
		if g := &t.node.Gateway; g.MAC.IsSet() {
			n.Gateway = &node.Gateway{MAC: g.MAC.V, Network: g.Network.V.Prefix}
		}
		aboutAgent(&n, &t.node.Config)
	}
	t.d.world.Do(func(now units.Time) {
		n.Now = shownTime(t.d.world, now)
		if t.d.sw != nil {
			n.Paths = t.d.sw.Paths().String()
		}
		if err := t.d.node.Audit(); err != nil {
			n.Balanced = err.Error()
		}
	})
	return n
}

// aboutAgent is what an agent's configuration says of it.
func aboutAgent(n *node.Info, c *agent.Config) {
	n.Lossless, n.Rates = c.Lossless, []units.Rate{c.Link.Rate}
	n.IP, n.MAC, n.Payload, n.AckEvery = c.IP, c.MAC, units.Size(c.Payload), c.AckEvery
	n.AckTimeout, n.NPDelay, n.PauseDelay = c.AckTimeout, c.NPDelay, c.PauseDelay
	n.Priorities = &node.Priorities{Ack: int(c.DSCP[c.AckDSCP]), CNP: int(c.DSCP[c.ControlDSCP])}
	n.Entropy = c.Entropy.String()
	if c.Selective != nil {
		n.Selective = c.Selective.String()
	}
}

// shapersOf are what shapers let leave, by port and priority.
func shapersOf(b *dataplane.BufferState) [][pfc.Classes]units.Rate {
	all := make([][pfc.Classes]units.Rate, len(b.Shapers))
	for port := range all {
		for prio, q := range b.Queues[port] {
			rate := b.Shapers[port].Rate
			if own := q.Shaper.Rate; own > 0 && (rate == 0 || own < rate) {
				rate = own
			}
			all[port][prio] = rate
		}
	}
	return all
}

// besides is what else a switch does that those of experiments do not, and whether it floods.
func (d *daemon) besides(s *telemetry.Snapshot) (list []string, floods bool) {
	if s.Buffer.Weights != [pfc.Classes]int{} {
		list = append(list, "its priorities have weights")
	}
	if s.Buffer.Headrooms > s.Buffer.Headroom {
		list = append(list, "its ports share headroom")
	}
	if s.Watchdog.Detect > 0 {
		list = append(list, fmt.Sprintf("its watchdog acts on pauses of %v", s.Watchdog.Detect))
	}
	alpha, wred := false, false
	for port, queues := range s.Buffer.Queues {
		alpha = alpha || s.Buffer.Limits[port].Alpha > 0
		for _, q := range queues {
			alpha, wred = alpha || q.Alpha > 0, wred || q.WRED != marking.WREDParams{}
		}
	}
	if alpha {
		list = append(list, "lossy priorities have limits by what is free of the buffer at single ports or queues")
	}
	if wred {
		list = append(list, "its queues of lossy priorities have WRED")
	}
	d.loaded.Lock()
	defer d.loaded.Unlock()
	if d.loaded.conf.Impaired() != nil {
		list = append(list, "frames are impaired on purpose")
	}
	if !d.loaded.conf.ByClassSelector() {
		list = append(list, "its DSCPs have other priorities")
	}
	return list, d.loaded.conf.Floods()
}

// SetScheme implements admin.TestbedNode.
func (t *testbedNode) SetScheme(s node.Scheme) error {
	t.lock.Lock()
	defer t.lock.Unlock()
	chosen := config.Scheme{Name: config.Set(s.Name), Params: map[string]config.Value[string]{}}
	for name, v := range s.Params {
		chosen.Params[name] = config.Set(v)
	}
	if t.d.sw != nil {
		for _, prio := range s.Priorities {
			chosen.Priorities = append(chosen.Priorities, config.Set(prio))
		}
		for i := range s.Shares {
			chosen.Shares = append(chosen.Shares, shareOf(&s.Shares[i]))
		}
	}
	if n := s.Network; n != nil {
		if n.Line <= 0 || min(n.RTT, n.PathRTT) < 0 || n.Packet < 0 || min(n.Hops, n.LongFlows) < 0 {
			return fmt.Errorf("a network of %+v: its line is above 0, and nothing below 0", *n)
		}
		known := networkOf(s.Network)
		chosen.Known = &known
	}
	if t.d.sw != nil {
		return t.d.setScheme(chosen)
	}
	recipe, err := scheme.Get(s.Name)
	if err != nil {
		return err
	}
	over := map[string]scheme.Override{}
	for name, v := range s.Params {
		over[name] = scheme.Override{Value: v, Source: "testbed"}
	}
	c := &t.node.Config
	known := scheme.Network{Seed: uint64(c.MAC)}
	if chosen.Known != nil {
		known = *chosen.Known
	}
	known.Line = c.Link.Rate
	parts, err := recipe.Build(known, over)
	if err != nil {
		return err
	}
	under := *c
	under.Carry = parts.Carry
	if room, need := c.MTU, under.PacketLen(); need > room {
		return fmt.Errorf("packets of %d B payload have %d bytes under %s, and the agent's port takes %d: "+
			"start it with a smaller payload, or with this scheme", c.Payload, need, s.Name, room)
	}
	np := parts.NP(c.Receivers)
	t.d.world.Do(func(now units.Time) {
		if err = t.host.Adopt(np, parts.RP, parts.Carry); err == nil {
			t.node.Scheme = recipe
		}
	})
	return err
}

// shareOf is what a testbed says of a flow, as files say it.
func shareOf(s *node.Share) (x config.Share) {
	one := func(ip wire.IP) config.Value[config.Prefix] {
		a := ip.Addr()
		return config.Set(config.Prefix{Prefix: netip.PrefixFrom(a, a.BitLen())})
	}
	x.From, x.To, x.QP, x.Weight = one(s.From), one(s.To), config.Set(int(s.QP)), config.Set(s.Weight)
	if s.Cap > 0 {
		x.Cap = config.Set(s.Cap)
	}
	return x
}

// networkOf is what a testbed says of its network, as recipes take it.
func networkOf(n *node.Network) scheme.Network {
	return scheme.Network{
		Line: n.Line, Rates: n.Rates, RTT: n.RTT, PathRTT: n.PathRTT, Hops: n.Hops, Packet: n.Packet,
		LongFlows: n.LongFlows, Seed: n.Seed,
	}
}

// setScheme gives a switch a scheme as a reload does.
func (d *daemon) setScheme(s config.Scheme) error {
	l := &d.loaded
	l.Lock()
	defer l.Unlock()
	if l.ending {
		return errEnding
	}
	conf := *l.conf
	conf.Scheme = s
	node, err := conf.Resolve(l.devices)
	if err != nil {
		return err
	}
	change, err := d.sw.Prepare(node.Config)
	if err != nil {
		return err
	}
	d.world.DoBriefly(func(now units.Time) {
		d.sw.Apply(now, change)
		d.scheme, d.params, d.line = node.Scheme.Name, node.Params, node.Line
	})
	l.conf = &conf
	return nil
}

// Watch implements admin.TestbedNode.
func (t *testbedNode) Watch(w node.Watch) (err error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if w.Every < node.WatchTick || w.Every%node.WatchTick != 0 || w.Samples < 1 {
		return fmt.Errorf("%d samples every %v: at least one, and a multiple of %v", w.Samples, w.Every, node.WatchTick)
	}
	if w.Every > units.Lap/units.Time(w.Samples) {
		return fmt.Errorf("%d samples every %v: at most %v in all", w.Samples, w.Every, units.Lap)
	}
	r := &recording{w: w, next: w.From + w.Every}
	r.From = w.From
	t.d.world.Do(func(now units.Time) {
		if r.next = ownTime(t.d.world, r.next); r.next < now {
			err = fmt.Errorf("the first sample was due %v ago: the request came too late", now-r.next)
			return
		}
		if t.d.sw != nil {
			t.switchColumns(r, w.Priorities)
		} else {
			err = t.hostColumns(r)
		}
		if err != nil {
			return
		}
		if w.Samples > node.MostWatched/len(r.read) {
			err = fmt.Errorf("%d columns of %d samples are too many to record: sample less often, or have fewer flows", len(r.read), w.Samples)
			return
		}
		for _, read := range r.read {
			r.Begin = append(r.Begin, read(now))
			r.Values = append(r.Values, make([]int64, 0, w.Samples))
		}
		t.watching = r
		if !t.ticking {
			t.ticking = true
			t.d.world.Every(node.WatchTick, t.tick)
			t.d.world.Follow(t)
		}
	})
	return err
}

// tick takes the samples that are due.
func (t *testbedNode) tick(now units.Time) {
	r := t.watching
	for r != nil && r.n < r.w.Samples && r.next <= now {
		for i, read := range r.read {
			r.Values[i] = append(r.Values[i], read(now))
		}
		r.n++
		r.Late = max(r.Late, now-r.next+t.d.world.Behind())
		r.next += r.w.Every
		r.Done = r.n == r.w.Samples
	}
}

// Rebase implements units.Rebaser.
func (t *testbedNode) Rebase(by units.Time) {
	if t.watching != nil {
		t.watching.next.Rebase(by)
	}
}

// shownTime is an instant as testbeds see it: of a clock that is not set back, but goes round in 213 days, so
// that only differences mean anything.
func shownTime(w dpdk.World, t units.Time) units.Time { return t + units.Time(w.Laps())*units.Lap }

// ownTime is the world's own instant of one that a testbed has named.
func ownTime(w dpdk.World, t units.Time) units.Time { return t - units.Time(w.Laps())*units.Lap }

func (r *recording) column(read func(now units.Time) int64, format string, args ...any) {
	r.Names = append(r.Names, fmt.Sprintf(format, args...))
	r.read = append(r.read, read)
}

// switchColumns are those of lab's recorded switch, for a set of priorities; 0: the lossless ones.
func (t *testbedNode) switchColumns(r *recording, priorities uint8) {
	s := t.d.sw
	priorities = cmp.Or(priorities, s.Buffer().Lossless)
	for port := range s.Ports() {
		r.column(func(units.Time) int64 { return int64(s.Sent(port)) }, "sent.%d", port)
		r.column(func(units.Time) int64 { return int64(s.Paused(port)) }, "paused.%d", port)
		for prio := range pfc.Classes {
			if priorities>>prio&1 == 0 {
				continue
			}
			r.column(func(units.Time) int64 { return int64(s.QueueBytes(port, prio)) }, "queue.%d.%d", port, prio)
			r.column(func(units.Time) int64 { return int64(s.Pauses(port, prio)) }, "xoffs.%d.%d", port, prio)
			r.column(func(units.Time) int64 { return int64(s.TxFrames(port, prio)) }, "frames.%d.%d", port, prio)
			r.column(func(units.Time) int64 { ce, _ := s.Marked(port, prio); return int64(ce) }, "marked.%d.%d", port, prio)
			r.column(func(units.Time) int64 { return int64(s.Discarded(port, prio)) }, "discarded.%d.%d", port, prio)
			r.column(func(now units.Time) int64 { return int64(s.Ternary(now, port, prio)) }, "state.%d.%d", port, prio)
			r.column(func(units.Time) int64 { _, ue := s.Marked(port, prio); return int64(ue) }, "ue.%d.%d", port, prio)
		}
	}
}

// hostColumns are those of lab's recorded host.
func (t *testbedNode) hostColumns(r *recording) error {
	h := t.host
	r.column(func(units.Time) int64 { return int64(h.DataSent()) }, "sent")
	r.column(func(units.Time) int64 { return int64(h.Paused()) }, "paused")
	for i, id := range r.w.Flows {
		look, err := t.d.traffic.traffic.Reader(id)
		if err != nil {
			return fmt.Errorf("there is no flow %d", id)
		}
		r.column(func(now units.Time) int64 { return int64(look(now).Allowed) }, "allowed.%d", i)
		r.column(func(now units.Time) int64 { return int64(look(now).Bytes) }, "sending.%d", i)
		r.column(func(now units.Time) int64 { return int64(look(now).Notified) }, "notified.%d", i)
		r.column(func(now units.Time) int64 { return int64(look(now).Repeated) }, "repeated.%d", i)
		r.column(func(now units.Time) int64 {
			if look(now).Stage == agent.Running {
				return 1
			}
			return 0
		}, "active.%d", i)
	}
	for i, p := range r.w.Received {
		r.column(func(units.Time) int64 { return int64(h.Received(p.From, p.QP).Bytes) }, "received.%d", i)
	}
	return nil
}

// Recorded implements admin.TestbedNode.
func (t *testbedNode) Recorded() (r node.Recording) {
	t.d.world.Do(func(units.Time) {
		if t.watching != nil {
			r = t.watching.Recording
			if !r.Done { // it still grows
				r.Values = nil
			}
		}
	})
	return r
}
