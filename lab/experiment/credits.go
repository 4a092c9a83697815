package experiment

import (
	"photon/credits"
	"photon/fabric"
	"photon/impair"
	"photon/lab/topology"
	"photon/wire"
)

// checkFlowControl finds parameters of a flow control that the links do not have.
func (p *Parameters) checkFlowControl() error {
	f := p.FlowControl.Value
	if f.IsSet() && f.V != "pause" && f.V != "credits" {
		return at(f, "flow_control %q: there are pause and credits", f.V)
	}
	c := p.Credits()
	if c == nil {
		switch {
		case p.LaneBuffer.Value.IsSet():
			return at(p.LaneBuffer.Value, "lane_buffer: that is of links with credits (flow_control: credits)")
		case p.CreditPeriod.Value.IsSet():
			return at(p.CreditPeriod.Value, "credit_period: that is of links with credits (flow_control: credits)")
		case p.CreditUpdate.Value.IsSet():
			return at(p.CreditUpdate.Value, "credit_update: that is of links with credits (flow_control: credits)")
		case p.AlphaByRate.Value.V && !p.Alpha.Value.IsSet():
			return at(p.AlphaByRate.Value, "alpha_by_rate: there is no alpha that could be more for faster ports")
		}
		return nil
	}
	switch {
	case p.XOFF.Value.IsSet():
		return at(p.XOFF.Value, "xoff: links with credits have a lane_buffer in its place")
	case p.XON.Value.IsSet():
		return at(p.XON.Value, "xon: links with credits have none")
	case p.Alpha.Value.IsSet():
		return at(p.Alpha.Value, "alpha: the buffer of a lane with credits is its own")
	case p.AlphaByRate.Value.V:
		return at(p.AlphaByRate.Value, "alpha_by_rate: the buffer of a lane with credits is its own")
	case p.PauseDelay.Value.IsSet() && p.PauseDelay.Value.V != 0:
		return at(p.PauseDelay.Value, "pause_delay: with credits there are no pauses")
	}
	if b := p.LaneBuffer.Value; b.V < 0 {
		return at(b, "lane_buffer %v must be positive", b.V)
	}
	if u, b := p.CreditUpdate.Value, p.LaneBuffer.Value; b.IsSet() && u.V > b.V {
		return at(u, "credit_update %v: at most the buffer of a lane, %v", u.V, b.V)
	}
	if err := c.Validate(p.LongestFrame() + wire.VLANLen); err != nil && p.LaneBuffer.Value.IsSet() {
		return at(p.LaneBuffer.Value, "%v", err)
	}
	return nil
}

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
	if err := e.checkPeriod(plan); err != nil {
		return err
	}
	return e.checkSlowCredits(plan)
}

// checkSlowCredits finds events that make a link so slow that the next flow control packets are due before it has sent
// the last ones: the period stays what it was, and nothing else would pass.
func (e *Experiment) checkSlowCredits(plan *topology.Plan) error {
	return e.eachNewRate(plan, func(number int, ev *Event, usual, then fabric.Link) error {
		period := e.Parameters.Credits().PeriodAt(usual.Rate)
		if took := then.Serialize(credits.FrameLen(credits.Lanes)); took >= period {
			return at(ev.Rate, "event %d: flow control packets take %v on link %s then, and are due every %v "+
				"(credit_period): nothing else would pass", number, took, ev.Link.V, period)
		}
		return nil
	})
}

// eachNewRate calls do for every link to which an event gives a rate, with the event's number, from 1, and the link as it
// is at first and then. It ends with the first error.
func (e *Experiment) eachNewRate(
	plan *topology.Plan, do func(number int, ev *Event, usual, then fabric.Link) error,
) error {
	for i := range e.Events {
		ev := &e.Events[i]
		if !ev.Link.IsSet() || ev.Rate.V == 0 {
			continue
		}
		places, err := ev.Places(plan)
		if err != nil {
			return err
		}
		for _, p := range places {
			usual := plan.Nodes[p.Node].Ends[p.Port].Link
			then := usual
			then.Rate = ev.Rate.V
			if err := do(i+1, ev, usual, then); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPeriod finds a link on which the next flow control packets are due before a frame has passed the last ones.
func (e *Experiment) checkPeriod(plan *topology.Plan) error {
	period := e.Parameters.CreditPeriod.Value
	if period.V == 0 {
		return nil
	}
	longest := e.Parameters.LongestFrame()
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
