package config

import (
	"bytes"
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"photon/internal/suggest"
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

// UnmarshalYAML implements yaml.Unmarshaler.
func (v *Value[T]) UnmarshalYAML(n *yaml.Node) error {
	v.Line, v.set = n.Line, true
	if n.Kind != yaml.ScalarNode {
		switch any(&v.V).(type) {
		case encoding.TextUnmarshaler, *int, *uint64, *float64:
			return errors.New(singleValue)
		}
	}
	var err error
	switch p := any(&v.V).(type) {
	case encoding.TextUnmarshaler:
		err = p.UnmarshalText([]byte(n.Value))
	case *int:
		if *p, err = wholeNumber(n.Value); err != nil {
			err = fmt.Errorf("%q is not a whole number", n.Value)
		}
	case *uint64:
		if *p, err = strconv.ParseUint(n.Value, 0, 64); err != nil {
			err = fmt.Errorf("%q is not a whole number of 64 bits", n.Value)
		}
	case *float64:
		*p, err = units.ParseNumber(n.Value)
	default:
		err = n.Load(&v.V, yaml.WithKnownFields())
	}
	return err
}

// wholeNumber reads 26 or 0x1a: perftest prints queue pairs and PSNs in hex. A leading 0 does not make it octal.
func wholeNumber(s string) (int, error) {
	if hex, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		n, err := strconv.ParseUint(hex, 16, strconv.IntSize-1)
		return int(n), err
	}
	return strconv.Atoi(s)
}

// Read decodes a YAML file into v, strictly.
func Read(file string, v any) error {
	b, err := ReadText(file)
	if err != nil {
		return err
	}
	return Decode(file, b, v)
}

// ReadText reads a file; the error is one line.
func ReadText(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, FileError(file, err)
	}
	return b, nil
}

// Text is the text of a file without the byte order mark with which some editors begin it; YAML's reader leaves
// that out by itself.
func Text(b []byte) string { return strings.TrimPrefix(string(b), "\ufeff") }

// FileError is an error of reading a file, in one line.
func FileError(file string, err error) error {
	switch {
	case file == "":
		return errors.New(`"": a name of a file belongs here`)
	case file == "-" && errors.Is(err, fs.ErrNotExist):
		return &Error{File: file, Err: fmt.Errorf("%w (standard input is /dev/stdin)", plainFileError(err))}
	}
	return &Error{File: file, Err: plainFileError(err)}
}

func plainFileError(err error) error {
	if path := new(os.PathError); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Decode decodes YAML text into v, strictly; file is for errors.
func Decode(file string, b []byte, v any) error {
	err := load(b, v)
	if err == nil {
		return nil
	}
	e := &Error{Err: err}
	var theirs *yaml.LoadError
	if ours := (*Error)(nil); errors.As(err, &ours) {
		e = ours
	} else if errors.As(err, &theirs) {
		e = &Error{Line: theirs.Mark.Line, Err: errors.New(plain(theirs.Message, v))}
	}
	e.File = file
	return e
}

// load reads the only document of a text, which may have none: nothing, or comments.
func load(b []byte, v any) error {
	l, err := yaml.NewLoader(bytes.NewReader(b), yaml.WithKnownFields())
	if err != nil {
		return err
	}
	if err := l.Load(v); err != nil {
		if err == io.EOF {
			return nil
		}
		return err
	}
	var second yaml.Node
	if err := l.Load(&second); err != io.EOF {
		return cmp.Or[error](err, &Error{Line: second.Line, Err: errors.New("a second document begins here, and a file has one")})
	}
	var whole yaml.Node
	if err := yaml.Load(b, &whole); err != nil {
		return err
	}
	return odd(&whole)
}

// odd says what the library reads as something else than what was meant: a key of a mapping that is there twice, as
// numbers that are written in two ways, of which one would win; and nothing at all, where it would be a 0.
func odd(n *yaml.Node) error {
	seen := map[int]bool{}
	for i, c := range n.Content {
		wrong := func(format string, args ...any) error {
			return &Error{Line: c.Line, Err: fmt.Errorf(format, args...)}
		}
		key, number := n.Kind == yaml.MappingNode && i%2 == 0, 0
		nothing := c.ShortTag() == nullTag
		switch {
		case key && nothing:
			return wrong("a key is missing before the colon")
		case key && c.ShortTag() == "!!int" && c.Load(&number) == nil:
			if seen[number] {
				return wrong("key %s is there twice: it is %d", c.Value, number)
			}
			if seen[number] = true; n.Content[i+1].ShortTag() == nullTag {
				return wrong("key %s has no value", c.Value)
			}
		case n.Kind == yaml.SequenceNode && (nothing || saysNothing(c)):
			return wrong("an item of this list is empty")
		}
		if err := odd(c); err != nil {
			return err
		}
	}
	return nil
}

const nullTag = "!!null"

// saysNothing reports whether a mapping has no value.
func saysNothing(n *yaml.Node) bool {
	for i := 1; i < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() != nullTag {
			return false
		}
	}
	return n.Kind == yaml.MappingNode
}

const singleValue = "a single value belongs here (in quotes if there is a colon in it)"

// withoutUnit says of a quantity in place of a number that it has no unit: which it is in, the page of its key says.
func withoutUnit(what string) string {
	_, text, _ := strings.Cut(what, "`")
	text = strings.TrimSuffix(text, "`")
	for end := len(text) - 1; end > 0; end-- {
		if _, err := strconv.ParseFloat(text[:end], 64); err == nil {
			return fmt.Sprintf(" without the unit %q (sizes are in bytes, times in seconds, rates in bit/s)", text[end:])
		}
	}
	return ""
}

// plain is an error of the YAML library without Go's names of fields and types; into is what was decoded to.
func plain(message string, into any) string {
	if key, ok := strings.CutPrefix(message, "field "); ok {
		if key, in, ok := strings.Cut(key, " not found in type "); ok {
			message = fmt.Sprintf("unknown key %q", key)
			if now := suggest.Renamed[suggest.Key][key]; now != "" {
				message += fmt.Sprintf(": it is now %q", now)
			} else if meant := meantKey(key, in, into); meant != "" {
				message += ": " + meant
			}
			return message
		}
	}
	what, to, ok := strings.Cut(message, " into ")
	if !ok || !strings.HasPrefix(what, "cannot construct ") {
		return message
	}
	switch {
	case strings.HasSuffix(to, "(TextUnmarshaler)"), to == "string":
		return singleValue
	case strings.HasPrefix(to, "uint"):
		return "a whole number from 0 belongs here"
	case strings.HasPrefix(to, "int"):
		return "a whole number belongs here"
	case strings.HasPrefix(to, "float"):
		return "a number belongs here" + withoutUnit(what)
	case to == "bool":
		return "true or false belongs here"
	case strings.HasPrefix(to, "["):
		return "a list belongs here ([a, b], or a line that begins with - for each)"
	}
	return fmt.Sprintf("keys with values belong here (%s: value, or {%[1]s: value})", firstKey(to, into))
}
