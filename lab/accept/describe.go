package accept

import (
	"fmt"
	"time"

	"photon/pfc"
	"photon/units"
)

// noWay is why a port does not begin a way through the switch and end one.
const noWay = "no VLAN and no route that can be tried joins it with another port that has a cable, both ways"

// Describe says what a run will do, and how long that takes.
func (p *Plan) Describe() (lines []string) {
	for _, c := range p.Cables {
		lines = append(lines, fmt.Sprintf("a cable from %s, the switch's, to %s, its peer's", c.Switch.V, c.Peer.V))
	}
	for _, stage := range p.stages() {
		switch {
		case len(p.Cables) == 0:
		case stage == "switch":
			lines = append(lines, p.describeTurn(p.turn(false))...)
		case stage == exchanged:
			lines = append(lines, "then with the ends of the cables exchanged:")
			lines = append(lines, p.describeTurn(p.turn(true))...)
		}
	}
	if len(p.Cables) > 0 {
		for _, device := range p.withoutCable() {
			lines = append(lines, fmt.Sprintf("not of %s: no cable leads to it", device))
		}
		for i := range p.sw.Routes {
			if why := p.whyNotRoute(i); why != "" {
				lines = append(lines, fmt.Sprintf("not of the route to %v: %s", p.sw.Routes[i].Prefix.V, why))
			}
		}
		lines = append(lines, fmt.Sprintf(
			"this takes %v at least, and the time in which programs start and links come up", p.length(),
		))
	}
	if p.Figure11.IsSet() {
		lines = append(lines, "figure 11 on the testbed of "+p.Testbed())
	}
	return lines
}

// describeTurn says which ways through the switch are tried.
func (p *Plan) describeTurn(ports []joined) (lines []string) {
	ways, missing := p.ways(ports)
	for i := range ways {
		w := &ways[i]
		text := fmt.Sprintf("from %s to %s%s", w.inName, w.outName, w.name())
		if w.crosses {
			text += ", from one worker to another"
		}
		if w.stop >= 0 {
			text += fmt.Sprintf(", paused in priority %d", w.stop)
		} else {
			text += ", without pauses: " + noPriority(w)
		}
		lines = append(lines, text)
	}
	for _, device := range missing {
		lines = append(lines, fmt.Sprintf("not all of %s: %s", device, noWay))
	}
	return lines
}

// length is how long the steps wait and send, at least.
func (p *Plan) length() time.Duration {
	var all units.Time
	for _, stage := range p.stages() {
		switch stage {
		case "cards":
			each := 2*100*units.Millisecond + 50*units.Millisecond
			for _, d := range p.Devices() {
				all += each
				if p.said(d) == 0 {
					all += units.Second // of line rate
				}
			}
		case "switch", exchanged:
			ports := p.turn(stage == exchanged)
			ways, _ := p.ways(ports)
			for i := range ways {
				rate := p.rate(ways[i].outName, 0)
				pause := 10*units.Millisecond + max(10*units.Millisecond, 300*rate.Serialize(onWire(256)))
				// The rounds; the end of a pause; 60 frames, twice of 20 frames' time; and waits of 10 ms.
				all += units.Time(p.Rounds.Or(defaultRounds))*pause + pfc.Duration(pfc.MaxQuanta/4*3, rate) +
					60*20*rate.Serialize(onWire(longest)) + 12*10*units.Millisecond
			}
		case "pacing":
			paced := p.rate(p.Cables[0].Switch.V, 0) / 20
			all += paced.Serialize(units.Size(p.pacedFrames(paced)) * 1100)
		}
	}
	return all.Duration().Round(100 * time.Millisecond)
}
