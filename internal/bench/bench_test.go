package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"photon/config"
	"photon/internal/gobench"
	"photon/wire"
)

func TestParseCases(t *testing.T) {
	cases, err := parseCases("plain,lossy", "net_null,net_ring", "64,1500", "2,4")
	first, last := testCase{kind: kinds[0], Vdev: "net_null", Bytes: 64, Ports: 2}, testCase{kind: kinds[1], Vdev: "net_ring", Bytes: 64, Ports: 4}
	if err != nil || len(cases) != 12 || cases[0] != first || cases[11] != last {
		t.Errorf("%v, %v", cases, err)
	}
	two, err := kindOf("workers2")
	if err != nil {
		t.Fatal(err)
	}
	cases, err = parseCases("workers2", "net_null", "64", "2")
	if err != nil || !slices.Equal(cases, []testCase{{kind: two, Vdev: "net_ring", Bytes: 64, Ports: 4}}) {
		t.Errorf("two workers: %v, %v", cases, err)
	}
	for _, bad := range [][4]string{
		{"plain", "net_tap", "64", "2"}, {"plain", "net_null", "20", "2"}, {"plain", "net_null", "x", "2"},
		{"plain", "net_null", "64", "3"}, {"fast", "net_null", "64", "2"},
	} {
		if _, err := parseCases(bad[0], bad[1], bad[2], bad[3]); err == nil {
			t.Errorf("%v passes", bad)
		}
	}
}

// A machine that is half as fast for a round is so for all, so that ratios are of rounds.
func TestLine(t *testing.T) {
	c, all := testCase{kind: kinds[0], Vdev: "net_null", Bytes: 64, Ports: 2}, map[string]outcome{
		"photon": {rates: []float64{11, 9, 10}, feed: []float64{3, 1, 2}}, "ovs": {rates: []float64{4, 4.5, 6}},
		"macswap": {rates: []float64{40, 20, 40}}, "mac": {notes: "it cannot"},
	}
	turns := gobench.New()
	addTurns(turns, c, all)
	if text := turns.String(); strings.Count(text, "\nBenchmarkForwarding/of=") != 9 || strings.Count(text, "feed-ns/frame") != 3 {
		t.Errorf("for benchstat: %s", text)
	}
	l := newLine(c, all)
	if l.Photon != 10 || l.OVS != 4.5 || l.Macswap != 40 || l.Mac != 0 || l.OVSRatio != 2 || l.MacswapRatio != 0.275 {
		t.Errorf("%+v", l)
	}
	if l.Kind != "plain" || math.Abs(l.Spread["photon"]-0.2) > 1e-9 || l.Feed != 2 || l.Notes["mac"] != "it cannot" {
		t.Errorf("%+v", l)
	}
}

// everyCase is each kind with each number of ports, on rings.
func everyCase(t *testing.T) []testCase {
	cases, err := parseCases(allKinds(), "net_ring", "64", "2,4")
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// forwarded is what a switch makes of a frame, and the port through which it leaves.
func forwarded(c testCase, b []byte) (out int, sent []byte) {
	out = int(wire.MACAt(b)) % c.Ports
	switch _, tagged := wire.VLANTag(b); {
	case tagged:
		wire.PopVLANTag(b)
		b = b[wire.VLANLen:]
	case c.tagged:
		v := int(wire.MACAt(b[6:])) % c.Ports / 2
		b = append(make([]byte, wire.VLANLen), b...)
		wire.PushVLANTag(b, uint16(vlanID(v)))
	case c.ipv6 && c.routed:
		out = int(b[14+24+3])
		b[14+7]--
	case c.routed:
		out = int(b[14+16+1])
		b[14+8]--
		wire.SetIPv4Checksum(b[14:])
	}
	if c.routed {
		neighbourMAC(out, 1).Put(b)
		routerMAC.Put(b[6:])
	}
	return out, b
}

// What a port receives is of several flows, for hosts behind all others that may have it, of the
// kind's priorities; and only where it belongs, and as it is to be, it passes when it leaves.
func TestTemplates(t *testing.T) {
	for _, c := range everyCase(t) {
		prios := uint8(0)
		for port := range c.Ports {
			outs, pairs, flows := map[int]bool{}, map[[12]byte]bool{}, map[uint32]bool{}
			for i := range perPort {
				var head [headLen]byte
				frame := make([]byte, c.template(port, i, head[:]))
				copy(frame, head[:])
				var h wire.Header
				if !wire.Parse(frame, &h) || h.L3 == 0 || h.L4 == 0 || h.Tagged != (c.tagged && trunk(port)) {
					t.Fatalf("%v: port %d template %d: %+v", c, port, i, h)
				}
				if (h.EtherType == wire.TypeIPv6) != c.ipv6 || (h.BTH == 0) != c.ipv6 || h.TOS&3 != wire.ECT0 {
					t.Errorf("%v: port %d template %d: %+v", c, port, i, h)
				}
				pairs[[12]byte(head[:12])], flows[h.Hash] = true, true
				prios |= 1 << (h.TOS >> 5)
				if c.left(port, frame, len(frame)) == nil {
					t.Errorf("%v: port %d: % x might leave where it came from", c, port, head)
				}
				out, sent := forwarded(c, frame)
				outs[out] = true
				if err := c.left(out, sent[:min(len(sent), headLen)], len(sent)); err != nil {
					t.Errorf("%v: from port %d to %d: %v: % x", c, port, out, err, sent)
				}
				if c.left((out+1)%c.Ports, sent, len(sent)) == nil {
					t.Errorf("%v: port %d: % x might leave at %d", c, port, sent, out)
				}
			}
			want := c.Ports - 1
			if c.tagged {
				want = c.Ports / 2
			}
			if outs[port] || len(outs) != want || len(flows) < perPort*9/10 || len(pairs) < 16 {
				t.Errorf("%v: port %d: %d flows of %d pairs to ports %v", c, port, len(flows), len(pairs), outs)
			}
		}
		if prios != c.priorities() || (prios == 0xFF) != c.all {
			t.Errorf("%v: priorities %08b", c, prios)
		}
	}
}

// A mix has short frames and long ones, and IMIX's mean.
func TestMix(t *testing.T) {
	cases, err := parseCases("mix", "net_null", "64,512", "2")
	if err != nil || len(cases) != 1 || cases[0].Bytes < 300 || cases[0].Bytes > 400 {
		t.Fatalf("%v, %v", cases, err)
	}
	lengths := map[int]int{}
	for i := range perPort {
		lengths[cases[0].template(0, i, make([]byte, headLen))]++
	}
	if lengths[60] < 30 || lengths[576] < 15 || lengths[1500] < 4 || len(lengths) != 3 {
		t.Errorf("%v", lengths)
	}
}

// The files are right, and say what the kind is about.
func TestConfigurations(t *testing.T) {
	for _, c := range everyCase(t) {
		conf := &config.Switch{}
		if err := config.Decode("switch.yaml", []byte(c.configuration()), conf); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, c.configuration())
		}
		if err := conf.Check(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, c.configuration())
		}
		n, err := conf.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &n.Config
		if len(s.VLANs) > 0 != c.tagged || len(s.Router.Routes) > 0 != c.routed || len(s.Ports) != c.Ports {
			t.Errorf("%v: %+v", c, s)
		}
		if (c.priorities()&s.Lossless == 0) != c.lossy {
			t.Errorf("%v: lossless %08b of %08b", c, s.Lossless, c.priorities())
		}
		if slices.Max(n.Workers)+1 != c.threads() || s.PFC[3].Alpha > 0 != strings.HasPrefix(c.yaml, "pfc: {alpha") {
			t.Errorf("%v: workers %v, alpha %v", c, n.Workers, s.PFC[3].Alpha)
		}
	}
}
