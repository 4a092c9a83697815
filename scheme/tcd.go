package scheme

import (
	"slices"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/wire"
)

func init() {
	const source = "Zhang et al., Congestion Detection in Lossless Networks, SIGCOMM'21, and its authors' simulator"
	const cp = "ternary: UE while the port was resumed recently, then CE by RED as soon as its queue stops falling"
	const file = "the file that the authors' simulator comes with (configburst.txt)"
	interval := Param{
		Name: "interval", Doc: "max(Ton): a port that was resumed longer ago is not in an ON-OFF pattern; a time, above 0", Default: "97us",
		Source: file + ", for 40 Gbit/s and links of 4 to 5 us",
		Open:   "its code's default is 40 us; it follows from thresholds and delays, (B1-B0+tau R_d)/(C-R_d)+tau with R_d = 0.95 C",
	}
	register(&Scheme{
		Name:    "tcd+dcqcn",
		Summary: "DCQCN behind ternary congestion detection: gentle with flows that only met pauses",
		Source:  source,
		CP:      cp,
		NP: "one CNP per flow and interval from its first frame on: CE if any frame of the interval had it, " +
			"else UE if any had it",
		RP: "DCQCN's at CE; at UE the rate stays and recovery starts again",
		Params: slices.Concat(redParams(), []Param{
			interval,
			{Name: "clamp", Doc: "a CNP with UE makes the current rate the target; yes or no", Default: "yes", Source: file + ": CLAMP_TARGET_RATE 1"},
		}, defaults(append([]Param{cnpInterval()}, dcqcnParams()...), map[string]Param{
			"cnp_interval": {Default: "50us", Source: "the authors' simulator"},
			"alpha":        {Default: "0.5", Source: "the authors' simulator, in its code", Open: "SIGCOMM'15 has 1"},
			"alpha_first":  {Default: "yes", Source: "the authors' simulator, in its code", Open: "SIGCOMM'15's equation 1 has it the other way round"},
			"rate_timer":   {Default: "55us", Source: file}, "byte_counter": {Default: "10MB", Source: file}, "ai": {Default: "40Mbps", Source: file},
			"hai": {
				Default: "200Mbps", Source: file,
				Open: "its code begins hyper increase a stage sooner, as that of DCQCN's authors; here it is DCQCN+'s equation 8",
			},
		})),
		build: func(n Network, r *reader) Parts {
			np, rp, clamp := r.interval(), r.dcqcn(n), r.flag("clamp")
			r.checkTicks(np)
			return Parts{
				CP:    r.tcd(n),
				NP:    func(flows int) cnp.NP { return cnp.NewTCD(np, flows) },
				Every: np.Interval,
				RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewTCD(rp, clamp) },
				Carry: cnp.Carry{ECT: wire.ECT1},
			}
		},
	})
	register(&Scheme{
		Name:    "tcd+timely",
		Summary: "TIMELY behind ternary congestion detection: only packets that met congestion slow a flow down",
		Source:  source,
		CP:      cp,
		NP:      "acknowledges every packet, with its mark and its departure time",
		RP:      "TIMELY's; where it would decrease, it does so only at a packet with CE, and else increases additively",
		Silent:  true,
		Params:  slices.Concat(redParams(), []Param{interval}, timelyParams()),
		build: func(n Network, r *reader) Parts {
			rp := r.timely(n)
			rp.MarkedOnly = true
			r.check(rp.Validate())
			return Parts{
				CP:    r.tcd(n),
				NP:    func(int) cnp.NP { return cnp.Silent{} },
				RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewTimely(rp) },
				Carry: cnp.Carry{ECT: wire.ECT1, Ack: true, Stamp: true},
			}
		},
	})
}

// defaults are parameters, some of which begin with something else, for another reason.
func defaults(params []Param, others map[string]Param) []Param {
	for i := range params {
		if o, ok := others[params[i].Name]; ok {
			params[i].Default, params[i].Source, params[i].Open = o.Default, o.Source, o.Open
		}
	}
	return params
}

// tcd returns the maker of TCD's congestion points.
func (r *reader) tcd(n Network) func(marking.Place) marking.CP {
	p := marking.TCDParams{REDParams: r.red(), Interval: r.time("interval")}
	r.check(p.Validate())
	return func(q marking.Place) marking.CP { return marking.NewTCD(p, n.seedOf(q)) }
}
