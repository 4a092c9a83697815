package memory_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"photon/internal/memory"
)

// percent is what is in force.
func percent() int {
	p := debug.SetGCPercent(-1)
	debug.SetGCPercent(p)
	return p
}

// Garbage is bounded while somebody asks for it, and no longer.
func TestFrugal(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(80))
	live := make([]byte, 64<<20)
	first := memory.Frugal(1 << 20)
	if p := percent(); p < 1 || p > 2 {
		t.Errorf("%d %% of 64 MiB, where 1 MiB was asked for", p)
	}
	second := memory.Frugal(1 << 40)
	first()
	if p := percent(); p > 2 {
		t.Errorf("%d %%, though one of two has not ended", p)
	}
	second()
	if p := percent(); p != 80 {
		t.Errorf("%d %% in the end, and 80 at first", p)
	}
	memory.Frugal(1 << 40)()
	if p := percent(); p != 80 {
		t.Errorf("%d %%, and 80 at first", p)
	}
	runtime.KeepAlive(live)
}

// Runs that overlap, one after the other, are not frugal because one of them was large that has long ended.
func TestFrugalWhileItIsLarge(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(80))
	live := make([]byte, 64<<20)
	end := memory.Frugal(8 << 20)
	if p := percent(); p > 13 {
		t.Errorf("%d %% of 64 MiB, where 8 MiB were asked for", p)
	}
	runtime.KeepAlive(live)
	live = nil
	for range 3 {
		next := memory.Frugal(8 << 20)
		end()
		end = next
	}
	if p := percent(); p != 80 {
		t.Errorf("%d %% of almost nothing, and 80 at first", p)
	}
	end()
}
