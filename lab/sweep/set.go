package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// swept is the source of a value that a sweep sets.
const swept = "varied by a sweep"

// set puts a value at a path of an experiment and returns the experiment.
// Parameters of the network and of schemes get their source with it.
func set(doc yaml.MapSlice, path string, value any) (yaml.MapSlice, error) {
	steps := strings.Split(path, ".")
	if slices.Contains(steps, "") {
		return nil, fmt.Errorf("%q is not a path: write it like workloads.all.load", path)
	}
	switch steps[0] {
	case "schemes":
		if len(steps) == 3 {
			steps = slices.Insert(steps, 2, "params")
		}
		if len(steps) != 4 || steps[2] != "params" {
			return nil, fmt.Errorf("%q: a parameter of a scheme is called schemes.SCHEME.PARAMETER", path)
		}
		value = yaml.MapSlice{{Key: "value", Value: text(value)}, {Key: "source", Value: swept}}
	case "parameters":
		if len(steps) != 2 {
			return nil, fmt.Errorf("%q: a parameter of the network is called parameters.PARAMETER", path)
		}
		value = yaml.MapSlice{{Key: "value", Value: value}, {Key: "source", Value: swept}}
	case "id", "seed", "repeat", "sweep", "quick", "claims", "plots", "alternatives", "worlds", "title", "about", "paper":
		return nil, fmt.Errorf("%q cannot vary", path)
	}
	root, err := put(doc, steps, value, "the experiment")
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return root.(yaml.MapSlice), nil
}

// put replaces what is at the end of the steps below a node. Only maps grow.
func put(node any, steps []string, value any, where string) (any, error) {
	if len(steps) == 0 {
		return value, nil
	}
	step := steps[0]
	switch n := node.(type) {
	case nil:
		return put(yaml.MapSlice{}, steps, value, where)
	case yaml.MapSlice:
		i := slices.IndexFunc(n, func(m yaml.MapItem) bool { return text(m.Key) == step })
		if i < 0 {
			if len(steps) > 1 && step != "params" {
				return nil, fmt.Errorf("there is no %s in %s", step, where)
			}
			i = len(n)
			n = append(n, yaml.MapItem{Key: step})
		}
		child, err := put(n[i].Value, steps[1:], value, step)
		n[i].Value = child
		return n, err
	case []any:
		i := slices.IndexFunc(n, func(child any) bool {
			m, ok := child.(yaml.MapSlice)
			return ok && slices.ContainsFunc(m, func(x yaml.MapItem) bool { return (x.Key == "name" || x.Key == "id") && text(x.Value) == step })
		})
		if i < 0 {
			number, err := strconv.Atoi(step)
			if err != nil || number < 0 || number >= len(n) {
				return nil, fmt.Errorf("there is no %s in %s: the name of an element belongs here, or its number from 0", step, where)
			}
			i = number
		}
		child, err := put(n[i], steps[1:], value, step)
		n[i] = child
		return n, err
	}
	return nil, fmt.Errorf("%s is a single value", where)
}

// text is a value as it stands in a table.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		list := make([]string, len(v))
		for i, x := range v {
			list[i] = text(x)
		}
		return "[" + strings.Join(list, " ") + "]"
	case yaml.MapSlice:
		list := make([]string, len(v))
		for i, x := range v {
			list[i] = text(x.Key) + ":" + text(x.Value)
		}
		return "{" + strings.Join(list, " ") + "}"
	}
	return fmt.Sprint(v)
}
