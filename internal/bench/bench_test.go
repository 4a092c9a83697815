package main

import (
	"math"
	"testing"

	"photon/wire"
)

func TestParseCases(t *testing.T) {
	cases, err := parseCases("net_null,net_ring", "64,1500", "2,4")
	if err != nil || len(cases) != 8 || cases[0] != (testCase{"net_null", 64, 2}) || cases[7] != (testCase{"net_ring", 1500, 4}) {
		t.Errorf("%v, %v", cases, err)
	}
	for _, bad := range [][3]string{{"net_tap", "64", "2"}, {"net_null", "20", "2"}, {"net_null", "x", "2"}, {"net_null", "64", "3"}} {
		if _, err := parseCases(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%v passes", bad)
		}
	}
}

// A machine that is half as fast for a round is so for all, so that ratios are of rounds.
func TestLine(t *testing.T) {
	l := newLine(testCase{"net_null", 64, 2}, map[string]outcome{
		"photon": {rates: []float64{11, 9, 10}}, "ovs": {rates: []float64{4, 4.5, 6}}, "macswap": {rates: []float64{40, 20, 40}},
	})
	if l.Photon != 10 || l.OVS != 4.5 || l.Macswap != 40 || l.Mac != 0 || l.OVSRatio != 2 || l.MacswapRatio != 0.275 || math.Abs(l.Spread["photon"]-0.2) > 1e-9 {
		t.Errorf("%+v", l)
	}
}

// The packets are what the switch takes the quick way, data of a lossless priority.
func TestPacketsArePlain(t *testing.T) {
	for flow := range flows {
		b := make([]byte, 64)
		packet(b, flow, len(b))
		q := (*wire.Quick)(b)
		if !q.Plain() || q.CNP() || q.TOS() != tos || q.Dst() != hostMAC(flow%hosts) || !wire.IPv4ChecksumOK(b[14:]) {
			t.Fatalf("flow %d: % x", flow, b)
		}
	}
}
