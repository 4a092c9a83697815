package agent

import (
	"testing"

	"photon/cnp"
	"photon/dataplane"
	"photon/fabric"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// A world that serves a port when it was asked to, or when the link is free, is never late, whatever the flows do
// that share the link: nothing is made good for in virtual time.
func TestVirtualTimeIsNeverLate(t *testing.T) {
	const line = 10 * units.Gbps
	env := fabric.NewEnv(fabric.NewHeaderPool(), 1)
	link := fabric.Link{Rate: line}
	h, err := New(Config{
		IP: wire.IPv4(10, 0, 0, 1), Link: link, DSCP: dataplane.DefaultDSCP(), DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48, Payload: 1000,
		AckTimeout: units.Second, Senders: 8, Receivers: 1, Age: units.Second, NP: cnp.Silent{},
		NewRP: func(*ratelimit.Port) ratelimit.RP { return ratelimit.Unlimited{Line: line} },
	}, env)
	if err != nil {
		t.Fatal(err)
	}
	for i, rate := range []units.Rate{line, line, 3 * units.Gbps, 7 * units.Mbps} {
		spec := FlowSpec{Peer: wire.IPv4(10, 0, 0, 2), QP: uint32(i), Limit: rate, Start: units.Time(i) * 10 * units.Microsecond}
		if _, err := h.AddFlow(0, spec); err != nil {
			t.Fatal(err)
		}
	}
	var one [1]fabric.Frame
	free, now := units.Time(0), units.Time(0)
	for range 20_000 {
		now = max(now, free, env.Due(0))
		env.SetDue(0, units.Never)
		if h.Transmit(now, 0, one[:]) == 1 {
			env.Free(one[0])
			free = now + link.Serialize(int(one[0].Len))
		}
		env.SetDue(0, h.Next(now, 0))
		env.Woken()
		if h.punctual.late != 0 {
			t.Fatalf("late by %v at %v", h.punctual.late, now)
		}
	}
}
