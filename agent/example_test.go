package agent_test

import (
	"fmt"

	"photon/agent"
	"photon/cnp"
	"photon/dataplane"
	"photon/fabric"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// A host makes a frame when its port takes one: asked at an instant, it has a
// flow's next packet, or says when to ask again.
func ExampleHost() {
	env := fabric.NewEnv(fabric.NewHeaderPool(), 1)
	h, err := agent.New(agent.Config{
		MAC: 0x0200_0000_0001, IP: wire.IPv4(10, 0, 0, 1), Link: fabric.Link{Rate: 10 * units.Gbps}, Lossless: 1 << 3,
		DSCP: dataplane.DefaultDSCP(), DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48, Payload: 1000, AckTimeout: 67 * units.Millisecond,
		Senders: 1, Receivers: 1, Age: units.Second, Carry: cnp.Carry{ECT: wire.ECT0}, NP: cnp.Silent{},
		NewRP: func(*ratelimit.Port) ratelimit.RP { return ratelimit.Unlimited{Line: units.Gbps} }, // the flow's rate, not the port's
	}, env)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := h.AddFlow(0, agent.FlowSpec{Peer: wire.IPv4(10, 0, 0, 2), PeerMAC: 0x0200_0000_0002, QP: 1, Size: 2 * units.KB}); err != nil {
		fmt.Println(err)
		return
	}
	var one [1]fabric.Frame
	now := units.Time(0)
	for range 2 {
		if h.Transmit(now, 0, one[:]) != 1 {
			fmt.Println("nothing to send at", now)
		}
		var header wire.Header
		b := env.Header(one[0])
		wire.Parse(b, &header)
		fmt.Println(now, one[0].Len, "bytes, sequence number", wire.BTH(b[header.BTH:]).PSN())
		env.Free(one[0])
		now = h.Next(now, 0)
	}
	// Output:
	// 0ps 1058 bytes, sequence number 0
	// 8.656us 1058 bytes, sequence number 1
}
