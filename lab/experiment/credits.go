package experiment

import (
	"photon/credits"
	"photon/impair"
	"photon/lab/topology"
	"photon/wire"
)

// checkCredits finds what does not go with links that have credits: damage to pauses, of which there are none, and a
// period in which a link carries flow control packets and nothing else.
func (e *Experiment) checkCredits(plan *topology.Plan) error {
	if e.Parameters.Credits() == nil {
		return nil
	}
	for i := range e.Impair {
		for j := range e.Impair[i].Rules {
			r := &e.Impair[i].Rules[j]
			switch k := r.Frames.V; {
			case r.Do.V == impair.Pause:
				return at(r.Do, "do: pause: links with credits have no pauses")
			case k == impair.PFC || k == impair.XOFF || k == impair.XON:
				return at(r.Frames,
					"frames: %v: links with credits have none (all has their flow control packets, too)", k)
			}
		}
	}
	return e.checkPeriod(plan)
}

// checkPeriod finds a link on which the next flow control packets are due before a frame has passed the last ones.
func (e *Experiment) checkPeriod(plan *topology.Plan) error {
	period := e.Parameters.CreditPeriod.Value
	if period.V == 0 {
		return nil
	}
	longest := int(e.Parameters.MTU.Value.V) + wire.EthernetLen + wire.VLANLen
	for i := range plan.Nodes {
		for _, end := range plan.Nodes[i].Ends {
			least := end.Link.Serialize(longest) + end.Link.Serialize(credits.FrameLen(credits.Lanes))
			if period.V < least {
				return at(period, "credit_period %v: on a link of %v a frame and the flow control packets take %v",
					period.V, end.Link.Rate, least)
			}
		}
	}
	return nil
}
