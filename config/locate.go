package config

import (
	"encoding"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// LineOf is the line of a file on which the value of a key stands, of a key below
// a key and so on; 0 if it is not there.
func LineOf(b []byte, keys ...string) int {
	node := body(b)
	for _, key := range keys {
		if node = entries(node)[key]; node == nil {
			return 0
		}
	}
	return line(node)
}

// body is the first document of a text; nil: there is none.
func body(b []byte) (node ast.Node) {
	defer func() {
		if recover() != nil { // the library panics at some texts
			node = nil
		}
	}()
	file, err := parser.ParseBytes(b, 0)
	if err != nil || len(file.Docs) == 0 {
		return nil
	}
	return file.Docs[0].Body
}

// entries are the values of a mapping by their keys, or of a list by their numbers.
func entries(node ast.Node) map[string]ast.Node {
	var list []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.SequenceNode:
		all := map[string]ast.Node{}
		for i, v := range n.Values {
			all[strconv.Itoa(i)] = v
		}
		return all
	case *ast.MappingNode:
		list = n.Values
	case *ast.MappingValueNode:
		list = []*ast.MappingValueNode{n}
	}
	all := map[string]ast.Node{}
	for _, v := range list {
		all[v.Key.GetToken().Value] = v.Value
	}
	return all
}

// line is where a value begins; of keys with values, that is the first key.
func line(node ast.Node) int {
	switch n := node.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return line(n.Values[0])
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken().Position.Line
	}
	return node.GetToken().Position.Line
}

// refused is the line of the text that a plain encoding.TextUnmarshaler refused
// with why: the library passes such errors on as they are, without a place. It is
// 0 if there is none such in what is decoded to t.
func refused(node ast.Node, t reflect.Type, why string) int {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch u := reflect.New(t).Interface().(type) {
	case yaml.NodeUnmarshaler:
		return 0 // knows the line itself
	case encoding.TextUnmarshaler:
		if _, ok := node.(ast.ScalarNode); ok {
			if err := u.UnmarshalText([]byte(node.GetToken().Value)); err != nil && err.Error() == why {
				return line(node)
			}
		}
		return 0
	}
	switch t.Kind() {
	case reflect.Struct:
		values := entries(node)
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
			if v := values[name]; v != nil {
				if at := refused(v, t.Field(i).Type, why); at > 0 {
					return at
				}
			}
		}
	case reflect.Map:
		first := 0
		for _, v := range entries(node) {
			if at := refused(v, t.Elem(), why); at > 0 && (first == 0 || at < first) {
				first = at
			}
		}
		return first
	case reflect.Slice, reflect.Array:
		if list, ok := node.(*ast.SequenceNode); ok {
			for _, v := range list.Values {
				if at := refused(v, t.Elem(), why); at > 0 {
					return at
				}
			}
		}
	}
	return 0
}
