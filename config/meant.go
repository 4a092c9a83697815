package config

import (
	"reflect"
	"slices"
	"strings"

	"photon/internal/suggest"
)

// meant is the key of a file that is most like one that it does not have, or
// nothing; into is what the file is decoded to. A key that only stands in the
// wrong place is like nothing.
func meant(key string, into any) string {
	var names []string
	walk(reflect.TypeOf(into), map[reflect.Type]bool{}, func(name string) { names = append(names, name) })
	if slices.Contains(names, key) {
		return ""
	}
	return suggest.Closest(key, names)
}

// walk tells of each key of a type and of those within.
func walk(t reflect.Type, seen map[reflect.Type]bool, tell func(name string)) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		walk(t.Elem(), seen, tell)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
				tell(name)
			}
			walk(f.Type, seen, tell)
		}
	}
}
