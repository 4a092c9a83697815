package config

import (
	"slices"
	"testing"

	"photon/wire"
)

// Flows out of an agent's network go to its router, unless they say where to; those in it go to the peer itself.
func TestGateway(t *testing.T) {
	for text, want := range map[string][]string{
		"ip: 10.1.0.2\ngateway: {mac: '02:00:00:00:aa:aa', network: 10.1.0.0/24}\nflows: " +
			"[{to: 10.1.0.255}, {to: 10.1.1.2}, {to: 10.1.0.9}, {to: 9.0.0.1, to_mac: '02:00:00:00:00:01'}, {to: 11.0.0.1}]": {
			"02:00:0a:01:00:ff", "02:00:00:00:aa:aa", "02:00:0a:01:00:09", "02:00:00:00:00:01", "02:00:00:00:aa:aa",
		},
		"ip: fd00:1::2\ngateway: {mac: '02:00:00:00:aa:aa', network: 'fd00:1::/64'}\nflows: " +
			"[{to: 'fd00:1::3'}, {to: 'fd00:2::3'}]": {"02:00:00:00:00:03", "02:00:00:00:aa:aa"},
		"ip: 10.1.0.2\nflows: [{to: 10.2.0.2}]": {"02:00:0a:02:00:02"},
	} {
		c, err := ParseAgent("agent.yaml", []byte("port: {device: net_null0}\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		n, err := c.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range n.Flows {
			got = append(got, f.PeerMAC.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]string{"10.1.0.1": "10.1.0.1", "fd00::1": "fd00::1", "::ffff:10.1.0.1": "10.1.0.1"} {
		a, err := wire.ParseIP(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Addr().String(); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
