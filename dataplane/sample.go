package dataplane

import "photon/fabric"

// Sampled frames are copied for who looks at the switch every so often: of each port one in so many that it receives,
// on average, by chance (sFlow version 5, section 3: every frame has the same chance). A port that samples nothing is
// asked so once a burst.

// maxSamples is how many samples wait at a port; what does not fit is counted.
const maxSamples = 64

// SampleHead is how many bytes of a frame are kept (sFlow's usual default).
const SampleHead = 128

// Sample is a frame that was received.
type Sample struct {
	Length  uint16 // bytes without FCS
	headLen uint8
	head    [SampleHead]byte
}

// Head is the beginning of the frame.
func (s *Sample) Head() []byte { return s.head[:s.headLen] }

// SampleCounts count what a port sampled.
type SampleCounts struct {
	Pool    uint64 // frames that might have been sampled
	Samples uint64
	Lost    uint64 // samples for which there was no room
}

// sampler is the state of a port that samples.
type sampler struct {
	every  int
	skip   int // frames until the next sample
	random random
	count  int
	ring   [maxSamples]Sample
	counts SampleCounts
}

// Sampling has a port sample one frame in every; 0: none. It is called between bursts.
func (s *Switch) Sampling(port, every int) {
	p := &s.ports[port]
	if every <= 0 {
		p.sampler, p.sampled = nil, false
		return
	}
	if p.sampler == nil {
		p.sampler = &sampler{random: random(port)*0x9E3779B97F4A7C15 + 1}
	}
	if x := p.sampler; x.every != every {
		x.every = every
		x.skip = x.draw()
	}
	p.sampled = true
}

// draw is how many frames are passed over before the next sample: from 0 to 2(every-1), each as likely, so that one in
// every is sampled on average, and no rhythm of the traffic matters.
func (x *sampler) draw() int { return below(x.random.draw(), 2*x.every-1) }

// take samples frames that were received.
func (x *sampler) take(env *fabric.Env, burst []fabric.Frame) {
	x.counts.Pool += uint64(len(burst))
	for x.skip < len(burst) {
		f := &burst[x.skip]
		x.counts.Samples++
		if x.count < maxSamples {
			s := &x.ring[x.count]
			s.Length, s.headLen = f.Len, uint8(copy(s.head[:], env.Bytes(f)))
			x.count++
		} else {
			x.counts.Lost++
		}
		x.skip += 1 + x.draw()
	}
	x.skip -= len(burst)
}

// Samples hands over what a port sampled since the last call, and returns what it counted; false: it does not sample.
// It is called between bursts.
func (s *Switch) Samples(port int, do func(*Sample)) (SampleCounts, bool) {
	x := s.ports[port].sampler
	if x == nil {
		return SampleCounts{}, false
	}
	for i := range x.count {
		do(&x.ring[i])
	}
	x.count = 0
	return x.counts, true
}
