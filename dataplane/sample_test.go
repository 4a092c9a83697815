package dataplane

import (
	"math"
	"testing"

	"photon/fabric"
)

// Every frame has the same chance, bursts or not: of n frames n/every are sampled within five standard deviations, what was
// sampled is what was received, and a port that was not told to samples nothing.
func TestSampling(t *testing.T) {
	const every, frames = 10, 20_000
	r := newRig(t, config(3))
	r.sw.Sampling(0, every)
	seen, by := 0, [2]int{}
	take := func(s *Sample) {
		seen++
		by[s.Length-300]++
		if h := s.Head(); len(h) < 64 || h[5] != byte(mac(1)) {
			t.Fatalf("% x", h)
		}
	}
	for i := range frames / 2 { // two kinds in turn
		burst := []fabric.Frame{r.frame(0, packet(0, 1, 0, 0), 300), r.frame(0, packet(0, 1, 0, 0), 301)}
		if i%3 == 0 {
			r.sw.Receive(r.now, 0, burst[:1])
			r.sw.Receive(r.now, 0, burst[1:])
		} else {
			r.sw.Receive(r.now, 0, burst)
		}
		r.out(1, 2)
		r.sw.Samples(0, take)
	}
	// Between two samples pass 0 to 2(every-1) frames: the variance of their number over n frames is n/every^3 times that of the gap.
	sigma := math.Sqrt(frames / every * (float64(2*every-1)*float64(2*every-1) - 1) / 12 / every / every)
	if math.Abs(float64(seen-frames/every)) > 5*sigma || math.Abs(float64(by[0]-by[1])) > 5*math.Sqrt(frames/every) {
		t.Errorf("%d of %d frames sampled (%v), expected %d ± %.0f", seen, frames, by, frames/every, 5*sigma)
	}
	if c, ok := r.sw.Samples(0, take); !ok || c != (SampleCounts{Pool: frames, Samples: uint64(seen)}) {
		t.Errorf("%+v", c)
	}
	r.sw.Sampling(0, 1)
	for range maxSamples + 3 {
		r.in(0, packet(0, 1, 0, 0), 300)
	}
	r.out(1, 100)
	if c, _ := r.sw.Samples(0, take); c.Lost < 2 || c.Lost > 3+2*every {
		t.Errorf("%+v", c)
	}
	r.sw.Sampling(0, 0)
	r.in(0, packet(0, 1, 0, 0), 300)
	r.out(1, 1)
	if _, ok := r.sw.Samples(0, take); ok {
		t.Error("it samples on")
	}
}
