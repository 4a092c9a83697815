package config

import (
	"photon/impair"
	"photon/units"
	"photon/wire"
)

// Impair is what is done on purpose to the frames that come in through a port.
type Impair struct {
	Seed  Value[int]   `yaml:"seed"` // of what is drawn; 1
	Rules []ImpairRule `yaml:"rules"`
}

// ImpairRule is one thing that is done. The first rule whose turn it is counts.
type ImpairRule struct {
	Do        Value[impair.Action] `yaml:"do"`         // lose, duplicate, reorder, delay, corrupt, mark or pause
	Frames    Value[impair.Kind]   `yaml:"frames"`     // all, data, ack, cnp, pfc, xoff or xon; all
	Priority  Value[int]           `yaml:"priority"`   // any
	QueuePair Value[int]           `yaml:"queue_pair"` // destination of RoCE packets; any
	From      Value[wire.IP]       `yaml:"from"`       // any
	To        Value[wire.IP]       `yaml:"to"`         // any
	Rate      Value[float64]       `yaml:"rate"`       // part of the frames that match, drawn at random
	Packets   []Value[int]         `yaml:"packets"`    // or which of them, counted from 1; all if neither is there
	By        Value[units.Time]    `yaml:"by"`         // of delay
	Behind    Value[int]           `yaml:"behind"`     // of reorder: so many frames pass
	Every     Value[units.Time]    `yaml:"every"`      // of pause: between two XOFFs
	Start     Value[units.Time]    `yaml:"start"`      // not before, since the start
	Stop      Value[units.Time]    `yaml:"stop"`       // not from then on
}

// List are the rules.
func (m *Impair) List() (list []impair.Rule, err error) {
	for i := range m.Rules {
		r, err := m.Rules[i].Rule()
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// Impaired is what is done at the ports that are impaired, by their places; nil: there are none.
func (c *Switch) Impaired() map[int]impair.Spec {
	var specs map[int]impair.Spec
	for i := range c.Ports {
		if list, _ := c.Ports[i].Impair.List(); len(list) > 0 { // it was checked
			if specs == nil {
				specs = map[int]impair.Spec{}
			}
			specs[c.number(i)] = impair.Spec{Seed: uint64(c.Ports[i].Impair.Seed.Or(1)), Rules: list}
		}
	}
	return specs
}

// Rule is the rule as it is applied.
func (c *ImpairRule) Rule() (impair.Rule, error) {
	r := impair.Rule{
		Do: c.Do.V, Kind: c.Frames.V, Priority: c.Priority.Or(-1), From: c.From.V, To: c.To.V, Part: c.Rate.V,
		Start: c.Start.V, Stop: c.Stop.V, By: c.By.V, Behind: c.Behind.V, Every: c.Every.V,
	}
	switch {
	case !c.Do.IsSet():
		return r, FailIn([]any{c}, "impair: a rule says what it does (`do: lose`)")
	case c.Rate.IsSet() && c.Rate.V == 0:
		return r, fail(c.Rate, "impair: rate 0: a part of the frames, above 0 and up to 1")
	case c.QueuePair.IsSet() && (c.QueuePair.V < 1 || c.QueuePair.V >= 1<<24):
		return r, fail(c.QueuePair, "impair: queue_pair %d must be from 1 to %d", c.QueuePair.V, 1<<24-1)
	}
	r.QP = uint32(c.QueuePair.V)
	for _, n := range c.Packets {
		if n.V < 1 {
			return r, fail(n, "impair: packets are counted from 1, not %d", n.V)
		}
		r.Numbers = append(r.Numbers, uint64(n.V))
	}
	if err := r.Check(); err != nil {
		return r, fail(c.Do, "impair: %v", err)
	}
	return r, nil
}
