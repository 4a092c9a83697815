package daemon

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"photon/config"
	"photon/dataplane"
	"photon/fabric"
	"photon/pfc"
	"photon/telemetry"
	"photon/telemetry/sflow"
	"photon/units"
	"photon/wire"
)

// sampling sends what ports sample to a collector. The switch copies the frames; here they are sent.
type sampling struct {
	sync.Mutex
	conf    *config.SFlow // in force; nil: none
	to      net.Conn
	writer  sflow.Writer
	began   time.Time
	polled  time.Time
	counts  telemetry.SFlow
	every   int                      // by which the ports have sampled until now; 0: they have not
	seen    []dataplane.SampleCounts // by port, of what is in counts
	tried   time.Time                // when there was no way to the collector
	noWay   bool                     // there was none then
	astray  bool                     // what is sent by that way does not leave the host: another is looked for
	failing bool                     // it is in the log
}

// tryEvery is how often a collector is tried to which there is no way: a route may come after photon.
const tryEvery = time.Second

// watchSamples has ports sample as the configuration says now, and sends what they have.
func (d *daemon) watchSamples(now time.Time) {
	if d.sw == nil {
		return
	}
	d.loaded.Lock()
	conf := d.loaded.conf.SFlow
	d.loaded.Unlock()
	x := &d.sampling
	x.Lock()
	defer x.Unlock()
	if conf == nil && x.conf == nil {
		return
	}
	if conf != x.conf {
		d.sampleAs(conf)
	}
	if conf != nil && x.to == nil && now.Sub(x.tried) >= tryEvery {
		d.reach(now)
	}
	names := d.names()
	samples := make([][]dataplane.Sample, len(names))
	counts := make([]dataplane.SampleCounts, len(names))
	for i := range samples {
		samples[i] = make([]dataplane.Sample, 0, 8)
	}
	before, every := x.every, 0
	if conf != nil {
		every = conf.Every()
	}
	x.every = every
	d.world.DoBriefly(func(units.Time) {
		for i, name := range names {
			if name == "" {
				continue
			}
			counts[i], _ = d.sw.Samples(i, func(s *dataplane.Sample) { samples[i] = append(samples[i], *s) })
			d.sw.Sampling(i, every)
		}
	})
	if conf == nil {
		return
	}
	some := false
	x.seen = append(x.seen, make([]dataplane.SampleCounts, max(0, len(counts)-len(x.seen)))...)
	for i := range x.seen {
		var c dataplane.SampleCounts
		if i < len(counts) {
			c = counts[i]
			some = some || len(samples[i]) > 0
		}
		was := x.seen[i]
		if c.Samples < was.Samples { // no port, or another
			was = dataplane.SampleCounts{}
		}
		x.counts.Samples += c.Samples - was.Samples
		x.counts.Lost += c.Lost - was.Lost
		x.seen[i] = c
	}
	if x.to == nil {
		if some {
			x.counts.Failed++
		}
		return
	}
	x.writer.Begin(uint32(now.Sub(x.began).Milliseconds()))
	for i := range samples {
		for j := range samples[i] {
			s := &samples[i][j]
			x.writer.Flow(&sflow.Flow{
				Port: uint32(i + 1), Every: uint32(before), Pool: counts[i].Pool, Drops: uint32(counts[i].Lost),
				Length: int(s.Length), Head: s.Head(),
			})
		}
	}
	if every := conf.Interval(); every > 0 && now.Sub(x.polled) >= every.Duration() {
		x.polled = now
		d.sendCounters()
	}
	x.writer.End()
	if x.astray {
		x.to.Close()
		x.to, x.astray, x.tried = nil, false, now
	}
}

// sampleAs takes over another configuration; nil: none.
func (d *daemon) sampleAs(conf *config.SFlow) {
	x := &d.sampling
	if x.to != nil {
		x.to.Close()
	}
	x.conf, x.to, x.failing, x.tried = conf, nil, false, time.Time{}
	x.noWay, x.astray, x.writer.Agent = false, false, netip.Addr{}
	x.counts.On, x.counts.Collector, x.counts.Every = false, "", 0
	if conf == nil {
		x.seen = nil // ports that sample again count anew
		return
	}
	x.counts.On, x.counts.Collector, x.counts.Every = true, conf.Collector.V, conf.Every()
}

// reach looks for a way to the collector.
func (d *daemon) reach(now time.Time) {
	x := &d.sampling
	conf := x.conf
	x.tried = now
	to, err := net.Dial("udp", conf.Collector.V)
	if err != nil {
		x.noWay = true
		if !x.failing {
			x.failing = true
			d.log.Warnf("sflow: %v; no samples are sent (tried again every %v, said once)", err, tryEvery)
		}
		return
	}
	agent := to.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	if conf.Agent.IsSet() {
		agent = netip.MustParseAddr(conf.Agent.V) // it was checked
	}
	found := x.noWay || agent != x.writer.Agent // else it is the way by which nothing could be sent
	x.to, x.writer.Agent, x.noWay = to, agent, false
	if x.began.IsZero() {
		x.began = now
	}
	x.writer.Send = func(b []byte) {
		x.counts.Datagrams++
		if _, err := to.Write(b); err != nil {
			if !errors.Is(err, syscall.ECONNREFUSED) { // that the collector does not listen is no matter of the way
				x.astray = true
			}
			if x.counts.Failed++; !x.failing {
				x.failing = true
				d.log.Warnf("sflow: %v (said once; photon show sflow counts what could not be sent)", err)
			}
		}
	}
	if !found {
		return
	}
	x.failing = false
	d.log.Infof("sflow: one frame in %d to %s, from %v", conf.Every(), conf.Collector.V, agent)
}

// sendCounters adds those of all ports.
func (d *daemon) sendCounters() {
	snap := d.snapshot()
	for i := range snap.Numbers() {
		st := &snap.Stats.Ports[i]
		c := sflow.Counters{Port: uint32(i + 1), Admin: i >= len(snap.Shut) || !snap.Shut[i]}
		c.InBytes = octets(&st.RxFrames, &st.RxBytes, st.RxControl, st.RxControlBytes)
		c.OutBytes = octets(&st.TxFrames, &st.TxBytes, st.TxControl, st.TxControlBytes)
		out, in := st.Frames()
		c.In, c.Out = uint32(in), uint32(out)
		for why, byPriority := range st.Discards {
			for _, n := range byPriority {
				switch fabric.Reason(why) {
				case fabric.DropTail, fabric.DropWRED, fabric.DropStorm, fabric.DropLink: // of the port's queues
					c.OutDrops += uint32(n)
				default:
					c.InDiscards += uint32(n)
				}
			}
		}
		if i < len(snap.Devices) {
			dev := &snap.Devices[i]
			c.Up, c.InErrors, c.OutEr = dev.LinkUp, uint32(dev.RxErrors), uint32(dev.TxErrors)
			c.InDiscards += uint32(dev.RxMissed + dev.RxNoBuffer + dev.RxTooLong + dev.RxSeveral)
			c.OutDrops += uint32(dev.TxDropped + dev.TxTooLong)
		}
		if i < len(snap.Rates) {
			c.Speed = uint64(snap.Rates[i])
		}
		d.sampling.writer.Counters(&c)
	}
}

// octets are what frames are together as a collector counts them, who sees the lengths of samples beside: with FCS, and
// with frames of the link.
func octets(frames, bytes *[pfc.Classes]uint64, control, controlBytes uint64) (sum uint64) {
	sum = controlBytes + wire.FCSLen*control
	for prio := range frames {
		sum += bytes[prio] + wire.FCSLen*frames[prio]
	}
	return sum
}

// sflow is what telemetry shows of it.
func (d *daemon) sflow() telemetry.SFlow {
	d.sampling.Lock()
	defer d.sampling.Unlock()
	return d.sampling.counts
}
