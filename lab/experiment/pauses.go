package experiment

import (
	"photon/fabric"
	"photon/lab/topology"
	"photon/pfc"
	"photon/units"
)

// checkPauses finds events that make a link so slow that a pause is over before the XOFF that is to prolong it has
// passed a frame: both ends count quanta by the rate that the link had before, and what comes meanwhile has no
// headroom.
func (e *Experiment) checkPauses(plan *topology.Plan) error {
	if e.Parameters.Credits() != nil || e.Parameters.LosslessMask() == 0 {
		return nil
	}
	longest := e.Parameters.LongestFrame()
	return e.eachNewRate(plan, func(number int, ev *Event, usual, then fabric.Link) error {
		lasts, spare := pfc.Paused(0, usual.Rate)
		if took := then.Serialize(longest); took > spare {
			least := units.Rate(float64(usual.WireBytes(longest)) * 8 / spare.Seconds())
			least = (least/units.Mbps + 1) * units.Mbps
			return at(ev.Rate, "event %d: a frame takes %v on link %s then, and pauses last %v by its rate of %v: "+
				"they would be over before the next XOFF is through (a rate of %v or more, or a shorter mtu)",
				number, took, ev.Link.V, lasts, usual.Rate, least)
		}
		return nil
	})
}
