package rebase

import (
	"reflect"
	"testing"

	"photon/agent"
	"photon/pfc"
	"photon/units"
)

// Flows that were ordered begin and stop when they should, and are reported as before, when the clock is set back while
// they wait, run or have ended.
func TestTrafficWhenTheClockIsSetBack(t *testing.T) {
	const begin = units.Lap + units.Second
	var results [2][]agent.Ordered
	for i := range results {
		s := newStar(t, begin, "dcqcn", false, pfc.Alert)
		tr := agent.NewTraffic(s.hosts[0], 10)
		order := func(qp uint32, size units.Size, start, stop units.Time) agent.Order {
			o := agent.Order{FlowSpec: agent.FlowSpec{Peer: ip(2), PeerMAC: mac(2), QP: qp, Size: size, Start: begin + start}}
			if stop > 0 {
				o.Stop = begin + stop
			}
			return o
		}
		if _, err := tr.Add(s.now, []agent.Order{
			order(1, units.KB, 0, 0), order(2, 0, 0, 5*ms), order(3, 0, 0, 0), order(4, units.KB, 30*ms, 0), order(5, 0, 40*ms, 50*ms),
		}); err != nil {
			t.Fatal(err)
		}
		for step := range 70 {
			if i == 1 && step == 3 {
				s.setBack()
				tr.Rebase(units.Lap)
			}
			s.run(s.now + ms)
			tr.Step(s.now)
		}
		results[i] = tr.List(s.now, 0, 10)
		for k := range results[i] {
			o := &results[i][k]
			for _, at := range []*units.Time{&o.Start, &o.Stop, &o.FirstBit, &o.End} {
				if *at != 0 {
					*at += s.laps - begin
				}
			}
		}
	}
	if want := []agent.Stage{agent.Done, agent.Stopped, agent.Running, agent.Done, agent.Stopped}; len(results[0]) != len(want) {
		t.Fatalf("%d flows", len(results[0]))
	} else {
		for k, o := range results[0] {
			if o.Stage != want[k] {
				t.Errorf("flow %d is %v", o.ID, o.Stage)
			}
		}
	}
	if !reflect.DeepEqual(results[0], results[1]) {
		t.Errorf("flows\n%+v, with the clock set back\n%+v", results[0], results[1])
	}
}
