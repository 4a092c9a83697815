package main

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// The bisection finds the highest value that is good, from below, and reports what went wrong.
func TestHighest(t *testing.T) {
	for _, edge := range []float64{0.1, 1, 37.5, 99.9, 200} {
		tries := 0
		got, err := highest(0, 100, step, 0.001, func(v float64) (bool, error) {
			tries++
			return v <= edge, nil
		})
		if want := min(edge, 100); err != nil || got > edge || want-got > step*math.Max(want, 1) {
			t.Errorf("edge %v: %v, %v", edge, got, err)
		}
		if tries > 30 {
			t.Errorf("edge %v: %d tries", edge, tries)
		}
	}
	if got, err := highest(0, 100, step, 1, func(float64) (bool, error) { return false, nil }); got != 0 || err != nil {
		t.Errorf("nothing is good: %v, %v", got, err)
	}
	broken := errors.New("broken")
	if _, err := highest(0, 100, step, 0.001, func(float64) (bool, error) { return false, broken }); err != broken {
		t.Error(err)
	}
}

// What was offered and refused by the device is lost, as much as what did not come back.
func TestTriedLoses(t *testing.T) {
	r := tried{offered: 1000, accepted: 900, got: 800, seconds: 0.5}
	if r.lost() != 0.2 || r.rate() != 2000 {
		t.Errorf("%v lost at %v", r.lost(), r.rate())
	}
}

// Memif ports of a contestant are clients of the generator's socket, each with a number of its own.
func TestMemifDevices(t *testing.T) {
	c := testCase{Vdev: "net_memif", Ports: 2, sockets: "/x"}
	if d := c.device(1); !strings.HasPrefix(d, "net_memif1,role=client,id=1,") || !strings.HasSuffix(d, "socket=/x/memif") {
		t.Error(d)
	}
}
