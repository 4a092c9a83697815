package config

import (
	"fmt"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v4"

	"photon/units"
)

// LineOf is the line of a file on which the value of a key stands, of a key below
// a key and so on; 0 if it is not there.
func LineOf(b []byte, keys ...string) int {
	var file yaml.Node
	if err := yaml.Load(b, &file); err != nil || len(file.Content) == 0 {
		return 0
	}
	node := file.Content[0]
	for _, key := range keys {
		if node = child(node, key); node == nil {
			return 0
		}
	}
	return node.Line
}

// child is the value of a key of a mapping, or of a number of a list; nil: there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}

// FailIn is an error of the first of some settings, or of what has settings, of which a line is known.
func FailIn(items []any, format string, args ...any) error {
	line := 0
	for i := 0; i < len(items) && line == 0; i++ {
		line = lineIn(reflect.ValueOf(items[i]))
	}
	return &Error{Line: line, Err: fmt.Errorf(format, args...)}
}

// lineIn is the first line of what was read into a value; 0: nothing was.
func lineIn(v reflect.Value) (first int) {
	with := func(line int) {
		if line > 0 && (first == 0 || line < first) {
			first = line
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return lineIn(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			with(lineIn(v.Index(i)))
		}
	case reflect.Struct:
		if line := v.FieldByName("Line"); line.IsValid() && line.Kind() == reflect.Int {
			return int(line.Int())
		}
		for i := range v.NumField() {
			with(lineIn(v.Field(i)))
		}
	}
	return first
}

// With more, sums of all ports and priorities, or of an instant and a time, would leave 64 bits; nobody needs as much.
const (
	mostSize = 1_000_000 * units.GB
	mostTime = 4_000_000 * units.Second
)

// tooMuch is an error of a size or a time in what was read with which the arithmetic would not hold.
func tooMuch(v reflect.Value) (err error) {
	if !v.CanInterface() {
		return nil
	}
	switch x := v.Interface().(type) {
	case Value[units.Size]:
		if x.V > mostSize {
			err = fail(x, "%v: at most %v", x.V, mostSize)
		}
		return err
	case Value[units.Time]:
		if x.V > mostTime {
			err = fail(x, "%v: at most %v", x.V, mostTime)
		}
		return err
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			err = tooMuch(v.Elem())
		}
	case reflect.Slice:
		for i := 0; i < v.Len() && err == nil; i++ {
			err = tooMuch(v.Index(i))
		}
	case reflect.Map:
		for of := v.MapRange(); err == nil && of.Next(); {
			err = tooMuch(of.Value())
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && err == nil; i++ {
			err = tooMuch(v.Field(i))
		}
	}
	return err
}
