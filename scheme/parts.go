package scheme

import (
	"errors"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
)

// Parameters that several recipes share, and how they are read.

const (
	deployment = "DCQCN's deployment at 40 Gbit/s, as later simulators of it set it"
	tableI     = "DCQCN+ (ICNP'18, table I), which lists DCQCN's own values"
	hpccRuns   = "the HPCC authors' simulator, whose runs scale it with the link"
	cnMIB      = "IEEE8021-CN-MIB, the standard's default"
	snippet    = "TIMELY's author's code"
)

func redParams() []Param {
	return []Param{
		{Name: "kmin", Doc: "queue up to which nothing is marked; a size", Default: "5KB", Source: deployment},
		{Name: "kmax", Doc: "queue above which everything is marked; a size", Default: "200KB", Source: deployment},
		{Name: "pmax", Doc: "probability of a mark just below kmax; 0 to 1", Default: "0.01", Source: deployment},
	}
}

func (r *reader) red() marking.REDParams {
	p := marking.REDParams{Kmin: r.size("kmin"), Kmax: r.size("kmax"), Pmax: r.fraction("pmax")}
	r.check(p.Validate())
	return p
}

func cnpInterval() Param {
	return Param{Name: "cnp_interval", Doc: "N, at least between two CNPs of a flow; a time", Default: "50us", Source: tableI}
}

func (r *reader) interval() cnp.DCQCNParams {
	p := cnp.DCQCNParams{Interval: r.time("cnp_interval")}
	r.check(p.Validate())
	return p
}

// checkTicks refuses an interval that is none.
func (r *reader) checkTicks(p cnp.DCQCNParams) {
	if p.Interval == 0 {
		r.check(errors.New("cnp_interval 0: a clock that ticks has an interval"))
	}
}

// cnpPhase is when DCQCN's CNPs leave.
func cnpPhase() Param {
	return Param{
		Name: "cnp_phase", Doc: "when a flow's CNPs leave: `mark` (at a marked frame, if N is over) or `tick` (once per N from its first frame on, if one was marked since)",
		Default: "mark", Source: "SIGCOMM'15, 3.2", Open: "the authors' simulator has `tick`",
	}
}

// dcqcnParams are the reaction point of DCQCN in the paper's form.
func dcqcnParams() []Param {
	return []Param{
		{Name: "g", Doc: "weight of the newest sample in alpha; above 0, at most 1", Default: "1/256", Source: "the authors' simulator"},
		{Name: "alpha", Doc: "what alpha begins with; above 0, at most 1", Default: "1", Source: "SIGCOMM'15, 3.3", Open: "the authors' simulator begins with 0.5"},
		{Name: "alpha_first", Doc: "a CNP raises alpha before the cut, not after it; yes or no", Default: "no", Source: "SIGCOMM'15, equation 1", Open: "in the authors' simulator it does"},
		{Name: "alpha_timer", Doc: "K, without a CNP for so long alpha decays; a time", Default: "55us", Source: "the authors' simulator"},
		{Name: "rate_timer", Doc: "T, between two timer steps of recovery; a time", Default: "55us", Source: tableI},
		{Name: "byte_counter", Doc: "B, between two counter steps of recovery; a size", Default: "10MB", Source: tableI},
		{Name: "threshold", Doc: "F, steps of fast recovery; at least 1", Default: "5", Source: "the authors' simulator, as QCN"},
		{Name: "ai", Doc: "R_AI, additive increase; a rate", Default: "40Mbps", Source: tableI},
		{
			Name: "hai", Doc: "R_HAI, hyper increase per stage beyond F; a rate", Default: "100Mbps", Source: tableI,
			Open: "the authors' simulator has 200 Mbit/s in its sample; the stage counts from F+1 there, from F in DCQCN+'s equation 8, which is used here",
		},
		{Name: "min_rate", Doc: "a cut never goes below; a rate, above 0", Default: "100Mbps", Source: "both public simulators"},
	}
}

func (r *reader) dcqcn(n Network) *ratelimit.DCQCNParams {
	p := &ratelimit.DCQCNParams{
		Line: n.Line, Min: r.rate("min_rate"), AI: r.rate("ai"), HAI: r.rate("hai"), G: r.fraction("g"),
		AlphaTimer: r.time("alpha_timer"), RateTimer: r.time("rate_timer"), ByteCount: r.size("byte_counter"), Threshold: r.int("threshold"),
		Alpha: r.positive("alpha"), AlphaFirst: r.flag("alpha_first"),
	}
	r.check(p.Validate())
	return p
}

// mlxParams are the reaction point of DCQCN as network cards have it.
func mlxParams() []Param {
	const card = "the HPCC authors' simulator, profile `dcqcn`: the defaults of ConnectX cards"
	return []Param{
		{Name: "g", Doc: "weight of the newest sample in alpha; above 0, at most 1", Default: "1/256", Source: card, Open: "the driver's documentation gives 1019 of 1024, about 1/205"},
		{Name: "alpha_timer", Doc: "alpha is renewed so often (dce_tcp_rtt); a time", Default: "1us", Source: card},
		{Name: "cut_timer", Doc: "at most one cut in this time (rate_reduce_monitor_period); a time", Default: "4us", Source: card},
		{Name: "rate_timer", Doc: "between two increases (rpg_time_reset); a time", Default: "300us", Source: card},
		{Name: "threshold", Doc: "increases of fast recovery (rpg_threshold); 0 or more", Default: "1", Source: card},
		{Name: "ai", Doc: "additive increase; a rate", Default: "5 Mbit/s per 25 Gbit/s of the line", Rule: partOfLine(5000), Source: hpccRuns},
		{Name: "hai", Doc: "hyper increase, the same at every step; a rate", Default: "50 Mbit/s per 25 Gbit/s of the line", Rule: partOfLine(500), Source: hpccRuns},
		{
			Name: "min_rate", Doc: "a cut never goes below; a rate, above 0", Default: "100Mbps", Source: "the same simulator's code",
			Open: "its runs set 1 Gbit/s at 100 Gbit/s; a card's own default is 1 Mbit/s",
		},
		{Name: "clamp", Doc: "every cut lowers the target (clamp_tgt_rate); yes or no", Default: "no", Source: card},
	}
}

func (r *reader) mlx(n Network) *ratelimit.MlxParams {
	p := &ratelimit.MlxParams{
		Line: n.Line, Min: r.rate("min_rate"), AI: r.rate("ai"), HAI: r.rate("hai"), G: r.fraction("g"), AlphaTimer: r.time("alpha_timer"),
		CutTimer: r.time("cut_timer"), RateTimer: r.time("rate_timer"), Threshold: r.int("threshold"), Clamp: r.flag("clamp"),
	}
	r.check(p.Validate())
	return p
}

// timelyParams are TIMELY's, in the per-packet form of its author's code.
func timelyParams() []Param {
	return []Param{
		{
			Name: "alpha", Doc: "weight of the newest difference of round-trip times; above 0, at most 1", Default: "0.02", Source: snippet,
			Open: "a public simulator has 0.875, for one update per burst of 16 KB",
		},
		{Name: "beta", Doc: "decrease factor; above 0, at most 1", Default: "0.8", Source: snippet},
		{
			Name: "ai", Doc: "additive increase per update; a rate", Default: "10 Mbit/s per 10 Gbit/s of the line", Rule: partOfLine(1000), Source: snippet,
			Open: "given for 10 Gbit/s only; in proportion to the line rate, as the HPCC authors' simulator has it",
		},
		{Name: "hai", Doc: "updates without a growing round-trip time before the increase is `hai_times` as large; at least 1", Default: "5", Source: snippet},
		{Name: "hai_times", Doc: "how many times larger it is then; above 0", Default: "5", Source: snippet},
		{
			Name: "per_rtt", Doc: "one whole update in a round-trip time, `hai` counting increases and a decrease bounded by min_rate alone, instead of one at every acknowledgement; yes or no",
			Default: "no", Source: snippet, Open: "the paper's algorithm 1 has one per completion event, that is per segment; the HPCC authors' simulator one per round-trip time",
		},
		{
			Name: "min_rtt", Doc: "what gradients are measured by; a time, above 0", Default: "the largest base RTT, 20us if unknown",
			Rule: func(n Network) string { return n.baseRTT().String() }, Source: "its definition; 20 us in the public simulators",
		},
		{Name: "t_low", Doc: "round-trip time below which rates only increase; a time", Default: "0s", Source: snippet + ", for pacing by packets; 50 us for bursts of 64 KB"},
		{Name: "t_high", Doc: "round-trip time above which rates only decrease; a time", Default: "1ms", Source: snippet},
		{
			Name: "segment", Doc: "packets that make one sample of the round-trip time; at least 1", Default: "1", Source: snippet + ", for pacing by packets",
			Open: "TIMELY's paper has segments of 16 to 64 KB; PCN's speaks of segments of 64 KB where it explains how often TIMELY acts (3.2)",
		},
		{Name: "min_rate", Doc: "a flow never goes below; a rate, above 0", Default: "1/1000 of the line", Rule: partOfLine(1000), Source: "optional in " + snippet + "; here one additive step"},
	}
}

func (r *reader) timely(n Network) *ratelimit.TimelyParams {
	p := &ratelimit.TimelyParams{
		Line: n.Line, Min: r.rate("min_rate"), Alpha: r.fraction("alpha"), Beta: r.fraction("beta"), AI: r.rate("ai"), HAI: r.int("hai"),
		Hyper: r.positive("hai_times"), PerRTT: r.flag("per_rtt"), MinRTT: r.time("min_rtt"), Low: r.time("t_low"), High: r.time("t_high"), Segment: r.int("segment"),
	}
	if _, ok := r.values["gain"]; ok {
		p.Patched, p.Gain = true, r.fraction("gain")
	}
	return p
}

// qcnParams are both ends of QCN.
func qcnParams() []Param {
	return []Param{
		{Name: "set_point", Doc: "Qeq, the queue to hold; a size, at least 100B", Default: "26KB", Source: cnMIB + " (ieee8021CnCpQueueSizeSetPoint)"},
		{Name: "w", Doc: "weight of the queue's growth; above 0", Default: "2", Source: cnMIB},
		{Name: "sample_base", Doc: "bytes between two samples without congestion; a size, at least 10KB", Default: "150KB", Source: cnMIB},
		{
			Name: "sampling", Doc: "what congestion makes of them: `adaptive` (down to an eighth of the base, the standard's table) or `fixed`", Default: "adaptive",
			Source: "the standard's pseudo-code",
			Open:   "PCN's paper (NSDI'20, 3.2) tells of an update period of 100 packets, whatever the congestion",
		},
		{
			Name: "sample_jitter", Doc: "of the bytes between samples, from 1-j to 1+j; 0 to below 1", Default: "0.15", Source: "the standard's pseudo-code, 30 % in all",
			Open: "one vendor randomises from 0.75 to 1.25",
		},
		{Name: "gd", Doc: "a feedback of 63 cuts by 63 gd; above 0, at most 1/64", Default: "1/128", Source: cnMIB},
		{Name: "min_dec", Doc: "one notification cuts no lower than this part; above 0, at most 1", Default: "0.5", Source: cnMIB},
		{Name: "byte_reset", Doc: "bytes of a cycle; a size", Default: "150KB", Source: cnMIB},
		{Name: "time_reset", Doc: "time of a cycle; a time", Default: "15ms", Source: cnMIB},
		{
			Name: "threshold", Doc: "cycles of fast recovery; at least 1", Default: "5", Source: cnMIB,
			Open: "whether the fifth or the sixth cycle is the first of half length differs between sources; here the one after the fifth",
		},
		{Name: "ai", Doc: "active increase; a rate", Default: "5Mbps", Source: cnMIB, Open: "simulations of faster links scale it; the papers here say `defaults`"},
		{Name: "hai", Doc: "hyper-active increase per cycle; a rate", Default: "50Mbps", Source: cnMIB},
		{Name: "min_rate", Doc: "a cut never goes below; a rate, above 0", Default: "5Mbps", Source: cnMIB},
		{Name: "reset_jitter", Doc: "of both cycles, from 1-j to 1+j; 0 to below 1", Default: "0.15", Source: "the standard's pseudo-code"},
	}
}

func (r *reader) qcnCP() marking.QCNParams {
	return marking.QCNParams{SetPoint: r.size("set_point"), Weight: r.fraction("w"), SampleBase: r.size("sample_base"), Jitter: r.fraction("sample_jitter"), Sampling: read(r, "sampling", marking.ParseSampling)}
}

// qcnRP returns the maker of QCN's reaction points, each with its own random sequence.
func (r *reader) qcnRP(n Network) func(*ratelimit.Port) ratelimit.RP {
	p := &ratelimit.QCNParams{
		Line: n.Line, Min: r.rate("min_rate"), AI: r.rate("ai"), HAI: r.rate("hai"), Gd: r.fraction("gd"), MinDec: r.fraction("min_dec"),
		ByteReset: r.size("byte_reset"), TimeReset: r.time("time_reset"), Threshold: r.int("threshold"), Jitter: r.fraction("reset_jitter"),
	}
	r.check(p.Validate())
	made := uint64(0)
	return func(*ratelimit.Port) ratelimit.RP {
		made++
		return ratelimit.NewQCN(p, n.Seed<<24^made)
	}
}

// shares is what flows are entitled to.
func (n Network) shares() func(uint32) marking.Share {
	if n.Shares != nil {
		return n.Shares
	}
	return func(uint32) marking.Share { return marking.Share{Weight: 1} }
}
