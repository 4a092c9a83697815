package scheme

import (
	"cmp"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
)

type qcn struct {
	cp marking.QCNParams
	rp ratelimit.QCNParams
}

func init() {
	register[qcn](Scheme{
		Name:    "qcn",
		Summary: "Quantized Congestion Notification: the switch samples frames and notifies their sources of how far the queue is off",
		Source:  "IEEE 802.1Qau, now IEEE 802.1Q clauses 30 to 33",
		CP:      "samples by bytes; Fb = (Qeq-Q) - w(Q-Qold), six bits of it in a CNM to the sampled frame's source",
		NP:      "sends nothing: the switch notifies",
		RP:      "cuts by gd Fb; fast recovery, active and hyper-active increase by byte counter and timer; extra fast recovery",
	})
}

func (s *qcn) params() []Param {
	const cnMIB = "IEEE8021-CN-MIB, the standard's default"
	return []Param{
		{Name: "set_point", into: size(&s.cp.SetPoint), Doc: "Qeq, the queue to hold; a size, at least 100B", Default: "26KB", Source: cnMIB + " (ieee8021CnCpQueueSizeSetPoint)"},
		{Name: "w", into: fraction(&s.cp.Weight), Doc: "weight of the queue's growth; above 0, at most 1024", Default: "2", Source: cnMIB},
		{Name: "sample_base", into: size(&s.cp.SampleBase), Doc: "bytes between two samples without congestion; a size, at least 10KB", Default: "150KB", Source: cnMIB},
		{
			Name: "sampling", into: either(&s.cp.Sampling, "sampling %q:", "adaptive", marking.Adaptive, "fixed", marking.Fixed), Doc: "what congestion makes of them: `adaptive` (down to an eighth of the base, the standard's table) or `fixed`", Default: "adaptive",
			Source: "the standard's pseudo-code",
			Open:   "PCN's paper (NSDI'20, 3.2) tells of an update period of 100 packets, whatever the congestion",
		},
		{
			Name: "sample_jitter", into: fraction(&s.cp.Jitter), Doc: "of the bytes between samples, from 1-j to 1+j; 0 to below 1", Default: "0.15", Source: "the standard's pseudo-code, 30 % in all",
			Open: "one vendor randomises from 0.75 to 1.25",
		},
		{Name: "gd", into: fraction(&s.rp.Gd), Doc: "a feedback of 63 cuts by 63 gd; above 0, at most 1/64", Default: "1/128", Source: cnMIB},
		{Name: "min_dec", into: fraction(&s.rp.MinDec), Doc: "one notification cuts no lower than this part; above 0, at most 1", Default: "0.5", Source: cnMIB},
		{Name: "byte_reset", into: size(&s.rp.ByteReset), Doc: "bytes of a cycle; a size", Default: "150KB", Source: cnMIB},
		{Name: "time_reset", into: duration(&s.rp.TimeReset), Doc: "time of a cycle; a time, at least 1us", Default: "15ms", Source: cnMIB},
		{
			Name: "threshold", into: integer(&s.rp.Threshold), Doc: "cycles of fast recovery; at least 1", Default: "5", Source: cnMIB,
			Open: "whether the fifth or the sixth cycle is the first of half length is told differently; here the one after the fifth",
		},
		{Name: "ai", into: rate(&s.rp.AI), Doc: "active increase; a rate", Default: "5Mbps", Source: cnMIB, Open: "simulations of faster links scale it; the papers here say `defaults`"},
		{Name: "hai", into: rate(&s.rp.HAI), Doc: "hyper-active increase per cycle; a rate", Default: "50Mbps", Source: cnMIB},
		{Name: "min_rate", into: rate(&s.rp.Min), Doc: "a cut never goes below; a rate, above 0", Default: "5Mbps", Source: cnMIB},
		{Name: "reset_jitter", into: fraction(&s.rp.Jitter), Doc: "of both cycles, from 1-j to 1+j; 0 to below 1", Default: "0.15", Source: "the standard's pseudo-code"},
	}
}

func (s *qcn) build(n Network) (Parts, error) {
	s.rp.Line = n.Line
	made := uint64(0) // each reaction point has its own random sequence
	return Parts{
		CP: func(q marking.Place) marking.CP { return marking.NewQCN(s.cp, n.seedOf(q)) },
		RP: func(*ratelimit.Port) ratelimit.RP {
			made++
			return ratelimit.NewQCN(&s.rp, n.Seed<<24^made)
		},
		Carry: cnp.Carry{Tag: true},
	}, cmp.Or(s.cp.Validate(), s.rp.Validate())
}
