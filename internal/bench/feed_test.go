//go:build dpdk

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"photon/internal/gobench"
)

// TestMain is photon's child if it was started as such.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_FEED") != "" || os.Getenv("BENCH_CHILD") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Photon and testpmd are fed and forward each kind, and what photon sends is what the kind asks for.
func TestEveryKindIsForwarded(t *testing.T) {
	dir := t.TempDir()
	library, err := buildFeed(dir)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := parseCases(allKinds(), "net_ring", "64", "4")
	if err != nil {
		t.Fatal(err)
	}
	null, err := parseCases("plain,tagged,routed6", "net_null", "64", "2")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range append(ring, null...) {
		only := []string{"photon", "macswap"}[:1+i%2]
		// A turn of a millisecond may be all somebody else's: a virtual machine charges a thread for the time that it is
		// not there.
		all, err := measure(c, filepath.Join(dir, c.String()), library, only, 1, 20*time.Millisecond)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		for _, name := range only {
			if o := all[name]; len(o.rates) != 1 || o.rates[0] <= 0 || o.feed[0] <= 0 {
				t.Errorf("%v: %s: %+v", c, name, o)
			}
		}
	}
}

// All that is measured by RFC 2544 and 8239 comes out, and where photon has PFC an incast loses nothing.
func TestThroughputAndIncast(t *testing.T) {
	t.Setenv("BENCH_CHILD", "1")
	dir := t.TempDir()
	program, err := buildGenerator(dir)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := parseCases("plain", "net_ring", "128", "4")
	if err != nil {
		t.Fatal(err)
	}
	c := cases[0]
	c.Vdev, c.sockets = "net_memif", dir
	m := measurement{only: []string{"photon", "macswap"}, trial: 20 * time.Millisecond, rounds: 1}
	all, err := m.measure(c, program)
	if err != nil {
		t.Fatal(err)
	}
	var throughputs []benchmarked
	var incasts []blocked
	turns, crowds := gobench.New(), gobench.New()
	for _, t := range all {
		throughputs, incasts = append(throughputs, medians(t.throughputs)...), append(incasts, mediansOfIncasts(t.incasts)...)
		t.addTurns(turns, crowds)
	}
	if n := strings.Count(turns.String()+crowds.String(), "\nBenchmarkRFC"); n != 2*(1+len(loads))+2 { // of one round
		t.Errorf("%d lines for benchstat:\n%v%v", n, turns, crowds)
	}
	if len(throughputs) != 2*len(loads) || len(incasts) != 2 {
		t.Fatalf("%+v, %+v", throughputs, incasts)
	}
	for i, l := range throughputs {
		if l.Contestant != m.only[i/len(loads)] || l.Load != loads[i%len(loads)] || l.Vdev != "net_memif" || l.Bytes != 128 || l.NDR > l.PDR || l.PDR > l.Most {
			t.Errorf("%+v", l)
		}
	}
	if l := incasts[1]; !l.PFC || l.Lost != 0 || l.VictimLost != 0 {
		t.Errorf("with PFC: %+v", l)
	}
	if l := incasts[0]; l.PFC || l.Pauses != 0 {
		t.Errorf("without PFC: %+v", l)
	}
}
