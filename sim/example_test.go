package sim_test

import (
	"context"
	"fmt"

	"photon/agent"
	"photon/cnp"
	"photon/dataplane"
	"photon/fabric"
	"photon/ratelimit"
	"photon/sim"
	"photon/units"
	"photon/wire"
)

// Two hosts on one cable, without a scheme: the world is made, nodes are put in
// and joined, and time passes.
func Example() {
	link := fabric.Link{Rate: 10 * units.Gbps, Delay: units.Microsecond}
	w := sim.New()
	var hosts []*agent.Host
	for i := range 2 {
		env := w.NewEnvs(1)
		h, err := agent.New(agent.Config{
			MAC: wire.MAC(0x0200_0A00_0001 + i), IP: wire.IPv4(10, 0, 0, byte(1+i)), Link: link, Lossless: 1 << 3,
			DSCP: dataplane.DefaultDSCP(), DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48, Payload: 1000, AckTimeout: 67 * units.Millisecond,
			Senders: 1, Receivers: 1, Age: units.Second, Carry: cnp.Carry{ECT: wire.ECT0}, NP: cnp.Silent{},
			NewRP: func(*ratelimit.Port) ratelimit.RP { return ratelimit.Unlimited{Line: link.Rate} },
		}, env[0])
		if err != nil {
			fmt.Println(err)
			return
		}
		w.Add(fmt.Sprintf("H%d", i), h, env, []int{0})
		hosts = append(hosts, h)
	}
	if err := w.Connect(fabric.End{Node: 0}, fabric.End{Node: 1}, link); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := hosts[0].AddFlow(0, agent.FlowSpec{Peer: wire.IPv4(10, 0, 0, 2), PeerMAC: 0x0200_0A00_0002, QP: 1, Size: 100 * units.KB}); err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Run(context.Background(), units.Millisecond); err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range hosts[0].TakeResults() {
		fmt.Println(r.Frames, "frames, completed in", r.FCT())
	}
	if err := w.Audit(); err != nil {
		fmt.Println(err) // a frame that nobody accounts for
	}
	// Output: 100 frames, completed in 88.6288us
}
