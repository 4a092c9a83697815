package config

import (
	"cmp"

	"photon/dataplane"
	"photon/units"
)

// Ingress limits how much of the shared buffer lossy frames of one ingress port take.
type Ingress struct {
	Limit Value[units.Size] `yaml:"limit"` // none
	Alpha Value[float64]    `yaml:"alpha"` // this part of what is free of the shared buffer; 0: no such limit
}

// or returns g, with what is not set in it taken from another.
func (g Ingress) or(other Ingress) Ingress {
	pick(&g.Limit, other.Limit)
	pick(&g.Alpha, other.Alpha)
	return g
}

// line is a line of the file on which one of its keys is.
func (g Ingress) line() int { return cmp.Or(g.Limit.Line, g.Alpha.Line) }

// check says what is wrong with the limits, for frames of at most so many bytes.
func (g Ingress) check(longest units.Size) error {
	switch {
	case g.Limit.IsSet() && g.Limit.V < longest:
		return fail(g.Limit, "lossy_ingress: limit %v is less than the longest frame, %v", g.Limit.V, longest)
	case !(g.Alpha.V >= 0 && g.Alpha.V <= mostAlpha):
		return fail(g.Alpha, "lossy_ingress: alpha %v must be from 0 to %v", g.Alpha.V, mostAlpha)
	}
	return nil
}

const mostAlpha = 1024

// ingress gives a port its limit.
func (c *Switch) ingress(p Port, mtu int, to *dataplane.PortConfig) error {
	if p.Ingress != (Ingress{}) && to.Pause {
		return &Error{Line: p.Ingress.line(), Err: errPauseLossy}
	}
	g := p.Ingress.or(c.Ingress)
	if err := g.check(longest(mtu)); err != nil {
		return err
	}
	to.LossyLimit, to.LossyAlpha = g.Limit.V, g.Alpha.V
	return nil
}
