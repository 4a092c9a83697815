package config

import (
	"photon/marking"
	"photon/units"
)

// Share says what flows are entitled to under a scheme that knows of shares, as AF-QCN does.
type Share struct {
	From  Value[Prefix] `yaml:"from"`     // address of the sender
	To    Value[Prefix] `yaml:"to"`       // of the receiver
	Proto Value[string] `yaml:"protocol"` // tcp, udp, or a number
	Port  Value[int]    `yaml:"port"`     // at either end
	QP    Value[int]    `yaml:"qp"`       // RoCEv2 queue pair that packets are for

	Weight Value[float64]    `yaml:"weight"` // 1
	Cap    Value[units.Rate] `yaml:"cap"`    // never more; none
}

// shares are the rules that a file has.
func (s *Scheme) shares() (rules []marking.ShareRule, err error) {
	const most = 1e6
	for i := range s.Shares {
		x := &s.Shares[i]
		flows, err := (&FlowRule{From: x.From, To: x.To, Proto: x.Proto, Port: x.Port, QP: x.QP}).resolve(nil)
		if err != nil {
			return nil, err
		}
		share := marking.Share{Weight: x.Weight.Or(1), Max: x.Cap.V}
		switch {
		case !x.Weight.IsSet() && !x.Cap.IsSet():
			return nil, FailIn([]any{x},
				"share: a weight or a cap belongs here (write it like `{from: 10.0.0.7/32, weight: 4}`)")
		case !(share.Weight >= 1/most && share.Weight <= most):
			return nil, fail(x.Weight, "share: weight %v must be from 0.000001 to 1000000", share.Weight)
		case x.Cap.IsSet() && share.Max <= 0:
			return nil, fail(x.Cap, "share: a cap of %v lets nothing through", share.Max)
		}
		rules = append(rules, marking.ShareRule{
			From: flows.From, To: flows.To, Proto: flows.Proto, Port: flows.Port, QP: flows.QP, Share: share,
		})
	}
	return rules, nil
}
