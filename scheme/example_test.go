package scheme_test

import (
	"fmt"

	"photon/marking"
	"photon/ratelimit"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// A recipe's defaults may depend on the network, and each says where it comes from.
func ExampleScheme_Settings() {
	s, err := scheme.Get("pcn")
	if err != nil {
		fmt.Println(err)
		return
	}
	settings, err := s.Settings(scheme.Network{Line: 10 * units.Gbps, RTT: 500 * units.Microsecond}, map[string]scheme.Override{"wmin": {Value: "1/16", Source: "me"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range settings {
		if p.Name == "period" || p.Name == "wmin" {
			fmt.Println(p.Name, "=", p.Value, "by", p.Origin)
		}
	}
	// Output:
	// period = 500us by 50 us in 5.2; the largest RTT recommended in 6.2
	// wmin = 1/16 by me
}

// The parts of a scheme are made for a network, and put into nodes.
func ExampleScheme_Build() {
	s, err := scheme.Get("dcqcn")
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := s.Build(scheme.Network{Line: 10 * units.Gbps, Seed: 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	cp, rp := parts.CP(marking.Place{Rate: 10 * units.Gbps}), parts.RP(new(ratelimit.Port))
	rp.Start(0)
	fmt.Println(rp.Rate(0))
	if cp.Dequeue(0, marking.Queue{Bytes: units.MB}, &marking.Packet{Size: 1058}) == marking.Congestion {
		rp.Notify(0, wire.NotECT, 0) // as the receiver's CNP would
	}
	fmt.Println(rp.Rate(0))
	// Output:
	// 10Gbps
	// 5Gbps
}
