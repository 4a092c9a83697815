package scheme

import (
	"cmp"
	"errors"
	"slices"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
)

const (
	deployment = "DCQCN's deployment at 40 Gbit/s, as later simulators of it set it"
	tableI     = "DCQCN+ (ICNP'18, table I), which lists DCQCN's own values"
)

// ecn is DCQCN without its reaction point: marks by RED, and a CNP in an interval.
type ecn struct {
	cp marking.REDParams
	np cnp.DCQCNParams
}

type dcqcn struct {
	ecn
	ticks bool // each flow's CNPs leave by a clock of its own
	rp    ratelimit.DCQCNParams
}

func init() {
	register[dcqcn](Scheme{
		Name:    "dcqcn",
		Summary: "Data Center QCN in the paper's form: ECN marks, CNPs, cuts by alpha/2, staged recovery",
		Source:  "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM'15",
		CP:      "RED on the queue a frame leaves behind",
		NP:      "a CNP for a marked frame, at most one per flow and interval",
		RP:      "R_C(1-alpha/2) at a CNP; fast recovery, additive and hyper increase by timer and byte counter",
	})
}

func (s *ecn) params() []Param { return append(redParams(&s.cp), cnpInterval(&s.np)) }

func (s *ecn) build(n Network) (Parts, error) {
	return Parts{
		CP:    func(q marking.Place) marking.CP { return marking.NewRED(s.cp, n.seedOf(q)) },
		NP:    func(flows int) cnp.NP { return cnp.NewDCQCN(s.np, flows) },
		Every: s.np.Interval,
	}, cmp.Or(s.cp.Validate(), s.np.Validate())
}

func (s *dcqcn) params() []Param {
	return slices.Concat(s.ecn.params(), []Param{{
		Name: "cnp_phase", into: either(&s.ticks, "phase %q:", "mark", false, "tick", true), Doc: "when a flow's CNPs leave: `mark` (at a marked frame, if N is over) or `tick` (once per N from its first frame on, if one was marked since)",
		Default: "mark", Source: "SIGCOMM'15, 3.2", Open: "the authors' simulator has `tick`",
	}}, dcqcnParams(&s.rp))
}

func (s *dcqcn) build(n Network) (Parts, error) {
	s.rp.Line = n.Line
	parts, err := s.ecn.build(n)
	parts.RP = func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewDCQCN(&s.rp) }
	err = cmp.Or(err, s.rp.Validate())
	if s.ticks {
		parts.NP = func(flows int) cnp.NP { return cnp.NewDCQCNTicks(s.np, flows) }
		err = cmp.Or(err, checkTicks(s.np))
	}
	return parts, err
}

// checkTicks refuses an interval that is none.
func checkTicks(p cnp.DCQCNParams) error {
	if p.Interval == 0 {
		return errors.New("cnp_interval 0: a clock that ticks has an interval")
	}
	return nil
}

// redParams are those of RED.
func redParams(p *marking.REDParams) []Param {
	return []Param{
		{Name: "kmin", into: size(&p.Kmin), Doc: "queue up to which nothing is marked; a size", Default: "5KB", Source: deployment},
		{Name: "kmax", into: size(&p.Kmax), Doc: "queue above which everything is marked; a size", Default: "200KB", Source: deployment},
		{Name: "pmax", into: fraction(&p.Pmax), Doc: "probability of a mark just below kmax; 0 to 1", Default: "0.01", Source: deployment},
	}
}

func cnpInterval(p *cnp.DCQCNParams) Param {
	return Param{Name: "cnp_interval", into: duration(&p.Interval), Doc: "N, at least between two CNPs of a flow; a time", Default: "50us", Source: tableI}
}

// dcqcnParams are the reaction point of DCQCN in the paper's form.
func dcqcnParams(p *ratelimit.DCQCNParams) []Param {
	return []Param{
		alphaWeight(&p.G),
		{Name: "alpha", into: positive(&p.Alpha), Doc: "what alpha begins with; above 0, at most 1", Default: "1", Source: "SIGCOMM'15, 3.3", Open: "the authors' simulator begins with 0.5"},
		{Name: "alpha_first", into: flag(&p.AlphaFirst), Doc: "a CNP raises alpha before the cut, not after it; yes or no", Default: "no", Source: "SIGCOMM'15, equation 1", Open: "in the authors' simulator it does"},
		{Name: "alpha_timer", into: duration(&p.AlphaTimer), Doc: "K, without a CNP for so long alpha decays; a time, at least 1us", Default: "55us", Source: "the authors' simulator"},
		{Name: "rate_timer", into: duration(&p.RateTimer), Doc: "T, between two timer steps of recovery; a time, at least 1us", Default: "55us", Source: tableI},
		{Name: "byte_counter", into: size(&p.ByteCount), Doc: "B, between two counter steps of recovery; a size, at least 100B", Default: "10MB", Source: tableI},
		{Name: "threshold", into: integer(&p.Threshold), Doc: "F, steps of fast recovery; at least 1", Default: "5", Source: "the authors' simulator, as QCN"},
		{Name: "ai", into: rate(&p.AI), Doc: "R_AI, additive increase; a rate", Default: "40Mbps", Source: tableI},
		{
			Name: "hai", into: rate(&p.HAI), Doc: "R_HAI, hyper increase per stage beyond F; a rate", Default: "100Mbps", Source: tableI,
			Open: "the authors' simulator has 200 Mbit/s in its sample; the stage counts from F+1 there, from F in DCQCN+'s equation 8, which is used here",
		},
		{Name: "min_rate", into: rate(&p.Min), Doc: "a cut never goes below; a rate, above 0", Default: "100Mbps", Source: "both public simulators"},
	}
}

// alphaWeight is g, which every form of DCQCN has.
func alphaWeight(at *float64) Param {
	return Param{Name: "g", into: fraction(at), Doc: "weight of the newest sample in alpha; from 1/16384 to 1", Default: "1/256", Source: "the authors' simulator"}
}
