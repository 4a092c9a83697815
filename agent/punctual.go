package agent

import (
	"photon/fabric"
	"photon/units"
)

// punctual finds out how late a world serves a port: later than the node had asked to be served, and
// than the port's link was free. A world that polls is late by up to the time between two polls; a simulated
// one never is.
type punctual struct {
	asked units.Time // when the node wanted to be served
	free  units.Time // when the link has sent what it took
	at    units.Time // of the last service
	late  units.Time // by so much, then

	length int        // of the frame sent last
	takes  units.Time // on the link
}

// served notes that the port is served, and returns by how much too late. A port that is served several
// times at one instant is late by the same all these times.
func (p *punctual) served(now units.Time) (late units.Time) {
	if now > p.at {
		p.at, p.late = now, max(0, now-max(p.asked, p.free))
	}
	p.asked = units.Never
	return p.late
}

// ask notes when the node wants to be served. What it wanted before stands if that has passed.
func (p *punctual) ask(now, next units.Time) units.Time {
	if next > now || p.asked > now {
		p.asked = next
	}
	return next
}

// sent notes that the link has a frame to send, which it could have begun when it should have been served.
func (p *punctual) sent(link *fabric.Link, length int) {
	if length != p.length { // most are as long as the one before, and a division takes as long as all the rest
		p.length, p.takes = length, link.Serialize(length)
	}
	p.free = max(p.free, p.at-p.late) + p.takes
}
