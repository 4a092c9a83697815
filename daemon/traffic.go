package daemon

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"photon/agent"
	"photon/config"
	"photon/lab/experiment"
	"photon/telemetry"
	"photon/telemetry/node"
	"photon/telemetry/show"
	"photon/units"
	"photon/wire"
)

const (
	// maxEndedListed is how many flows that ended an agent lists at least.
	maxEndedListed = 65536
	// stepEvery is how often an agent checks whether flows are to begin or to stop.
	stepEvery = 100 * units.Microsecond
	// flowsPerCall is how many flows are added in one call, for which the workers wait: a
	// few hundred microseconds.
	flowsPerCall = 1000
)

// traffic gives the admin socket and the log access to an agent's flows.
type traffic struct {
	d       *daemon
	ip      wire.IP
	node    *config.AgentNode
	traffic *agent.Traffic
	adding  sync.Mutex    // numbers of a request follow each other, and its queue pairs are its own
	results *results      // nil: no file
	linked  bool          // flows may begin
	doubles agent.Doubles // of which the log says so
}

// configuredTraffic is what the configuration has an agent send, and the file for its results.
type configuredTraffic struct {
	list    []agent.Order
	results *results // nil: no file
}

// CheckFiles says what is wrong with the files that an agent's configuration names, as its start would.
func CheckFiles(conf *config.Agent) error {
	if _, err := configuredOrders(conf); err != nil {
		return err
	}
	return conf.CheckFolders()
}

// configuredOrders are the flows of the configuration and of its file of traffic.
func configuredOrders(conf *config.Agent) (list []agent.Order, err error) {
	node, err := conf.Resolve(nil)
	if err != nil {
		return nil, err
	}
	for _, f := range node.Flows {
		list = append(list, agent.Order{FlowSpec: f})
	}
	b, err := conf.ReadTraffic()
	if err != nil {
		return nil, err
	}
	if b != nil {
		t, err := experiment.ParseTraffic(conf.TrafficFile(), b)
		if err != nil {
			return nil, err
		}
		flows, err := t.Of(node.Config.IP)
		if err != nil {
			return nil, err
		}
		for _, f := range flows {
			spec := agent.FlowSpec{
				Peer: f.To, PeerMAC: node.Gateway.MACTo(f.To), Size: f.Size, Start: f.Start,
				Limit: f.Limit, Begin: f.Begin, DSCP: f.DSCP, Shared: f.Shared, Weight: f.Weight,
			}
			if err := node.Config.CheckFlow(&spec); err != nil {
				return nil, &config.Error{File: conf.TrafficFile(), Err: err}
			}
			list = append(list, agent.Order{Group: f.Group, Stop: f.Stop, FlowSpec: spec})
		}
	}
	return list, nil
}

// readTraffic reads what the configuration has an agent send, before anything starts.
func readTraffic(conf *config.Agent) (g configuredTraffic, err error) {
	if g.list, err = configuredOrders(conf); err != nil {
		return g, refused(err)
	}
	f, err := conf.ResultsFile()
	if err != nil {
		return g, refused(err)
	}
	if f != nil {
		g.results, err = startResults(f)
	}
	return g, refused(err)
}

// newTraffic starts the configured flows, and takes orders for others.
func newTraffic(d *daemon, h *agent.Host, node *config.AgentNode, g configuredTraffic) (*traffic, error) {
	o := &traffic{d: d, ip: node.Config.IP, node: node, traffic: agent.NewTraffic(h, maxEndedListed), results: g.results}
	o.traffic.SetLink(0, false) // until somebody has asked the device: see setLink
	if _, err := o.traffic.Add(0, g.list); err != nil {
		return nil, refused(err)
	}
	d.world.Every(stepEvery, o.traffic.Step)
	d.world.Follow(o.traffic)
	return o, nil
}

// setLink lets flows begin, or holds them back. The caller holds the lock of the links.
func (o *traffic) setLink(up bool) {
	if up != o.linked {
		o.linked = up
		o.d.world.DoBriefly(func(now units.Time) { o.traffic.SetLink(now, up) })
	}
}

// Order implements admin.FlowSource.
func (o *traffic) Order(r node.FlowOrders) (done node.FlowsOrdered, err error) {
	list := make([]agent.Order, len(r.Flows))
	for i, f := range r.Flows {
		if f.Start < 0 || f.Stop < 0 || f.Limit < 0 || f.Begin < 0 {
			return done, fmt.Errorf("flow %d: times and rates must not be negative", i+1)
		}
		if f.Stop > 0 && f.Stop <= f.Start { // said here: agent.Traffic would name times of its own clock
			return done, fmt.Errorf("flow %d: stop %v is not after start %v", i+1, f.Stop, f.Start)
		}
		if f.ToMAC == 0 {
			f.ToMAC = o.node.Gateway.MACTo(f.To)
		}
		tenant, err := o.node.Tenant(f.Tenant)
		if err != nil {
			return done, err
		}
		list[i] = agent.Order{Group: f.Group, Stop: f.Stop, FlowSpec: agent.FlowSpec{
			Peer: f.To, PeerMAC: f.ToMAC, QP: f.QP, SrcPort: f.SrcPort, DSCP: f.DSCP, Size: f.Size, Start: f.Start, Limit: f.Limit, Begin: f.Begin, Shared: f.Shared,
			Weight: f.Weight, Tenant: tenant,
		}}
	}
	if len(list) == 0 {
		return done, errors.New("no flows were named")
	}
	o.adding.Lock()
	defer o.adding.Unlock()
	var laps uint64 // of the clock by which starts are
	o.d.world.Do(func(now units.Time) {
		laps = o.d.world.Laps()
		origin := now
		if r.Origin != 0 {
			origin = ownTime(o.d.world, r.Origin)
		}
		for i := range list {
			list[i].Start += origin
			if list[i].Stop > 0 {
				list[i].Stop += origin
			}
		}
		err = o.traffic.Check(now, list)
	})
	if err != nil {
		return done, err
	}
	for len(list) > 0 {
		batch := list[:min(len(list), flowsPerCall)]
		list = list[len(batch):]
		o.d.world.Do(func(now units.Time) {
			for ; laps != o.d.world.Laps(); laps++ { // the clock was set back meanwhile
				for i := range list {
					list[i].Rebase(units.Lap)
				}
				for i := range batch {
					batch[i].Rebase(units.Lap)
				}
			}
			if first := o.traffic.AddChecked(now, batch); done.Count == 0 {
				done.First = first
			}
		})
		done.Count += len(batch)
	}
	return done, nil
}

// Stop implements admin.FlowSource. What is not there keeps nothing else from being stopped.
func (o *traffic) Stop(ids []uint64) (stopped int, err error) {
	var unknown []uint64
	for len(ids) > 0 {
		batch := ids[:min(len(ids), flowsPerCall)]
		ids = ids[len(batch):]
		o.d.world.Do(func(now units.Time) {
			for _, id := range batch {
				was, e := o.traffic.Stop(now, id)
				if e != nil {
					unknown = append(unknown, id)
				} else if was {
					stopped++
				}
			}
		})
	}
	if len(unknown) == 0 {
		return stopped, nil
	}
	why := fmt.Sprintf("there is no flow %d", unknown[0])
	if stopped > 0 {
		why = fmt.Sprintf("%d stopped, but %s", stopped, why)
	}
	if n := len(unknown) - 1; n > 0 {
		why += fmt.Sprintf(", nor %d others", n)
	}
	return stopped, fmt.Errorf("%s (photon flow list shows them)", why)
}

// List implements admin.FlowSource.
func (o *traffic) List(after uint64, most int) (d show.FlowList) {
	d = show.FlowList{Node: o.d.name, IP: o.ip, Flows: []show.FlowStatus{}}
	var list []agent.Ordered
	var at units.Time
	var laps uint64
	o.d.world.Do(func(now units.Time) {
		list, at, laps = o.traffic.List(now, after, most), now, o.d.world.Laps()
		d.Pending, d.Running, d.Refused, d.Forgotten = o.traffic.Counts()
		d.Failed = o.traffic.Failed()
	})
	d.Now = units.SinceBegan(laps, at)
	for i := range list {
		d.Flows = append(d.Flows, flowStatus(laps, at, &list[i]))
	}
	return d
}

// counts are for the metrics.
func (o *traffic) counts() *telemetry.FlowCounts {
	c := &telemetry.FlowCounts{}
	o.d.world.DoBriefly(func(units.Time) {
		c.Pending, c.Running, c.Refused, _ = o.traffic.Counts()
		c.Failed = o.traffic.Failed()
	})
	return c
}

// flowStatus is the status of a flow at an instant of a clock that was set back by laps.
func flowStatus(laps uint64, now units.Time, f *agent.Ordered) show.FlowStatus {
	when := func(t units.Time) float64 {
		if t == 0 { // not yet
			return 0
		}
		return units.SinceBegan(laps, t)
	}
	s := show.FlowStatus{
		ID: f.ID, Group: f.Group, To: f.Peer, QP: f.QP, Size: int64(f.Size), State: f.Stage.String(), Start: units.SinceBegan(laps, f.Start), FirstBit: when(f.FirstBit),
		End: when(f.End), FCT: f.FCT().Seconds(), Rate: int64(f.Rate(now)), Allowed: int64(f.Allowed), Packets: f.Frames, WireBytes: f.Bytes, Notified: f.Notified,
		Limited: f.Limited,
	}
	if f.Why != nil {
		s.Why = f.Why.Error()
	}
	return s
}

// report logs flows as they end and writes them to the file of results, until
// the function it returns is called: then those that are being sent end.
func (o *traffic) report() (stop func()) {
	ended := make(chan struct{})
	finished := make(chan struct{})
	tick := time.NewTicker(time.Second)
	go func() {
		defer close(finished)
		for {
			select {
			case <-tick.C:
				o.reportOnce()
			case <-ended:
				o.d.world.Do(o.traffic.StopRunning)
				o.reportOnce()
				return
			}
		}
	}()
	return func() {
		tick.Stop()
		close(ended)
		<-finished
		if err := o.results.close(); err != nil {
			o.d.log.Warn(err)
		}
	}
}

// warnOfDoubles logs, once for either of its addresses, that another host has it, too.
func (o *traffic) warnOfDoubles(now agent.Doubles) {
	c := &o.node.Config
	if now.MAC > 0 && o.doubles.MAC == 0 {
		o.d.log.Warnf("another agent announces itself with this one's address, %v (`ip:`, `mac:`), or a loop of the "+
			"network brings frames back: flows end at either of the two (said once)", c.MAC)
	}
	if now.IP > 0 && o.doubles.IP == 0 {
		o.d.log.Warnf("another host has this agent's `ip:`, %v, at %v (this one is at %v): receivers take flows of "+
			"both for those of one host, and flows to it end at either (said once)", c.IP, now.At, c.MAC)
	}
	o.doubles = now
}

// loggedAtOnce is how many flows of a second have a line of the log each.
const loggedAtOnce = 20

func (o *traffic) reportOnce() {
	var list []agent.Ordered
	var at units.Time
	var laps uint64
	var doubles agent.Doubles
	o.d.world.Do(func(now units.Time) {
		o.traffic.Step(now)
		list, at, laps, doubles = o.traffic.TakeEnded(), now, o.d.world.Laps(), o.d.host.Doubles()
	})
	o.warnOfDoubles(doubles)
	for i := range list {
		f := &list[i]
		switch {
		case i == loggedAtOnce:
			o.d.log.Infof("%d more flows ended (photon flow list shows them)", len(list)-i)
		case i > loggedAtOnce:
		case f.Stage == agent.Done:
			o.d.log.Infof("flow to %v, queue pair %d: %v in %v", f.Peer, f.QP, f.Size, f.FCT())
		case f.Stage == agent.Refused:
			o.d.log.Warnf("flow to %v, queue pair %d, was refused: %v", f.Peer, f.QP, f.Why)
		case f.Stage == agent.Failed:
			o.d.log.Warnf("flow to %v, queue pair %d, failed: %v", f.Peer, f.QP, f.Why)
		}
		if err := o.results.write(flowStatus(laps, at, f)); err != nil {
			o.d.log.Warn(err)
		}
	}
	if err := o.results.flush(); err != nil {
		o.d.log.Warn(err)
	}
}

// results is a CSV file to which flows are written as they end.
type results struct {
	file *os.File
	csv  *csv.Writer
}

// startResults appends to a file, which gets the head if it is new.
func startResults(f *os.File) (*results, error) {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("results: %w", err)
	}
	r := &results{file: f, csv: csv.NewWriter(f)}
	if info.Size() == 0 {
		return r, r.csv.Write(show.FlowCSV)
	}
	return r, nil
}

func (r *results) write(s show.FlowStatus) error {
	if r == nil {
		return nil
	}
	return r.csv.Write(s.Row())
}

func (r *results) flush() error {
	if r == nil {
		return nil
	}
	r.csv.Flush()
	return r.csv.Error()
}

func (r *results) close() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.flush(), r.file.Close())
}
