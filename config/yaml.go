package config

import (
	"encoding"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"photon/units"
)

// Error is what is wrong with a file.
type Error struct {
	File string
	Line int // 0: the file as a whole
	Err  error
}

func (e *Error) Error() string {
	switch {
	case e.File == "" && e.Line == 0:
		return e.Err.Error()
	case e.Line == 0:
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Value is a setting, and the line on which it stands.
type Value[T any] struct {
	V    T
	Line int // 0: it does not come from a file
	set  bool
}

// Set is a value that does not come from a file.
func Set[T any](v T) Value[T] { return Value[T]{V: v, set: true} }

// IsSet reports whether there is a value.
func (v Value[T]) IsSet() bool { return v.set }

// Or returns the value, or another if there is none.
func (v Value[T]) Or(other T) T {
	if !v.set {
		return other
	}
	return v.V
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (v *Value[T]) UnmarshalYAML(n ast.Node) error {
	v.Line, v.set = n.GetToken().Position.Line, true
	text := n.GetToken().Value
	var err error
	switch p := any(&v.V).(type) {
	case encoding.TextUnmarshaler:
		if _, ok := n.(ast.ScalarNode); !ok {
			return &Error{Line: v.Line, Err: errors.New("a single value belongs here (in quotes if there is a colon in it)")}
		}
		err = p.UnmarshalText([]byte(text))
	case *int:
		if *p, err = strconv.Atoi(text); err != nil {
			err = fmt.Errorf("%q is not a whole number", text)
		}
	case *uint64:
		if *p, err = strconv.ParseUint(text, 0, 64); err != nil {
			err = fmt.Errorf("%q is not a whole number of 64 bits", text)
		}
	case *float64:
		*p, err = units.ParseNumber(text)
	default:
		if err = yaml.NodeToValue(n, &v.V, yaml.Strict()); err != nil {
			return withLine(err, v.Line, &v.V)
		}
	}
	if err != nil {
		return &Error{Line: v.Line, Err: err}
	}
	return nil
}

// Read decodes a YAML file into v, strictly.
func Read(file string, v any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return FileError(file, err)
	}
	return Decode(file, b, v)
}

// FileError is an error of reading a file, in one line.
func FileError(file string, err error) error { return &Error{File: file, Err: plainFileError(err)} }

func plainFileError(err error) error {
	if path := new(os.PathError); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Unmarshal is the YAML library's, which panics at some texts.
func Unmarshal(b []byte, v any, options ...yaml.DecodeOption) (err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("this is no YAML that can be read (%v)", why)
		}
	}()
	return yaml.UnmarshalWithOptions(b, v, options...)
}

// Decode decodes YAML text into v, strictly; file is for errors.
func Decode(file string, b []byte, v any) error {
	if err := Unmarshal(b, v, yaml.Strict()); err != nil {
		e := withLine(err, 0, v)
		if node := body(b); e.Line == 0 && node != nil {
			e.Line = refused(node, reflect.TypeOf(v), e.Err.Error())
		}
		e.File = file
		return e
	}
	return nil
}

// withLine finds the line in an error of the YAML library, or in ours inside one;
// into is what was decoded to.
func withLine(err error, line int, into any) *Error {
	var ours *Error
	if errors.As(err, &ours) {
		return ours
	}
	var theirs yaml.Error
	if errors.As(err, &theirs) {
		if t := theirs.GetToken(); t != nil {
			line = t.Position.Line
		}
		message := theirs.GetMessage()
		if t := new(yaml.TypeError); errors.As(err, &t) && t.DstType != nil && t.DstType.Kind() == reflect.Int {
			message = "a whole number belongs here" // and not Go's names of fields and types
		}
		if strings.HasSuffix(message, " was used where mapping is expected") {
			message = "keys with values belong here (key: value, or {key: value})"
		}
		if name, ok := strings.CutPrefix(message, "unknown field "); ok {
			message = "unknown key " + name
			if other := closestKey(strings.Trim(name, `"`), into); other != "" {
				message += fmt.Sprintf(": is %q meant?", other)
			}
		}
		return &Error{Line: line, Err: errors.New(message)}
	}
	return &Error{Line: line, Err: err}
}
