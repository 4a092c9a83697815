package marking

import (
	"fmt"
	"math/rand/v2"

	"photon/units"
)

// QCNParams are the congestion point of QCN (IEEE 802.1Q clause 30.2 and its
// MIB, IEEE8021-CN-MIB).
type QCNParams struct {
	SetPoint   units.Size // cpQSp, Qeq: where the queue should be; 26 000 B in the MIB
	Weight     float64    // cpW, w: of the queue's growth; 2
	SampleBase units.Size // cpSampleBase: bytes between samples without congestion; 150 000 B
	Sampling   Sampling   // how these bytes go by the congestion
	Jitter     float64    // of the bytes between samples: from 1-j to 1+j; 0.15
}

// Sampling says what becomes of the bytes between two samples under congestion.
type Sampling uint8

// Samplings.
const (
	// Adaptive is the standard's: the more congestion a sample sees, the sooner the
	// next one comes, down to an eighth of the base.
	Adaptive Sampling = iota
	// Fixed is one sample in so many bytes whatever they see, as PCN (NSDI'20,
	// section 3.2) has it of QCN: its update period is the time of 100 packets.
	Fixed
)

// Validate says what is wrong with the parameters, in one line.
func (p QCNParams) Validate() error {
	switch {
	case p.SetPoint < 100:
		return fmt.Errorf("set point %v: at least 100B", p.SetPoint)
	case !(p.Weight > 0 && p.Weight <= 1024):
		return fmt.Errorf("weight %v must be above 0 and at most 1024", p.Weight)
	case p.SampleBase < 10_000:
		return fmt.Errorf("sample base %v: at least 10KB", p.SampleBase)
	case !(p.Jitter >= 0 && p.Jitter < 1):
		return fmt.Errorf("jitter %v must be from 0 to below 1", p.Jitter)
	case p.Sampling > Fixed:
		return fmt.Errorf("sampling %d: neither adaptive nor fixed", p.Sampling)
	}
	return nil
}

// QCN samples frames as they are queued, every so many bytes: the more
// congestion, the fewer, unless they are fixed. A sample's feedback is
//
//	Fb = (Qeq - Q) - w (Q - Qold)
//
// with Qold the queue at the sample before. If it is negative, the source of the
// sampled frame is notified of it, in six bits.
//
// What every frame needs comes first.
type QCN struct {
	left   float64  // bytes until the next sample
	fair   fairness // AF-QCN's; without guesses: plain QCN
	params QCNParams
	worst  float64 // -Fb that counts as 63
	old    units.Size
	random rand.PCG
}

var (
	_ Sampler = (*QCN)(nil)
	_ Runner  = (*QCN)(nil)
	_ Idler   = (*QCN)(nil)
)

// NewQCN returns a congestion point with its own random sequence, given by seed.
func NewQCN(p QCNParams, seed uint64) *QCN {
	q := &QCN{params: p, worst: float64(p.SetPoint) * (2*p.Weight + 1)}
	q.random.Seed(seed, 0x9C4)
	q.left = q.interval(0)
	return q
}

// Enqueue counts a frame and samples it if its turn has come.
func (c *QCN) Enqueue(now units.Time, q Queue, p *Packet) (s Sample, ok bool) {
	if c.fair.guesses != nil {
		c.fair.count(now, p)
	}
	if c.left -= float64(p.Size); c.left >= 0 {
		return s, false
	}
	s = Sample{QOffset: c.params.SetPoint - q.Bytes, QDelta: q.Bytes - c.old}
	fb := c.quantise(s)
	s.QntzFb = uint8(max(0, fb))
	if c.fair.guesses != nil {
		s.QntzFb = c.fair.mix(fb, p)
	}
	c.old = q.Bytes
	c.left = c.interval(s.QntzFb)
	return s, s.QntzFb > 0
}

// quantise brings -Fb to -63..63, 63 standing for Qeq(2w+1) and more. Below 0
// there is no congestion.
func (c *QCN) quantise(s Sample) int {
	fb := float64(s.QOffset) - float64(c.params.Weight*float64(s.QDelta))
	return int(max(-63, min(63, -fb*63/c.worst)))
}

// interval is the bytes to the next sample: the mark table of the standard's
// pseudo-code, base/(index+1) with the feedback's three upper bits as index, or
// the base whatever the feedback; and jitter.
func (c *QCN) interval(fb uint8) float64 {
	base := float64(c.params.SampleBase)
	if c.params.Sampling == Adaptive {
		base /= float64(fb>>3 + 1)
	}
	spread := float64(c.random.Uint64()>>11) / (1 << 53) // 0 to 1
	return base * (1 + c.params.Jitter*(2*spread-1))
}

// Dequeue marks nothing, and neither does DequeueRun: QCN notifies sources directly.
func (c *QCN) Dequeue(units.Time, Queue, *Packet) Mark                { return Unchanged }
func (c *QCN) DequeueRun(units.Time, Queue, []uint16) (marked uint64) { return 0 }

// LeavesUnqueuedUnchanged says that Dequeue leaves every frame unchanged.
func (c *QCN) LeavesUnqueuedUnchanged() {}

// Resume does nothing: QCN does not know of pauses.
func (c *QCN) Resume(units.Time, Queue) {}

// Rebase implements units.Rebaser. What AF-QCN's table of classes notes of time nobody asks for.
func (c *QCN) Rebase(by units.Time) {
	c.fair.ends.Rebase(by)
}
