package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"photon/internal/suggest"
)

// meantKey says what an operator most likely meant by a key that the file does not have in a place of the type called
// in: the key of that place that is spelled most alike, or else where a key with this name belongs, or the one that is
// spelled most alike anywhere; "" if there is none. The file is decoded to into.
func meantKey(key, in string, into any) string {
	var here, all []string
	places := map[string][]string{}
	eachKey(reflect.TypeOf(into), "", nil, func(name, place string, t reflect.Type) {
		if t.String() == in {
			here = append(here, name)
		}
		if all = append(all, name); !slices.Contains(places[name], place) {
			places[name] = append(places[name], place)
		}
	})
	if other := suggest.Closest(key, here); other != "" {
		return fmt.Sprintf("is %q meant?", other)
	}
	if at := places[key]; at != nil {
		return "it belongs " + strings.Join(at[:min(3, len(at))], " or ") // a few show what is meant
	}
	switch other := suggest.Closest(key, all); {
	case other == "":
		return ""
	case len(places[other]) == 1:
		return fmt.Sprintf("is %q meant, %s?", other, places[other][0])
	default:
		return fmt.Sprintf("is %q meant?", other)
	}
}

// firstKey is the first key of the type called in, for an example; key if it has none of its own, as maps.
func firstKey(in string, into any) (first string) {
	eachKey(reflect.TypeOf(into), "", nil, func(name, _ string, t reflect.Type) {
		if first == "" && t.String() == in {
			first = name
		}
	})
	return cmp.Or(first, "key")
}

// eachKey calls do with each key of a type and of the types within it, with where it stands and the type that has it.
// above are the types that hold this one.
func eachKey(t reflect.Type, path string, above []reflect.Type, do func(name, place string, t reflect.Type)) {
	if t == nil || slices.Contains(above, t) {
		return
	}
	above = append(above, t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		eachKey(t.Elem(), path, above, do)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			within := path
			if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
				place := "at the top level"
				if path != "" {
					place = "under " + path
				}
				do(name, place, t)
				within = strings.TrimPrefix(path+"."+name, ".")
			}
			eachKey(f.Type, within, above, do)
		}
	}
}
