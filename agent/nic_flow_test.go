package agent_test

import (
	"testing"

	"photon/agent"
	"photon/units"
	"photon/wire"
)

// Every flow that is known can be seen, by the name that its programs know, with what it
// sent and what waits.
func TestNICShowsItsFlows(t *testing.T) {
	b := newBench(t, nil)
	b.receive(agent.Application,
		udpFrame(t, 1, 2, 4000, 5201, dscp26, 1000), udpFrame(t, 1, 2, 4000, 5201, dscp26, 1000),
		udpFrame(t, 1, 3, 4001, 5201, dscp26, 500), rxe(t, 1, 2, 0x11, wire.OpSendOnly, ect0, []byte("a message")))
	b.rps[0].rate = units.Gbps
	seen := func() (all []agent.NICFlow) {
		for i := range b.nic.Slots() {
			if f, ok := b.nic.Flow(b.now, i); ok {
				all = append(all, f)
			}
		}
		return all
	}
	all := seen()
	if len(all) != 3 {
		t.Fatalf("%d flows: %+v", len(all), all)
	}
	if f := all[0]; f.From != ip(1) || f.To != ip(2) || f.FromPort != 4000 || f.ToPort != 5201 || f.Proto != wire.ProtoUDP || f.RoCE || f.Prio != 3 || f.Waiting != 2 || f.Frames != 0 ||
		f.Rate != units.Gbps || !f.Limited {
		t.Errorf("%+v", f)
	}
	if f := all[1]; f.To != ip(3) || f.FromPort != 4001 || f.Waiting != 1 || f.Limited {
		t.Errorf("%+v", f)
	}
	if f := all[2]; !f.RoCE || f.QP != 0x11 || f.FromPort != 0 || f.ToPort != 0 {
		t.Errorf("%+v", f)
	}
	b.transmitAll()
	if f := seen()[0]; f.Waiting != 0 || f.Frames != 2 || f.Bytes != 2*(1042+wire.Overhead) || f.Silent {
		t.Errorf("%+v", f)
	}
	b.now += 2 * units.Second // the NIC's age is one
	b.receive(agent.Application, udpFrame(t, 1, 3, 4001, 5201, dscp26, 500))
	if all := seen(); !all[0].Silent || all[1].Silent || !all[2].Silent {
		t.Errorf("frames of the second flow wait, and nothing came of the others for long: %+v", all)
	}
	b.transmitAll()
	if all := seen(); !all[0].Silent || all[1].Silent {
		t.Errorf("a frame of the second flow left now: %+v", all)
	}
}
