package agent_test

import (
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/ratelimit"
	"photon/units"
)

// As QCN has it: a flow starts at line rate without a limiter, its first
// notification associates one, and it is released when the rate is the line's again.
func TestLimitersAreAssociatedAndReleased(t *testing.T) {
	params := &ratelimit.QCNParams{
		Line: rate, Min: 5 * units.Mbps, AI: 50 * units.Mbps, HAI: 500 * units.Mbps, Gd: 1. / 128, MinDec: 0.5, ByteReset: 150 * units.KB,
		TimeReset: 100 * units.Microsecond, Threshold: 5, Jitter: 0.15,
	}
	var rps []*ratelimit.QCN
	p := newPair(t, cnp.Silent{}, func(c *agent.Config) {
		c.NewRP = func(*ratelimit.Port) ratelimit.RP {
			rps = append(rps, ratelimit.NewQCN(params, 1))
			return rps[len(rps)-1]
		}
	})
	p.send(1, 0, 0)
	p.send(2, 0, 0)
	p.run(ms)
	limited := func() (n int) {
		for id := range 2 {
			if p.a.Flow(p.Now(), id).Limited {
				n++
			}
		}
		return n
	}
	if n := limited(); n != 0 {
		t.Fatalf("%d limiters before any notification", n)
	}
	if f := p.a.Flow(p.Now(), 0); f.Rate != rate {
		t.Errorf("a flow starts at %v", f.Rate)
	}
	rps[0].Notify(p.Now(), 0, 63)
	if n := limited(); n != 1 || p.a.Flow(p.Now(), 0).Rate > rate*51/100 {
		t.Fatalf("%d limiters after a notification, rate %v", n, p.a.Flow(p.Now(), 0).Rate)
	}
	for deadline := p.Now() + units.Second; limited() > 0; p.run(p.Now() + ms) {
		if p.Now() > deadline {
			t.Fatal("the limiter is not released")
		}
	}
	if f := p.a.Flow(p.Now(), 0); f.Rate != rate {
		t.Errorf("released at %v", f.Rate)
	}
	rps[0].Notify(p.Now(), 0, 63) // and associated again
	if limited() != 1 {
		t.Error("not associated again")
	}
}

// Tenants share a port by their weights and keep to their caps, whatever the
// reaction points allow.
func TestTenantsOfAHost(t *testing.T) {
	p := newPair(t, cnp.Silent{}, func(c *agent.Config) {
		c.Senders, c.Receivers = 20, 20
		c.Tenants = []ratelimit.Tenant{{Weight: 3}, {Weight: 1}, {Weight: 9, Cap: 1200 * units.Mbps}}
	})
	sent := map[int]*[]int{}
	for qp := 1; qp <= 15; qp++ {
		tenant := 1
		if qp > 1 {
			tenant = 2
		}
		if qp > 9 {
			tenant = 3
		}
		id, err := p.a.AddFlow(0, agent.FlowSpec{Peer: ip(2), PeerMAC: mac(2), QP: uint32(qp), Tenant: tenant})
		if err != nil {
			t.Fatal(err)
		}
		if sent[tenant] == nil {
			sent[tenant] = &[]int{}
		}
		*sent[tenant] = append(*sent[tenant], id)
	}
	p.run(20 * ms)
	share := func(tenant int) (sum float64) {
		for _, id := range *sent[tenant] {
			sum += float64(p.a.Flow(p.Now(), id).Bytes) * 8 / 0.020
		}
		return sum
	}
	for tenant, want := range map[int]float64{1: 6.6e9, 2: 2.2e9, 3: 1.2e9} {
		if got := share(tenant); got < want*0.99 || got > want*1.01 {
			t.Errorf("tenant %d sends %.0f bit/s, expected %.0f", tenant, got, want)
		}
	}
	if _, err := p.a.AddFlow(p.Now(), agent.FlowSpec{Peer: ip(2), PeerMAC: mac(2), QP: 99, Tenant: 4}); err == nil {
		t.Error("a flow of no tenant that there is")
	}
}

// A flow's first rate holds where the reaction point cannot come up from it, unless its limit is lower, and a limit
// that is set later takes its place.
func TestFirstRateOfAFlow(t *testing.T) {
	for _, c := range []struct{ begin, limit, want units.Rate }{
		{0, 0, rate}, {units.Gbps, 0, units.Gbps},
		{units.Gbps, 2 * units.Gbps, units.Gbps}, {2 * units.Gbps, units.Gbps, units.Gbps},
	} {
		p := newPair(t, cnp.Silent{}, nil)
		id, err := p.a.AddFlow(0, agent.FlowSpec{Peer: ip(2), PeerMAC: mac(2), QP: 1, Begin: c.begin, Limit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []units.Rate{c.want, 5 * units.Gbps} {
			before := p.a.DataSent()
			p.run(p.Now() + 10*ms)
			got, least := float64(p.a.DataSent()-before), float64(want)*0.010/8
			if s := p.a.Flow(p.Now(), id); s.Rate != want || got < least*0.99 || got > least*1.01 {
				t.Errorf("%+v: %v, %.0f bytes in 10 ms, of %.0f", c, s.Rate, got, least)
			}
			p.a.SetLimit(p.Now(), id, 5*units.Gbps)
		}
	}
}
