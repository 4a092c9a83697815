// Package schema makes JSON schemas of the files that lab reads, for editors. It is
// apart from lab so that what only runs experiments does not carry the library.
package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"photon/lab/experiment"
	"photon/units"
)

// Experiment is the format of experiments as a JSON schema, for editors.
func Experiment() ([]byte, error) {
	return Of(&experiment.Experiment{}, "photon experiment", "An experiment for `photon run` and `photon replay`; docs/experiments.md explains it.")
}

// Of is the format of files that are read into v as a JSON schema.
func Of(v any, title, description string) ([]byte, error) {
	r := &jsonschema.Reflector{FieldNameTag: "yaml", Anonymous: true, RequiredFromJSONSchemaTags: true, Mapper: shape, Namer: typeName}
	s := r.Reflect(v)
	s.Title, s.Description = title, description
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// typeName is a type's, with what it is made of in words that a reference can hold.
func typeName(t reflect.Type) string {
	name, of, generic := strings.Cut(strings.TrimSuffix(t.Name(), "]"), "[")
	if !generic {
		return name
	}
	return name + "-" + strings.NewReplacer("photon/units.", "", "[]", "list-of-").Replace(of)
}

// shape says what a Go type looks like in a file, where that is not what its
// fields say: a quantity is text with a unit, a setting is its value.
func shape(t reflect.Type) *jsonschema.Schema {
	quantity := func(what, example string) *jsonschema.Schema {
		return &jsonschema.Schema{
			Extras: types("string", "integer"), Minimum: "0", Maximum: "0", // 0 needs no unit
			Description: what + " with its unit, as in " + example,
		}
	}
	switch t {
	case reflect.TypeFor[units.Time]():
		return quantity("a time", "50us")
	case reflect.TypeFor[units.Rate]():
		return quantity("a rate", "10Gbps")
	case reflect.TypeFor[units.Size]():
		return quantity("a size", "512KB")
	}
	switch t.Kind() {
	case reflect.Float64:
		return orSwept(&jsonschema.Schema{Type: "number"})
	case reflect.Int, reflect.Uint64:
		return orSwept(&jsonschema.Schema{Type: "integer"})
	case reflect.Bool:
		return orSwept(&jsonschema.Schema{Type: "boolean"})
	case reflect.String:
		return text("")
	case reflect.Slice:
		ofScheme := t.Elem() == reflect.TypeFor[experiment.SchemeUse]()
		isAfters := t == reflect.TypeFor[experiment.Afters]()
		if item := shape(t.Elem()); item != nil && !ofScheme && !isAfters {
			return orSwept(&jsonschema.Schema{Type: "array", Items: item})
		}
	}
	if t == reflect.TypeFor[experiment.SchemeUse]() {
		params := &jsonschema.Schema{Type: "object", AdditionalProperties: sourced(reflect.TypeFor[string]())}
		return either(text("a scheme by its name"), "name", text(""), "params", params, "label", text("what results and claims call it; its name if absent"))
	}
	if t == reflect.TypeFor[experiment.Afters]() {
		one := either(text("a group of flows or a collective, until all of it has arrived"), "flows", text("a group of flows or a collective"), "at", text("end, start, acknowledged, or a size"),
			"delay", quantity("a time", "50us"), "all", shape(reflect.TypeFor[bool]()))
		one.AnyOf = append(one.AnyOf, &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{AnyOf: slices.Clone(one.AnyOf)}})
		return one
	}
	if strings.HasPrefix(t.Name(), "Sourced[") {
		return sourced(t.Field(0).Type.Field(0).Type)
	}
	if strings.HasPrefix(t.Name(), "Value[") {
		return plainShape(t.Field(0).Type)
	}
	return nil
}

// sourced is a parameter: a value, alone or with its source.
func sourced(t reflect.Type) *jsonschema.Schema {
	value := plainShape(t)
	return either(value, "value", value, "source", text("where the value comes from"))
}

// either is something short, or an object with keys and values.
func either(short *jsonschema.Schema, keysAndValues ...any) *jsonschema.Schema {
	keys := jsonschema.NewProperties()
	for i := 0; i < len(keysAndValues); i += 2 {
		keys.Set(keysAndValues[i].(string), keysAndValues[i+1].(*jsonschema.Schema))
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{short, {Type: "object", Properties: keys, AdditionalProperties: jsonschema.FalseSchema}}}
}

func plainShape(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Float64 {
		n := shape(t)
		n.AnyOf = append(n.AnyOf, &jsonschema.Schema{Type: "string", Pattern: "^[0-9.]+ ?(%|/ ?[0-9.]+)$", Description: "60% or 1/8"})
		return n
	}
	return shape(t)
}

// text is what the reader takes as it is written, though it look like a number.
func text(what string) *jsonschema.Schema {
	return &jsonschema.Schema{Extras: types("string", "number", "boolean"), Description: what}
}

// types are several of which a value may be.
func types(names ...string) map[string]any { return map[string]any{"type": names} }

// orSwept is something, or the name of the sweep's quantity that stands in its place.
func orSwept(s *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "string", Pattern: "\\$"}}}
}
