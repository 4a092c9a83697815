package experiment

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// base is a small experiment of a file.
const base = `id: a/b
title: t
duration: 2ms
topology: {kind: star, hosts: 4}
parameters:
  {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 256KB,
  buffer: 16MB, start_phase: 0s}
flows: [{name: f, from: H0, to: H1, size: 100KB}]
schemes: [none]
measure: {sample: 10us, metrics: [{name: fct, do: fct}, {name: sl, do: slowdown}]}
`

// A frame occupies as many bytes on the wire beyond its own as the file says, 24 if it says nothing.
func TestOverheadIsWhatTheFileSays(t *testing.T) {
	wire := func(parameter string) (int, error) {
		e, err := Parse("x.yaml", []byte(strings.Replace(base, "priority: 3", "priority: 3"+parameter, 1)))
		if err != nil {
			return 0, err
		}
		p, err := e.Plan()
		if err != nil {
			t.Fatal(err)
		}
		return p.Nodes[p.Hosts()[0]].Ends[0].Link.WireBytes(100) - 100, nil
	}
	if n, err := wire(""); n != 24 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(-2, 2), rapid.IntRange(-10000, 10000)).Draw(t, "overhead")
		got, err := wire(fmt.Sprintf(", overhead: %d", n))
		switch {
		case n >= 0 && n <= 1024 && (got != n || err != nil):
			t.Fatalf("%d of %d, %v", got, n, err)
		case n < 0 || n > 1024:
			if want := fmt.Sprintf("x.yaml:6: overhead of %d bytes: from 0 to 1024", n); fmt.Sprint(err) != want {
				t.Fatalf("%v", err)
			}
		}
	})
}

// Those priorities are lossless that the file says, and the data's if it says none.
func TestLosslessIsWhatTheFileSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		priority := rapid.IntRange(0, 7).Draw(t, "priority")
		list := rapid.SliceOfDistinct(rapid.IntRange(0, 7), rapid.ID).Draw(t, "lossless")
		want := uint8(0)
		for _, prio := range list {
			want |= 1 << prio
		}
		parameter := fmt.Sprintf("priority: %d, lossless: %s", priority, strings.Join(strings.Fields(fmt.Sprint(list)), ", "))
		if rapid.Bool().Draw(t, "absent") {
			parameter, want = fmt.Sprintf("priority: %d", priority), 1<<priority
		}
		e, err := Parse("x.yaml", []byte(strings.Replace(base, "priority: 3", parameter, 1)))
		if err != nil {
			t.Fatal(err)
		}
		p := &e.Parameters
		if p.LosslessMask() != want || p.DataMask() != want|1<<priority {
			t.Fatalf("%s: lossless %08b, data %08b", parameter, p.LosslessMask(), p.DataMask())
		}
	})
}
