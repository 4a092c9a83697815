package scheme

import (
	"photon/cnp"
	"photon/marking"
	"photon/wire"
)

func init() {
	register(&Scheme{
		Name:    "qcn",
		Summary: "Quantized Congestion Notification: the switch samples frames and notifies their sources of how far the queue is off",
		Source:  "IEEE 802.1Qau, now IEEE 802.1Q clauses 30 to 33",
		CP:      "samples by bytes; Fb = (Qeq-Q) - w(Q-Qold), six bits of it in a CNM to the sampled frame's source",
		NP:      "sends nothing: the switch notifies",
		RP:      "cuts by gd Fb; fast recovery, active and hyper-active increase by byte counter and timer; extra fast recovery",
		Params:  qcnParams(),
		build: func(n Network, r *reader) Parts {
			cp := r.qcnCP()
			r.check(cp.Validate())
			return Parts{
				CP:    func(q marking.Place) marking.CP { return marking.NewQCN(cp, n.seedOf(q)) },
				NP:    func(int) cnp.NP { return cnp.Silent{} },
				RP:    r.qcnRP(n),
				Carry: cnp.Carry{ECT: wire.ECT0, Tag: true},
			}
		},
	})
}
