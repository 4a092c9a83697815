package experiment

import (
	"strings"
	"testing"
)

// What a workload offers is payload; of the senders' links it takes more, by the headers of its packets, whatever rates
// these links have and however many NICs a sender has.
func TestOfferedLoad(t *testing.T) {
	for _, c := range []struct{ topology, cdf, want string }{
		// 20 bytes of payload are a frame of 78 bytes, and 24 more on the wire.
		{"{kind: star, hosts: 4}", "{20B: 1}", "workload w offers 8 Gbit/s of payload in all, 20 % of the links of its 4 senders, with headers 102 %"},
		// 2000 bytes are two packets of 58 + 24 bytes more.
		{"{kind: star, hosts: 4}", "{2000B: 1}", "20 % of the links of its 4 senders, with headers 21.6 %"},
		// 1001 bytes are one of 1000 and one of one byte, which is padded to 60.
		{"{kind: star, hosts: 4}", "{1001B: 1}", "20 % of the links of its 4 senders, with headers 23.3 %"},
		{"{kind: planes, nics: 2, tors: 2, hosts: 2, spines: 1}", "{2000B: 1}", "10 % of the links of its 4 senders, with headers 10.8 %"},
		{"{kind: free, nodes: [{name: A, host: true}, {name: B, host: true}, {name: S}], links: [{a: A, b: S, rate: 40Gbps}, {a: B, b: S, rate: 40Gbps}]}",
			"{2000B: 1}", "10 % of the links of its 2 senders, with headers 10.8 %"},
	} {
		e, err := Parse("x.yaml", []byte(`id: test/offered
title: offered
duration: 1ms
topology: `+c.topology+`
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
workloads: [{name: w, from: '*', to: '*', cdf: `+c.cdf+`, load: 0.2, capacity: 40Gbps}]
schemes: [none]
measure: {sample: 100us}
`))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(e.Describe(), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s\nlacks %s", got, c.want)
		}
	}
}
