package measure

import (
	"runtime"
	"testing"

	"photon/config"
	"photon/fabric"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/units"
)

// Results have the flows of each seed until all seeds have run: of the ways of a network in which hardly any are alike,
// of which there may be fifty megabytes, nothing is kept with them.
func TestEndedFlowsKeepNoWays(t *testing.T) {
	const switches = 150
	p := topology.New()
	var hosts, ring []int
	for i := range switches {
		hosts, ring = append(hosts, p.Host("H%d", i)), append(ring, p.Switch("x", "S%d", i))
		p.Connect(hosts[i], ring[i], fabric.Link{Rate: units.Gbps})
	}
	for i := range switches {
		p.Connect(ring[i], ring[(i+1)%switches], fabric.Link{Rate: units.Gbps, Delay: units.Time(i) * units.Nanosecond})
	}
	flows, kind := &build.Flows{}, &experiment.FlowKind{Group: "g"}
	for _, from := range hosts {
		for _, to := range hosts {
			if from != to {
				flows.Add(build.Flow{Flow: experiment.Flow{FlowKind: kind, From: from, To: to, Size: 1}, Done: true})
			}
		}
	}
	e := &experiment.Experiment{}
	e.Parameters.Payload.Value = config.Set(units.Size(1000))
	ended := EndedFlows(e, &build.Network{Plan: p, Flows: flows}, 1)
	inUse := func() uint64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	before, n := inUse(), 0
	for range 2 {
		for f := range ended {
			if n++; f.Ideal <= 0 {
				t.Fatalf("from %s to %s it takes %v", f.From, f.To, f.Ideal)
			}
		}
	}
	if n != 2*switches*(switches-1) {
		t.Errorf("%d flows", n)
	}
	if after := inUse(); after > before+4<<20 {
		t.Errorf("%d MB more are in use when the flows were passed", (after-before)>>20)
	}
	runtime.KeepAlive(ended)
}
