package daemon

import (
	"photon/dataplane"
	"photon/telemetry"
	"photon/telemetry/admin"
	"photon/units"
)

// answer has the admin socket answer.
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

// source is where what can be shown comes from.
func (d *daemon) source() *telemetry.Source {
	s := &telemetry.Source{Snapshot: d.snapshot}
	if d.sw != nil {
		s.FDB, s.Forwarding, s.Past, s.SFlow = d.fdb, d.forwarding, d.past, d.sflow
	} else if d.nic != nil {
		s.Flows = d.surveyNIC
	} else {
		s.Flows = d.survey
	}
	return s
}

// fdb reads the forwarding database beside the workers, which only have to say where it is.
func (d *daemon) fdb() (entries []dataplane.FDBEntry, capacity int) {
	var view dataplane.FDBView
	var at units.Time
	d.world.DoBriefly(func(now units.Time) { view, at = d.sw.FDB(), now })
	return view.Entries(at), view.Capacity()
}

// forwarding is how the switch forwards.
func (d *daemon) forwarding() (f dataplane.Forwarding) {
	d.world.DoBriefly(func(units.Time) { f = d.sw.Forwarding() })
	return f
}
