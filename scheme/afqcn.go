package scheme

import (
	"cmp"
	"slices"

	"photon/marking"
)

// afqcn is QCN with another congestion point.
type afqcn struct {
	qcn
	fair marking.AFQCNParams
}

func init() {
	register[afqcn](Scheme{
		Name:    "af-qcn",
		Summary: "Approximate Fairness with QCN: the switch adds to its feedback how far a flow exceeds its weighted share",
		Source:  "Kabbani et al., AF-QCN: Approximate Fairness with Quantized Congestion Notification, Hot Interconnects 2010",
		CP:      "QCN's sampling; Fb = (1-alpha) FbQCN + alpha FbAF, shares by weighted max-min of what arrives",
		NP:      "sends nothing: the switch notifies",
		RP:      "QCN's",
		Shares:  true,
	})
}

func (s *afqcn) params() []Param {
	return slices.Concat(s.qcn.params(), []Param{
		{Name: "alpha", into: fraction(&s.fair.Alpha), Doc: "weight of fairness in the feedback; between 0 and 1, at most 0.25 for stability", Default: "0.125", Source: "section III"},
		{Name: "ts", into: duration(&s.fair.Interval), Doc: "interval over which rates are estimated; a time, above 0", Default: "1ms", Source: "section III"},
		{Name: "beta", into: fraction(&s.fair.Beta), Doc: "weight of the newest interval in the estimate; between 0 and 1", Default: "0.125", Source: "section III"},
		{Name: "active", into: size(&s.fair.Active), Doc: "active_thresh, a flow whose estimate is no more than this has no part; a size", Default: "20KB", Source: "section III"},
		{
			Name: "floor", into: flag(&s.fair.Floor), Doc: "QCN's part of the mix is at least 0; yes or no", Default: "no", Source: "equations 1 and 4: what is sent, the mix, must be positive",
			Open: "section III also calls FbQCN a 6-bit number, which is never below 0. With a floor a flow is cut that exceeds an equal part of a link with room left, and shares in a parking lot are not max-min, as section IV has them",
		},
		{
			Name: "classes", into: integer(&s.fair.Classes), Doc: "most flows told apart at a queue; 1 to 65536", Default: "1024", Source: "ours",
			Open: "not stated, nor are: how the mix is rounded (to the nearest: rounding down would silence fairness where QCN sees no congestion), and by which feedback the sampling goes (the mix)",
		},
	})
}

func (s *afqcn) build(n Network) (Parts, error) {
	s.fair.QCNParams = s.cp
	shares := n.Shares
	if shares == nil {
		shares = marking.Equal
	}
	parts, err := s.qcn.build(n)
	parts.CP = func(q marking.Place) marking.CP { return marking.NewAFQCN(s.fair, n.seedOf(q), shares) }
	return parts, cmp.Or(err, s.fair.Validate())
}
