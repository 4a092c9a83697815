package scheme

import (
	"cmp"
	"slices"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/wire"
)

type tcdDCQCN struct {
	cp    marking.TCDParams
	clamp bool // a CNP with UE makes the current rate the target
	np    cnp.DCQCNParams
	rp    ratelimit.DCQCNParams
}

// tcdTimely is TIMELY with marks.
type tcdTimely struct {
	timely
	cp marking.TCDParams
}

func init() {
	const source = "Zhang et al., Congestion Detection in Lossless Networks, SIGCOMM'21, and its authors' simulator"
	const cp = "ternary: UE while the port was resumed recently, then CE by RED as soon as its queue stops falling"
	register[tcdDCQCN](Scheme{
		Name:    "tcd+dcqcn",
		Summary: "DCQCN behind ternary congestion detection: gentle with flows that only met pauses",
		Source:  source,
		CP:      cp,
		NP: "one CNP per flow and interval from its first frame on: CE if any frame of the interval had it, " +
			"else UE if any had it",
		RP: "DCQCN's at CE; at UE the rate stays and recovery starts again",
	})
	register[tcdTimely](Scheme{
		Name:    "tcd+timely",
		Summary: "TIMELY behind ternary congestion detection: only packets that met congestion slow a flow down",
		Source:  source,
		CP:      cp,
		NP:      "acknowledges every packet, with its mark and its departure time",
		RP:      "TIMELY's; where it would decrease, it does so only at a packet with CE, and else increases additively",
		Silent:  true,
	})
}

const configburst = "the file that the authors' simulator comes with (configburst.txt)"

func tcdParams(p *marking.TCDParams) []Param {
	return append(redParams(&p.REDParams), Param{
		Name: "interval", into: duration(&p.Interval), Doc: "max(Ton): a port that was resumed longer ago is not in an ON-OFF pattern; a time, above 0", Default: "97us",
		Source: configburst + ", for 40 Gbit/s and links of 4 to 5 us",
		Open:   "its code's default is 40 us; it follows from thresholds and delays, (B1-B0+tau R_d)/(C-R_d)+tau with R_d = 0.95 C",
	})
}

func (s *tcdDCQCN) params() []Param {
	return slices.Concat(tcdParams(&s.cp), []Param{
		{Name: "clamp", into: flag(&s.clamp), Doc: "a CNP with UE makes the current rate the target; yes or no", Default: "yes", Source: configburst + ": CLAMP_TARGET_RATE 1"},
	}, but(append([]Param{cnpInterval(&s.np)}, dcqcnParams(&s.rp)...),
		Param{Name: "cnp_interval", Source: "the authors' simulator"},
		Param{Name: "alpha", Default: "0.5", Source: "the authors' simulator, in its code", Open: "SIGCOMM'15 has 1"},
		Param{Name: "alpha_first", Default: "yes", Source: "the authors' simulator, in its code", Open: "SIGCOMM'15's equation 1 has it the other way round"},
		Param{Name: "rate_timer", Source: configburst},
		Param{Name: "byte_counter", Source: configburst},
		Param{Name: "ai", Source: configburst},
		Param{
			Name: "hai", Default: "200Mbps", Source: configburst,
			Open: "its code begins hyper increase a stage sooner, as that of DCQCN's authors; here it is DCQCN+'s equation 8",
		},
	))
}

func (s *tcdDCQCN) build(n Network) (Parts, error) {
	s.rp.Line = n.Line
	return Parts{
		CP:    func(q marking.Place) marking.CP { return marking.NewTCD(s.cp, n.seedOf(q)) },
		NP:    func(flows int) cnp.NP { return cnp.NewTCD(s.np, flows) },
		Every: s.np.Interval,
		RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewTCD(&s.rp, s.clamp) },
		Carry: cnp.Carry{ECT: wire.ECT1},
	}, cmp.Or(s.np.Validate(), s.rp.Validate(), checkTicks(s.np), s.cp.Validate())
}

func (s *tcdTimely) params() []Param { return append(tcdParams(&s.cp), s.timely.params()...) }

func (s *tcdTimely) build(n Network) (Parts, error) {
	s.rp.MarkedOnly = true
	parts, err := s.timely.build(n)
	parts.CP = func(q marking.Place) marking.CP { return marking.NewTCD(s.cp, n.seedOf(q)) }
	parts.Carry.ECT = wire.ECT1
	return parts, cmp.Or(err, s.cp.Validate())
}
