package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// swept is the source of a value that a sweep sets.
const swept = "varied by a sweep"

// set puts a value at a path of an experiment that has one scheme, which is called so in results. Parameters of the
// network and of schemes get their source with it.
func set(doc *yaml.Node, scheme, path string, value *yaml.Node) error {
	steps := strings.Split(path, ".")
	if below, of := strings.CutPrefix(path, "schemes."+scheme+"."); of { // dots may be part of a label
		steps = append([]string{"schemes", "0"}, strings.Split(below, ".")...)
	}
	if slices.Contains(steps, "") {
		return fmt.Errorf("%q is not a path: write it like workloads.all.load", path)
	}
	switch steps[0] {
	case "schemes":
		if len(steps) == 3 {
			steps = slices.Insert(steps, 2, "params")
		}
		if len(steps) != 4 || steps[2] != "params" {
			return fmt.Errorf("%q: a parameter of a scheme is called schemes.SCHEME.PARAMETER", path)
		}
		value = mapping("value", word(text(value)), "source", word(swept))
	case "parameters":
		if len(steps) != 2 {
			return fmt.Errorf("%q: a parameter of the network is called parameters.PARAMETER", path)
		}
		value = mapping("value", value, "source", word(swept))
	case "id", "seed", "repeat", "sweep", "quick", "claims", "plots", "alternatives", "worlds", "title", "about", "paper":
		return fmt.Errorf("%q cannot vary", path)
	}
	if err := put(doc, steps, value, "the experiment"); err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	return nil
}

// put replaces what is at the end of the steps below a node. Only maps grow.
func put(n *yaml.Node, steps []string, value *yaml.Node, where string) error {
	step := steps[0]
	at := child(n, step)
	switch {
	case n.Kind == yaml.MappingNode && at == nil:
		if len(steps) > 1 && step != "params" {
			return fmt.Errorf("there is no %s in %s", step, where)
		}
		at = mapping()
		n.Content = append(n.Content, word(step), at)
	case n.Kind == yaml.SequenceNode && at == nil:
		return fmt.Errorf("there is no %s in %s: the name of an element belongs here, or its number from 0", step, where)
	case at == nil:
		return fmt.Errorf("%s is a single value", where)
	}
	if len(steps) == 1 {
		*at = *clone(value) // other points have it, too
		return nil
	}
	if at.ShortTag() == "!!null" { // a key without a value
		*at = *mapping()
	}
	return put(at, steps[1:], value, step)
}

// child is the value of a key, or the element of a list that has a name, or a number from 0; nil: there is none.
func child(n *yaml.Node, step string) *yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		for _, element := range n.Content {
			if element.Kind != yaml.MappingNode {
				continue
			}
			for _, key := range []string{"name", "id"} {
				if name := child(element, key); name != nil && text(name) == step {
					return element
				}
			}
		}
		if number, err := strconv.Atoi(step); err == nil && number >= 0 && number < len(n.Content) {
			return n.Content[number]
		}
	}
	return nil
}

// remove leaves out a key.
func remove(n *yaml.Node, key string) {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = slices.Delete(n.Content, i, i+2)
			return
		}
	}
}

// word is a text as a value.
func word(s string) *yaml.Node {
	var n yaml.Node
	n.SetString(s)
	return &n
}

// mapping has keys, each before its value.
func mapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i < len(pairs); i += 2 {
		n.Content = append(n.Content, word(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return n
}

// form is how YAML is written here. Ids of tasks depend on it.
var form = yaml.Options(yaml.WithQuotePreference(yaml.QuoteDouble), yaml.WithLineWidth(-1))

func dump(v any) ([]byte, error) { return yaml.Dump(v, form) }

// bare is a copy of a node without what says nothing of its value: comments, and how it is written, also of numbers, as
// in 1e9 and 1.0e+9. Aliases are what they stand for.
func bare(n *yaml.Node) (*yaml.Node, error) {
	var value any
	if err := n.Load(&value); err != nil { // also what refers to itself, or grows without end
		return nil, err
	}
	return clone(n), nil
}

func clone(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value}
	var number float64
	if n.ShortTag() == "!!float" && n.Load(&number) == nil && !math.IsInf(number, 0) && !math.IsNaN(number) {
		c.Value = strconv.FormatFloat(number, 'g', -1, 64)
	}
	for _, below := range n.Content {
		c.Content = append(c.Content, clone(below))
	}
	return c
}

// text is a value as it stands in a table.
func text(n *yaml.Node) string {
	list := make([]string, 0, len(n.Content))
	switch n.Kind {
	case yaml.SequenceNode:
		for _, x := range n.Content {
			list = append(list, text(x))
		}
		return "[" + strings.Join(list, " ") + "]"
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			list = append(list, text(n.Content[i])+":"+text(n.Content[i+1]))
		}
		return "{" + strings.Join(list, " ") + "}"
	}
	return n.Value
}
