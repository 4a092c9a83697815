package agent_test

import (
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/dataplane"
	"photon/fabric"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// What the worker rests for while somebody looks at flows: 256 at a time.
func BenchmarkFlows(b *testing.B) {
	const flows = 256
	s, err := scheme.Get("dcqcn")
	if err != nil {
		b.Fatal(err)
	}
	parts, err := s.Build(scheme.Network{Line: rate}, nil)
	if err != nil {
		b.Fatal(err)
	}
	h, err := agent.New(agent.Config{
		MAC: mac(1), IP: ip(1), Link: fabric.Link{Rate: rate}, Lossless: 1 << 3, DSCP: dataplane.DefaultDSCP(), DataDSCP: 26, Carry: cnp.Carry{ECT: wire.ECT0},
		Payload: 1000, AckTimeout: ms, Senders: flows, Receivers: 1, Age: units.Second, NP: parts.NP(1), NewRP: parts.RP,
	}, fabric.NewEnv(fabric.NewHeaderPool(), 1))
	if err != nil {
		b.Fatal(err)
	}
	for qp := range flows {
		if _, err := h.AddFlow(0, agent.FlowSpec{Peer: ip(2), PeerMAC: mac(2), QP: uint32(qp)}); err != nil {
			b.Fatal(err)
		}
	}
	sum := units.Rate(0)
	b.ReportAllocs()
	for b.Loop() {
		for id := range h.Flows() {
			sum += h.Flow(ms, id).Rate
		}
	}
	if sum == 0 {
		b.Fatal("flows without a rate")
	}
}
