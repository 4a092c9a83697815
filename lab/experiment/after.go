package experiment

import (
	"go.yaml.in/yaml/v4"

	"photon/config"
	"photon/units"
)

// After is something that flows wait for. A file may have the name of the flows alone.
type After struct {
	Flows config.Value[string] `yaml:"flows"` // a group or a collective
	At    config.Value[string] `yaml:"at"`    // end (if absent), start, acknowledged, or a size: so much has arrived
	Delay units.Time           `yaml:"delay"` // after that
	All   bool                 `yaml:"all"`   // wait for all flows of the group, not only for those that the host has part in
}

// Afters are all that flows wait for; a single one may stand without a list.
type Afters []After

// UnmarshalYAML implements yaml.Unmarshaler.
func (l *Afters) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Load((*[]After)(l), yaml.WithKnownFields())
	}
	*l = make(Afters, 1)
	return (*l)[0].UnmarshalYAML(n)
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (a *After) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return a.Flows.UnmarshalYAML(n)
	}
	type whole After // without this method
	return n.Load((*whole)(a), yaml.WithKnownFields())
}
