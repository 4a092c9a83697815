package daemon

import (
	"time"

	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/telemetry"
	"photon/units"
)

// snapshot is what a scrape sees. A reload may put another port into a place meanwhile: what is of one would be told of
// the other, and then it is taken again.
func (d *daemon) snapshot() telemetry.Snapshot {
	for {
		names := d.named.Load()
		if s := d.snapshotOf(d.names()); d.named.Load() == names {
			return s
		}
	}
}

// snapshotOf is that of the ports with these names. All memory is made, and its pages fetched, before the workers rest
// for it.
func (d *daemon) snapshotOf(names []string) (s telemetry.Snapshot) {
	s.Node, s.Ports, s.Host, s.Rates, s.Lossless = d.name, names, d.host != nil || d.nic != nil, d.ratesInForce(), d.lossless
	s.Stats.Ports = make([]fabric.PortStats, len(names))
	s.Polls = make([]dpdk.Polls, d.world.Workers())
	if d.sw != nil {
		s.Buffer = dataplane.NewBufferState(len(names))
	}
	clear(s.Stats.Ports)
	clear(s.Polls)
	if d.sw != nil {
		s.Residences = make([]dpdk.Residence, len(names))
		clear(s.Residences)
	}
	s.NIC = d.nic != nil
	d.world.DoBriefly(func(now units.Time) {
		s.Now, s.Laps, s.Scheme = now, d.world.Laps(), d.scheme
		s.Wall = d.wall.at(s.Laps, now, time.Now())
		d.node.CopyStats(now, &s.Stats)
		s.Pace = d.world.Pace()
		d.world.CopyPolls(s.Polls)
		d.world.CopyResidences(d.id, s.Residences)
		if d.sw != nil {
			d.sw.CopyBuffer(s.Buffer)
			s.Lossless, s.Gone = s.Buffer.Lossless, d.sw.RemovedLosses()
			s.Params, s.Watchdog, s.Response, s.Deadlock = d.params, d.sw.WatchdogConfig(), d.response, d.sw.DeadlockTime()
		}
	})
	if d.traffic != nil {
		s.Orders = d.traffic.counts()
	}
	s.Survived = units.Time(d.gap.Load())
	s.Devices, s.LinkChanges = make([]dpdk.DeviceStats, len(names)), d.links.counts()
	for _, dev := range d.world.Devices() {
		if dev.Port < len(names) {
			s.Devices[dev.Port] = dev
		}
	}
	if d.sw != nil {
		d.firstLosses.complete(&s)
		s.Shut = d.links.closed(s.Devices)
		s.LLDP = d.lldp(len(names))
	}
	return s
}
