package ratelimit

import (
	"testing"

	"photon/units"
	"photon/wire"
)

// The figures here were computed once, by the reaction points of the public simulators of DCQCN's authors
// (bobzhuyb/ns3-rdma, e8a27d0) and of HPCC's (alibaba-edu/High-Precision-Congestion-Control, 9f4be2a), run by a clock
// of their own and told what the tables say. They have rates of whole bits per second, cut at every step.

// agrees reports whether a rate is one of theirs.
func agrees(r units.Rate, want int64) bool { return near(float64(r), float64(want), 1e-7) }

type rateAt struct {
	us   float64
	rate int64
}

// follow tells an RP of notices as time goes on, and asks for its rates.
func follow(t *testing.T, rp RP, notices []float64, sent []float64, want []rateAt) {
	t.Helper()
	at := func(us float64) units.Time { return units.Time(us*1000+0.5) * units.Nanosecond }
	const frames = 10_005 // of 1000 bytes: their byte counter counts beyond 10 MB, ours to it
	for _, w := range want {
		for len(notices) > 0 && notices[0] < w.us {
			rp.Notify(at(notices[0]), wire.CE, 0)
			notices = notices[1:]
		}
		for len(sent) > 0 && sent[0] < w.us {
			for range frames {
				rp.Sent(at(sent[0]), 1000)
			}
			sent = sent[1:]
		}
		if got := rp.Rate(at(w.us)); !agrees(got, w.rate) {
			t.Errorf("after %v us: %d, want %d", w.us, got, w.rate)
		}
	}
}

// DCQCN in the form that PCN's experiments use: alpha from 0.5, and before the cut. Cuts, fast recovery by timer and
// byte counter, and additive increase; hyper increase begins a stage later here (docs/decisions.md).
func TestDCQCNAsItsAuthorsSimulator(t *testing.T) {
	p := &DCQCNParams{
		Line: 40 * units.Gbps, Min: 100 * units.Mbps, AI: 40 * units.Mbps, HAI: 200 * units.Mbps, G: 1. / 256, AlphaTimer: 55 * units.Microsecond,
		RateTimer: 60 * units.Microsecond, ByteCount: 10 * units.MB, Threshold: 5, Alpha: 0.5, AlphaFirst: true,
	}
	follow(t, NewDCQCN(p), []float64{10, 60, 110, 360, 1010, 1060, 1110, 1160, 1210}, []float64{600, 2010}, []rateAt{
		{11, 29960937500},
		{61, 22412299960},
		{111, 16743820089},
		{300, 21703739976},
		{361, 16544176377},
		{500, 20679559070},
		{601, 21885712355},
		{700, 21991866161},
		{780, 22121481516},
		{1000, 22255952661},
		{1011, 16904413443},
		{1211, 5551749039},
		{2000, 7668165998},
		{2011, 7708236589},
		{2500, 8028306904},
	})
}

// DCQCN as cards have it: HPCC's profiles dcqcn and dcqcn_paper, at 25 Gbit/s.
func TestMlxAsHPCCsSimulator(t *testing.T) {
	p := MlxParams{Line: 25 * units.Gbps, Min: 100 * units.Mbps, AI: 5 * units.Mbps, HAI: 50 * units.Mbps, G: 1. / 256, Threshold: 1}
	card, paper := p, p
	card.AlphaTimer, card.CutTimer, card.RateTimer = units.Microsecond, 4*units.Microsecond, 300*units.Microsecond
	paper.AlphaTimer, paper.CutTimer, paper.RateTimer = 50*units.Microsecond, 50*units.Microsecond, 55*units.Microsecond
	cnps := []float64{10.5, 16.3, 16.8, 21.1, 26.2, 70.3, 1500.3, 1506.4}
	follow(t, NewMlx(&card), cnps, nil, []rateAt{
		{14.9, 12694171068},
		{15.2, 12694171068},
		{19.6, 6493444834},
		{31, 1755408713},
		{80, 1046699513},
		{400, 13023349756},
		{700, 19011674878},
		{1000, 22005837439},
		{1400, 23502918719},
		{1505.7, 23422448852},
		{1560, 23297753243},
		{2200, 23454127349},
		{3000, 23556970875},
	})
	follow(t, NewMlx(&paper), cnps, nil, []rateAt{
		{14.9, 25000000000},
		{15.2, 25000000000},
		{19.6, 25000000000},
		{31, 25000000000},
		{80, 12500000000},
		{400, 24414062500},
		{700, 24981689453},
		{1000, 24999713897},
		{1400, 24999997764},
		{1505.7, 24999999441},
		{1560, 13748643610},
		{2200, 24997253086},
		{3000, 24999999916},
	})
}

// HPCC at 100 Gbit/s over two hops, T = 12 us: multiplicative steps, fast reaction within a round trip, five stages of
// additive increase.
func TestHPCCAsItsAuthorsSimulator(t *testing.T) {
	const line = 100 * units.Gbps
	h := NewHPCC(&HPCCParams{Line: line, Min: units.Gbps, BaseRTT: 12 * units.Microsecond, Eta: 0.95, MaxStage: 5, AI: 60}) // 40 Mbit/s
	hops := []link{{rate: line}, {rate: line, at: 500 * units.Nanosecond, sent: 512_000}}
	for _, c := range []struct {
		packet, next uint64
		ns           units.Time    // since the last
		sent, queue  [2]units.Size // of both hops since then, and there
		rate         int64
	}{
		{0, 150, 0, [2]units.Size{0, 0}, [2]units.Size{0, 0}, 100000000000},
		{1, 151, 1000, [2]units.Size{12288, 10240}, [2]units.Size{0, 0}, 95174456698},
		{20, 170, 4000, [2]units.Size{50176, 30720}, [2]units.Size{3200, 0}, 95018049517},
		{60, 200, 6000, [2]units.Size{75264, 46080}, [2]units.Size{64000, 6400}, 93863247974},
		{149, 260, 6000, [2]units.Size{75264, 61440}, [2]units.Size{128000, 19200}, 77821861451},
		{150, 261, 200, [2]units.Size{2560, 2048}, [2]units.Size{128000, 19200}, 77131788759},
		{170, 262, 3000, [2]units.Size{37376, 35840}, [2]units.Size{96000, 12800}, 54993805213},
		{261, 330, 9000, [2]units.Size{112640, 76800}, [2]units.Size{32000, 0}, 58929524723},
		{300, 340, 2000, [2]units.Size{15360, 25088}, [2]units.Size{0, 25600}, 46531550408},
		{331, 400, 9000, [2]units.Size{46080, 97280}, [2]units.Size{0, 9600}, 56159296753},
		{401, 430, 12000, [2]units.Size{76800, 102400}, [2]units.Size{0, 0}, 56199296753},
		{431, 460, 12000, [2]units.Size{71680, 92160}, [2]units.Size{0, 0}, 56239296753},
		{461, 490, 12000, [2]units.Size{76800, 97280}, [2]units.Size{0, 0}, 56279296753},
		{491, 520, 12000, [2]units.Size{81920, 102400}, [2]units.Size{0, 0}, 56319296753},
		{521, 550, 12000, [2]units.Size{87040, 107520}, [2]units.Size{0, 0}, 56359296753},
		{551, 580, 12000, [2]units.Size{92160, 112640}, [2]units.Size{0, 0}, 71339714020},
		{581, 600, 12000, [2]units.Size{97280, 117760}, [2]units.Size{0, 0}, 71379714020},
		{601, 640, 12000, [2]units.Size{102400, 122880}, [2]units.Size{0, 0}, 71419714020},
		{641, 660, 24000, [2]units.Size{51200, 56320}, [2]units.Size{0, 0}, 71459714020},
	} {
		for i := range hops {
			hops[i].at += c.ns * units.Nanosecond
			hops[i].sent += c.sent[i]
			hops[i].queue = c.queue[i]
		}
		h.Ack(0, &Ack{Packet: c.packet, Next: c.next, Hops: telemetry(hops)})
		if got := h.Rate(0); !agrees(got, c.rate) {
			t.Errorf("packet %d: %d, want %d", c.packet, got, c.rate)
		}
	}
}

// TIMELY as HPCC's simulator has it, once per round trip: thresholds, gradient, larger steps after five.
func TestTimelyAsHPCCsSimulator(t *testing.T) {
	h := NewTimely(&TimelyParams{
		Line: 10 * units.Gbps, Min: 100 * units.Mbps, Alpha: 0.875, Beta: 0.8, AI: 10 * units.Mbps, HAI: 5, Hyper: 5, MinRTT: 20 * units.Microsecond,
		Low: 50 * units.Microsecond, High: 500 * units.Microsecond, PerRTT: true,
	})
	for _, c := range []struct {
		packet, next uint64
		ns           units.Time // round trip
		rate         int64
	}{
		{0, 10, 30000, 10000000000},
		{5, 12, 90000, 10000000000},
		{10, 20, 45000, 10000000000},
		{20, 31, 60000, 4093749999},
		{30, 32, 61000, 4093749999},
		{31, 40, 75000, 1642297362},
		{40, 50, 120000, 100000000},
		{50, 60, 119000, 100000000},
		{60, 70, 110000, 110000000},
		{70, 80, 700000, 100000000},
		{80, 90, 1200000, 100000000},
		{90, 100, 400000, 110000000},
		{100, 110, 300000, 120000000},
		{110, 120, 200000, 130000000},
		{120, 130, 150000, 140000000},
		{130, 140, 140000, 150000000},
		{140, 150, 130000, 200000000},
		{150, 160, 120000, 250000000},
		{160, 170, 110000, 300000000},
		{170, 180, 48000, 350000000},
		{180, 190, 49000, 400000000},
		{190, 200, 52000, 370125360},
		{200, 210, 49500, 380125360},
	} {
		h.Ack(units.Time(c.packet)*units.Microsecond, &Ack{Packet: c.packet, Next: c.next, RTT: c.ns * units.Nanosecond})
		if got := h.Rate(0); !agrees(got, c.rate) {
			t.Errorf("packet %d: %d, want %d", c.packet, got, c.rate)
		}
	}
}
