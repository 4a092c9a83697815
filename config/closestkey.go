package config

import (
	"reflect"
	"slices"
	"strings"

	"photon/internal/suggest"
)

// closestKey is the key that an operator most likely meant by one that the file does not have: of all keys of the type
// that the file is decoded to, the one that is spelled most alike; "" if none is. A key that exists and only stands in
// the wrong place is no misspelling, and has none.
func closestKey(key string, into any) string {
	var names []string
	eachKey(reflect.TypeOf(into), map[reflect.Type]bool{}, func(name string) { names = append(names, name) })
	if slices.Contains(names, key) {
		return ""
	}
	return suggest.Closest(key, names)
}

// eachKey calls do with each key of a type and of the types within it. seen are those that it has been to.
func eachKey(t reflect.Type, seen map[reflect.Type]bool, do func(name string)) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		eachKey(t.Elem(), seen, do)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
				do(name)
			}
			eachKey(f.Type, seen, do)
		}
	}
}
