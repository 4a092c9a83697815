package scheme

import (
	"slices"

	"photon/cnp"
	"photon/marking"
	"photon/wire"
)

func init() {
	register(&Scheme{
		Name:    "af-qcn",
		Summary: "Approximate Fairness with QCN: the switch adds to its feedback how far a flow exceeds its weighted share",
		Source:  "Kabbani et al., AF-QCN: Approximate Fairness with Quantized Congestion Notification, Hot Interconnects 2010",
		CP:      "QCN's sampling; Fb = (1-alpha) FbQCN + alpha FbAF, shares by weighted max-min of what arrives",
		NP:      "sends nothing: the switch notifies",
		RP:      "QCN's",
		Params: slices.Concat(qcnParams(), []Param{
			{Name: "alpha", Doc: "weight of fairness in the feedback; between 0 and 1, at most 0.25 for stability", Default: "0.125", Source: "section III"},
			{Name: "ts", Doc: "interval over which rates are estimated; a time, above 0", Default: "1ms", Source: "section III"},
			{Name: "beta", Doc: "weight of the newest interval in the estimate; between 0 and 1", Default: "0.125", Source: "section III"},
			{Name: "active", Doc: "active_thresh, a flow whose estimate is no more than this has no part; a size", Default: "20KB", Source: "section III"},
			{
				Name: "floor", Doc: "QCN's part of the mix is at least 0; yes or no", Default: "no", Source: "equations 1 and 4: what is sent, the mix, must be positive",
				Open: "section III also calls FbQCN a 6-bit number, which is never below 0. With a floor a flow is cut that exceeds an equal part of a link with room left, and shares in a parking lot are not max-min, as section IV has them",
			},
			{
				Name: "classes", Doc: "most flows distinguished at a queue; at least 1", Default: "1024", Source: "ours",
				Open: "not stated, nor are: how the mix is rounded (to the nearest: rounding down would silence fairness where QCN sees no congestion), and by which feedback the sampling goes (the mix)",
			},
		}),
		build: func(n Network, r *reader) Parts {
			cp := marking.AFQCNParams{
				QCNParams: r.qcnCP(), Alpha: r.fraction("alpha"), Interval: r.time("ts"), Beta: r.fraction("beta"),
				Active: r.size("active"), Classes: r.int("classes"), Floor: r.flag("floor"),
			}
			r.check(cp.Validate())
			return Parts{
				CP:    func(q marking.Place) marking.CP { return marking.NewAFQCN(cp, n.seedOf(q), n.shares()) },
				NP:    func(int) cnp.NP { return cnp.Silent{} },
				RP:    r.qcnRP(n),
				Carry: cnp.Carry{ECT: wire.ECT0, Tag: true},
			}
		},
	})
}
