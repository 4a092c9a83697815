package config

import "testing"

// The port of an agent takes its full packets, with all that its scheme and selective repeat add to them; a queue
// pair's longest header is no shorter than what other packets have without telemetry.
func TestPortsTakeFullPackets(t *testing.T) {
	const four, six = 20 + 8 + 12 + 4, 40 + 8 + 12 + 4 // IP, UDP, BTH, ICRC
	for _, c := range []struct {
		ip, more string
		want     int
	}{
		{"10.0.0.1", "scheme: {name: none}\npayload: 1000B\n", 1500},
		{"10.0.0.1", "scheme: {name: none}\npayload: 4000B\n", four + 16 + 4000},
		{"fd00::1", "scheme: {name: none}\npayload: 4000B\n", six + 16 + 4000},
		{"10.0.0.1", "scheme: {name: hpcc}\npayload: 1000B\n", 1500},
		{"10.0.0.1", "scheme: {name: hpcc}\npayload: 1414B\n", 1500},
		{"10.0.0.1", "scheme: {name: hpcc}\npayload: 1415B\n", 1501},
		{"10.0.0.1", "scheme: {name: hpcc}\npayload: 4000B\n", four + 42 + 4000},
		{"fd00::1", "scheme: {name: hpcc}\npayload: 9000B\nrecovery: selective\n", six + 42 + 4 + 9000},
		{"10.0.0.1", "scheme: {name: powertcp}\npayload: 4000B\n", four + 42 + 4000},
		{"10.0.0.1", "scheme: {name: timely}\npayload: 4000B\nrecovery: selective\n", four + 16 + 4000},
		{"10.0.0.1", "scheme: {name: qcn}\npayload: 4000B\nrecovery: selective\n", four + 16 + 4000},
	} {
		_, a, err := readAgent(t, "port: {device: net_null0, rate: 10Gbps}\nip: \""+c.ip+"\"\n"+c.more)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.MTU(); got != c.want {
			t.Errorf("%s\n%sMTU %d, not %d", c.ip, c.more, got, c.want)
		}
		if room := a.Options().FrameSize; room < 14+8+c.want {
			t.Errorf("%s\n%sframe buffers of %d bytes for an MTU of %d", c.ip, c.more, room, c.want)
		}
	}
}
