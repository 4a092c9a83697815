package experiment

import (
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

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

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (l *Afters) UnmarshalYAML(n ast.Node) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		var a After
		err := a.UnmarshalYAML(n)
		*l = Afters{a}
		return err
	}
	for _, v := range seq.Values {
		var a After
		if err := a.UnmarshalYAML(v); err != nil {
			return err
		}
		*l = append(*l, a)
	}
	return nil
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (a *After) UnmarshalYAML(n ast.Node) error {
	if _, ok := n.(ast.ScalarNode); ok {
		return a.Flows.UnmarshalYAML(n)
	}
	type whole After // without this method
	return yaml.NodeToValue(n, (*whole)(a), yaml.Strict())
}
