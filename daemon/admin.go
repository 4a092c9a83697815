package daemon

import (
	"photon/dataplane"
	"photon/telemetry"
	"photon/telemetry/admin"
	"photon/units"
)

// answer serves the admin socket.
func (d *daemon) answer(a *admin.Server, source *telemetry.Source) {
	a.Show(source)
	a.Live(source)
	a.Reload(d.reloadAndLog)
	a.Captures(d.capture)
	a.Ports(d)
	a.Watermarks(d.clearWatermarks)
	if d.testbed != nil {
		a.Testbed(d.testbed)
	}
	if d.traffic != nil {
		a.Flows(d.traffic)
	} else {
		a.Flows(nil)
	}
	a.Serve()
}

// source provides what `photon show` shows.
func (d *daemon) source() *telemetry.Source {
	s := &telemetry.Source{Snapshot: d.snapshot}
	if d.sw != nil {
		s.FDB, s.Addresses, s.Forwarding, s.Past, s.SFlow = d.fdb, d.addresses, d.forwarding, d.past, d.sflow
	} else if d.nic != nil {
		s.Flows = d.surveyNIC
	} else {
		s.Flows = d.survey
	}
	return s
}

// fdb reads the forwarding database while the workers run; only its address is read between their bursts.
func (d *daemon) fdb() []dataplane.FDBEntry {
	view, now := d.viewFDB()
	return view.Entries(now)
}

// addresses counts what fdb lists, and how many places there are for it.
func (d *daemon) addresses() (known, places int) {
	view, now := d.viewFDB()
	return view.Known(now), view.Capacity()
}

func (d *daemon) viewFDB() (view dataplane.FDBView, at units.Time) {
	d.world.DoBriefly(func(now units.Time) { view, at = d.sw.FDB(), now })
	return view, at
}

// forwarding is how the switch forwards.
func (d *daemon) forwarding() (f dataplane.Forwarding) {
	d.world.DoBriefly(func(units.Time) { f = d.sw.Forwarding() })
	return f
}
