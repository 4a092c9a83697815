package agent

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// Flows come in bursts of far more than receivers have places for, and some are stopped in the middle. Others take
// their queue pairs at once, also while packets of a flow that was stopped are still on their way. Whatever happens to
// packets, each flow that is not stopped arrives once and ends.
func TestBurstsOfFlowsEnd(t *testing.T) {
	ended, stops := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		config := drawConfig(t)
		receivers := rapid.SampledFrom([]int{1, 4, 20}).Draw(t, "receivers")
		c := newCable(t.Fatalf, random, func(i int) Config {
			c := config(i)
			c.Retries, c.Receivers, c.Finished, c.Age = 100, receivers, 4000, 2*units.Millisecond
			return c
		})
		for _, s := range c.hosts {
			s.h.setNextPSN(1<<24 - uint32(random.IntN(200)))
		}
		c.trouble = drawTrouble(t)
		longest := rapid.SampledFrom([]int{1, 1, 3, 40}).Draw(t, "longest")
		pairs := rapid.SampledFrom([]uint32{16, 100, 1000}).Draw(t, "pairs")
		often := rapid.SampledFrom([]int{0, 10, 300}).Draw(t, "stops")
		stopped := map[*sentFlow]bool{}
		for range rapid.IntRange(1, 30).Draw(t, "bursts") {
			for from := range c.hosts {
				for range random.IntN(31) {
					running := 0
					for _, f := range c.flows {
						if f.from == from && !f.ended {
							running++
						}
					}
					qp := 2*random.Uint32N(pairs) + uint32(from)
					if running < 30 && !c.busy(from, qp) {
						c.send(from, qp, 1+random.IntN(longest))
					}
				}
			}
			c.run(c.now + units.Time(random.Int64N(int64(50*units.Microsecond))))
			for _, f := range c.flows {
				if !f.ended && random.IntN(1000) < often {
					c.stop(f)
					stopped[f] = true
					stops++
				}
			}
		}
		c.trouble = trouble{}
		c.run(c.now + 70*cableTimeout + 400*units.Millisecond)
		for _, f := range c.flows {
			if n := c.whole(f); !stopped[f] && (!f.done || n != 1) {
				t.Fatalf("queue pair %d, %d packets: done %v, arrived %d times, %v", f.qp, f.packets, f.done, n, f.why)
			}
			ended++
		}
		for _, s := range c.hosts {
			if err := s.h.Audit(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if ended < 5000 || stops < 500 {
		t.Errorf("%d flows, %d stopped: too few to say anything", ended, stops)
	}
}
