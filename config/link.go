package config

import (
	"fmt"

	"photon/dataplane/dpdk"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
)

// LinkAt is the rate of a port's link, and the headroom of each of its lossless priorities in a buffer of such
// cells, when its device says a rate.
func (c *Switch) LinkAt(port int, device units.Rate, cell units.Size) (units.Rate, units.Size) {
	rate, parts := c.partsAt(port, device, cell)
	return rate, c.PFC.Headroom.Or(parts.Sum())
}

func (c *Switch) partsAt(port int, device units.Rate, cell units.Size) (units.Rate, pfc.HeadroomParts) {
	p, rate := c.portAt(port, device)
	return rate, c.PFC.headroom(p, rate, c.MTU.Or(defaultMTU)).InCells(cell)
}

// portAt is what the file says of a port, and the rate of its link.
func (c *Switch) portAt(port int, device units.Rate) (Port, units.Rate) {
	p := c.Ports[c.index(port)]
	if p.Rate.V == 0 {
		p.Rate = c.Rate
	}
	return p, p.rate(device)
}

// SchemeAt says what is wrong if a link gets a rate with which the scheme does not go.
func (c *Switch) SchemeAt(line, rate units.Rate) error {
	_, _, err := c.Scheme.build(scheme.Network{Seed: 1, Line: line, Rates: []units.Rate{rate}})
	return err
}

// Gap is how far apart polls of a port may be. Until then its headroom has room for what arrives, its receive ring has
// descriptors, and its peer stays paused.
type Gap struct {
	Port     int
	Headroom units.Time
	Ring     units.Time // Never: it is not known how much waits in the device
	Pause    units.Time // until an XOFF has to be sent again
	ring     int
	rate     units.Rate
	lasts    units.Time // the pause
}

// Survived is the shortest of them.
func (g Gap) Survived() units.Time { return min(g.Headroom, g.Ring, g.Pause) }

// Short reports whether something else than the headroom ends first, for which the configuration has a number.
func (g Gap) Short() bool { return min(g.Ring, g.Pause) < g.Headroom }

func (g Gap) String() string {
	s := fmt.Sprintf("polls may be %v apart: for so long the headroom of port %d has room", g.Headroom, g.Port)
	switch {
	case g.Pause < min(g.Ring, g.Headroom):
		return fmt.Sprintf("polls may be %v apart: then the peer of port %d, which an XOFF pauses for %v at %v, may "+
			"go on before it gets the next; its headroom has room for %v",
			g.Pause, g.Port, g.lasts, g.rate, g.Headroom)
	case g.Ring < g.Headroom:
		return fmt.Sprintf("polls may be %v apart: then the %d receive descriptors of port %d can be full, of frames of 64B at %v; its headroom has room for %v",
			g.Ring, g.ring, g.Port, g.rate, g.Headroom)
	case g.Ring < units.Never:
		return s + fmt.Sprintf(", and its %d receive descriptors for %v", g.ring, g.Ring)
	}
	return s
}

// GapAt is that of a port whose device says a rate and has so many receive descriptors (0: it is not known), with the
// headroom that is in force.
func (c *Switch) GapAt(port int, device units.Rate, ring int, headroom, cell units.Size) Gap {
	p, rate := c.portAt(port, device)
	_, parts := c.partsAt(port, device, cell)
	bytes := parts.Sum() - parts.Cells
	room := units.Size(float64(headroom)*float64(bytes)/float64(parts.Sum())) - (bytes - parts.Own)
	g := Gap{Port: port, Ring: units.Never, ring: ring, rate: rate}
	g.Pause = c.PFC.pauseGap(p, rate, c.MTU.Or(defaultMTU))
	g.lasts, _ = pfc.Paused(c.PFC.Pause.V, rate)
	if room > 0 {
		g.Headroom = rate.Serialize(room)
	}
	if ring > 0 {
		g.Ring = units.Time(ring) * dpdk.Shortest(rate)
	}
	return g
}

// warnOfPause warns of a pause that is longer than an XOFF can ask for, and of polls so far apart that the peer of a
// port may go on before its pause is prolonged.
func warnOfPause(port string, pause units.Time, rate units.Rate, response, gap units.Time) (lines []string) {
	lasts, _ := pfc.Paused(pause, rate)
	if lasts < pause {
		lines = append(lines, fmt.Sprintf(
			"  warning: an XOFF pauses the peer of %s for %v at most, not for %v (`pfc: pause`)", port, lasts, pause))
	}
	if gap >= response {
		return lines
	}
	mend := fmt.Sprintf("`pfc: response: %v`, if polls are so close", gap)
	switch {
	case pause > 0:
		mend = "leave `pfc: pause` out, and it is as long as possible"
	case gap == 0:
		mend = "a slower link"
	}
	return append(lines, fmt.Sprintf("  warning: an XOFF pauses the peer of %s for %v, and is sent again after half "+
		"of that: with polls %v apart the peer may go on before, and lossless frames may be lost (%s)",
		port, lasts, response, mend))
}
