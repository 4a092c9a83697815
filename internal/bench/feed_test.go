//go:build dpdk

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestMain is photon's child if it was started as such.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_FEED") != "" {
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
		all, err := measure(c, filepath.Join(dir, c.String()), library, only, 1, time.Millisecond)
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
