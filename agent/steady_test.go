package agent_test

import (
	"testing"

	"pgregory.net/rapid"

	"photon/agent"
	"photon/cnp"
	"photon/pfc"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// asked is a reaction point that a host asks before every packet, and calls after each.
type asked struct {
	ratelimit.Starter
	bytes int
}

func (*asked) Steady() bool { return false }
func (a *asked) Sent(now units.Time, bytes int) {
	a.bytes += bytes
	a.Starter.Sent(now, bytes)
}

// A host that keeps the rates of steady reaction points sends every packet when
// one does that asks for each of them, whatever happens: notifications, limits,
// pauses, flows that end and that are asked to go back.
func TestSteadyRatesAreAsIfAsked(t *testing.T) {
	pcn := &ratelimit.PCNParams{Line: rate, WMin: 1. / 128, WMax: 0.5, Min: units.Mbps}
	dcqcn := &ratelimit.DCQCNParams{Line: rate, Min: units.Mbps, AI: units.Mbps, HAI: 10 * units.Mbps, G: 1. / 16, AlphaTimer: 55 * units.Microsecond, RateTimer: 50 * units.Microsecond, ByteCount: 100 * units.KB, Threshold: 5}
	qcn := &ratelimit.QCNParams{Line: rate, Min: units.Mbps, AI: units.Mbps, HAI: 10 * units.Mbps, Gd: 1. / 128, MinDec: 0.5, ByteReset: 50 * units.KB, TimeReset: ms, Threshold: 5, Jitter: 0.3}
	makers := []func() ratelimit.Starter{
		func() ratelimit.Starter { return ratelimit.NewPCN(pcn) },
		func() ratelimit.Starter { return ratelimit.NewDCQCN(dcqcn) },
		func() ratelimit.Starter { return ratelimit.NewQCN(qcn, 7) },
	}
	for i, p := range []interface{ Validate() error }{pcn, dcqcn, qcn} {
		if err := p.Validate(); err != nil {
			t.Fatal(i, err)
		}
	}
	type step struct {
		after units.Time
		flow  int
		what  int
		value uint32
	}
	rapid.Check(t, func(r *rapid.T) {
		maker := rapid.SampledFrom(makers).Draw(r, "scheme")
		sizes := rapid.SliceOfN(rapid.SampledFrom([]units.Size{0, 1, 1000, 2500, 60 * units.KB}), 1, 4).Draw(r, "sizes")
		steps := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) step {
			return step{
				units.Time(rapid.Int64Range(0, int64(300*units.Microsecond)).Draw(r, "after")), rapid.IntRange(0, len(sizes)-1).Draw(r, "flow"),
				rapid.IntRange(0, 4).Draw(r, "what"), rapid.Uint32Range(0, 63).Draw(r, "value"),
			}
		}), 1, 20).Draw(r, "steps")
		run := func(ask bool) (hash uint64, sent uint64, notified int) {
			var all []*asked
			p := newPair(t, cnp.Silent{}, func(c *agent.Config) {
				c.NewRP = func(*ratelimit.Port) ratelimit.RP {
					rp := maker()
					if !ask {
						return rp
					}
					a := &asked{Starter: rp}
					all = append(all, a)
					return a
				}
			})
			drop := false
			p.wire.drop = func([]byte) bool {
				was := drop
				drop = false
				return was
			}
			ids := make([]int, len(sizes))
			for i, size := range sizes {
				ids[i] = p.send(i+1, size, units.Time(i)*100*units.Microsecond)
			}
			for _, s := range steps {
				p.run(p.Now() + s.after)
				switch s.what {
				case 0, 1:
					if p.a.Flow(p.Now(), ids[s.flow]).Active {
						p.inject(p.frameTo(1, func(b []byte, to wire.RoCE) int {
							to.TOS |= uint8(s.what) * wire.CE
							return cnp.Encode(b, to, uint32(s.flow+1), cnp.Notice{ECN: uint8(s.what) * wire.CE, Word: s.value})
						}))
					}
				case 2:
					p.a.SetLimit(p.Now(), ids[s.flow], units.Rate(s.value)*10*units.Mbps)
				case 3:
					pause := pfc.Frame{Enable: 1 << 3}
					pause.Quanta[3] = uint16(s.value * 10)
					b := make([]byte, pfc.FrameLen)
					pause.Encode(b, mac(9))
					p.inject(b)
				case 4: // the next frame of either is lost
					drop = true
				}
			}
			p.run(p.Now() + 2*ms)
			for _, a := range all {
				notified += a.bytes
			}
			if hash, _ = p.Hash(); p.a.DataSent() == 0 {
				r.Fatal("nothing was sent")
			}
			return hash, p.a.DataSent(), notified
		}
		h1, s1, _ := run(false)
		h2, s2, notified := run(true)
		if h1 != h2 || s1 != s2 {
			r.Fatalf("kept: %d bytes, trace %x; asked: %d bytes, trace %x", s1, h1, s2, h2)
		}
		if uint64(notified) != s2 {
			r.Fatalf("told of %d bytes of %d", notified, s2)
		}
	})
}
