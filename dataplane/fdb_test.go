package dataplane

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"photon/units"
	"photon/wire"
)

// Workers that learn at the same time lose nothing: an address is known as soon as it has spoken once.
func TestEveryWorkerLearns(t *testing.T) {
	const workers, each = 4, 1000
	for round := range 20 {
		var changes atomic.Uint32
		db := newFDB(workers*each*4, 300*units.Second, &changes)
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(round), uint64(w)))
				for i := range each {
					db.learn(wire.MAC(2<<40+i*workers+w), w, 1)
					db.learn(wire.MAC(3<<40+r.IntN(8)), w, 1) // addresses that move all the time
				}
			})
		}
		all.Wait()
		for i := range workers * each {
			if e := db.find(wire.MAC(2<<40+i), 1); e == 0 || int(e.value()) != i%workers {
				t.Fatalf("round %d: address %d is known as %x, and spoke once at port %d (%d had no place)", round, i, e, i%workers, db.full.Load())
			}
		}
		for i := range 8 {
			if e := db.find(wire.MAC(3<<40+i), 1); e == 0 || e.value() >= workers {
				t.Fatalf("round %d: moving address %d is known as %x", round, i, e)
			}
		}
	}
}

// A place that is taken by two at once, being free or old, ends up with one of them, and the other has another.
func TestLearnersOfOnePlace(t *testing.T) {
	var changes atomic.Uint32
	for round := range 2000 {
		db := newFDB(1, units.Second, &changes) // all addresses are in each other's way
		for i := range maxProbe / 2 {
			db.learn(wire.MAC(1<<40+i), 7, 0)
		}
		var all sync.WaitGroup
		begin := time.Now().Add(20 * time.Microsecond)
		for w := range 3 {
			all.Go(func() {
				for time.Now().Before(begin) {
				}
				for i := range 4 {
					db.learn(wire.MAC(2<<40+w*4+i), w, 10)
				}
			})
		}
		all.Wait()
		for i := range 12 {
			if e := db.find(wire.MAC(2<<40+i), 10); e == 0 || int(e.value()) != i/4 {
				t.Fatalf("round %d: address %d of worker %d is known as %x", round, i%4, i/4, e)
			}
		}
	}
}

// Addresses age by whole seconds: less is refused.
func TestAgeBelowASecond(t *testing.T) {
	c := config(3)
	for age, ok := range map[units.Time]bool{-1: false, 0: true, 1: false, units.Second - 1: false, units.Second: true} {
		if c.Age = age; (c.Check() == nil) != ok {
			t.Errorf("an age of %v: %v", age, c.Check())
		}
	}
}
