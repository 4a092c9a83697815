package htsim

import (
	"fmt"

	"photon/config"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/units"
)

// Flows lists the connections of a matrix as flows that wait for each other; host i of the matrix is host i of the
// plan. A trigger that is activated by what happens at the host that it starts a connection of does so at
// once, and else a signal's delay later.
func (m *Matrix) Flows(p *topology.Plan, dscp uint8, _ *experiment.Connections, list []experiment.Flow) ([]experiment.Flow, error) {
	hosts, first := p.Hosts(), len(list)
	causes := map[int][]experiment.Cause{} // by trigger
	for i := range m.Connections {
		c, flow := &m.Connections[i], int32(first+i)
		if c.SendDone != 0 {
			causes[c.SendDone] = append(causes[c.SendDone], experiment.Cause{Flow: flow, What: experiment.Acknowledged})
		}
		if c.RecvDone != 0 {
			causes[c.RecvDone] = append(causes[c.RecvDone], experiment.Cause{Flow: flow, What: experiment.Arrived})
		}
	}
	kind := map[int]*Trigger{}
	for i := range m.Triggers {
		kind[m.Triggers[i].ID] = &m.Triggers[i]
	}
	shots := map[int]int{} // of multishots: connections so far
	nics := experiment.NICs{Plan: p}
	group := &experiment.FlowKind{Group: experiment.DependentGroup, Weight: 1}
	for i := range m.Connections {
		c := &m.Connections[i]
		from, to := nics.Next(hosts[c.From], hosts[c.To])
		if p.Ways(from, to) == nil {
			return nil, &config.Error{File: m.File, Line: c.Line, Err: fmt.Errorf(
				"nothing leads from host %d to host %d of the topology", c.From, c.To)}
		}
		f := experiment.Flow{FlowKind: group, From: from, To: to, Size: c.Size, Start: c.Start, DSCP: dscp, AddWhenDue: true}
		if t := kind[c.Trigger]; t != nil {
			f.Start = units.Never
			f.Wait = &experiment.Wait{Host: f.From, After: causes[t.ID], Need: t.Count}
			if t.Kind == "multishot" {
				shots[t.ID]++
				f.Wait.Need = shots[t.ID]
			}
		}
		list = append(list, f)
	}
	return list, nil
}
