package units

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// Errors that the parsers return, wrapped with the text they were given.
var (
	ErrSyntax   = errors.New("not a number with a unit")
	ErrNoUnit   = errors.New("the unit is missing")
	ErrUnit     = errors.New("unknown unit")
	ErrOverflow = errors.New("out of range")
	ErrInexact  = errors.New("finer than the smallest unit")
)

// unit is one way to write a quantity: "us" stands for 1e6 picoseconds.
type unit struct {
	name  string
	scale int64
}

// parse reads "12.5us" into an integer number of the smallest unit. It works
// in integers throughout: "0.1us" is exactly 100 000 ps.
func parse(what, s string, table []unit) (int64, error) {
	fail := func(err error) (int64, error) {
		return 0, fmt.Errorf("%s %q: %w (write it like %s)", what, s, err, example(table))
	}
	t := strings.TrimSpace(s)
	cut := strings.LastIndexAny(t, "0123456789.") + 1
	number, name := t[:cut], strings.TrimSpace(t[cut:])
	negative := strings.HasPrefix(number, "-")
	number = strings.TrimPrefix(number, "-")
	whole, fraction, _ := strings.Cut(number, ".")
	if whole+fraction == "" {
		return fail(ErrSyntax)
	}
	scale := int64(0)
	for _, u := range table {
		if u.name == name {
			scale = u.scale
		}
	}
	if scale == 0 {
		if name == "" && strings.Trim(whole+fraction, "0") == "" {
			return 0, nil // a bare 0 needs no unit
		}
		if name == "" {
			return fail(ErrNoUnit)
		}
		return fail(ErrUnit)
	}
	value, err := digits(whole, scale)
	if err != nil {
		return fail(err)
	}
	for _, d := range fraction {
		if d < '0' || d > '9' {
			return fail(ErrSyntax)
		}
		if d == '0' {
			scale /= 10 // zeros may be finer than the smallest unit; digits that count must fit
			continue
		}
		if scale == 0 || scale%10 != 0 {
			return fail(ErrInexact)
		}
		scale /= 10
		value += int64(d-'0') * scale
		if value < 0 {
			return fail(ErrOverflow)
		}
	}
	if negative {
		value = -value
	}
	return value, nil
}

// digits returns the decimal number s times scale.
func digits(s string, scale int64) (int64, error) {
	var n uint64
	for _, d := range s {
		if d < '0' || d > '9' {
			return 0, ErrSyntax
		}
		hi, lo := bits.Mul64(n, 10)
		n = lo + uint64(d-'0')
		if hi != 0 || n < lo {
			return 0, ErrOverflow
		}
	}
	hi, lo := bits.Mul64(n, uint64(scale))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, ErrOverflow
	}
	return int64(lo), nil
}

// format prints v in the largest decimal unit that it reaches, with as many
// digits after the point as it takes: parse(format(v)) == v.
func format(v int64, table []unit) string {
	if v == 0 {
		return "0" + table[0].name
	}
	sign := ""
	u := uint64(v)
	if v < 0 {
		sign, u = "-", -u
	}
	best := table[0]
	for _, t := range table {
		if t.scale > best.scale && decimal(t.scale) && u >= uint64(t.scale) {
			best = t
		}
	}
	whole, rest := u/uint64(best.scale), u%uint64(best.scale)
	if rest == 0 {
		return fmt.Sprintf("%s%d%s", sign, whole, best.name)
	}
	fraction := ""
	for scale := uint64(best.scale); rest > 0; rest %= scale {
		scale /= 10
		fraction += string(rune('0' + rest/scale))
	}
	return fmt.Sprintf("%s%d.%s%s", sign, whole, fraction, best.name)
}

// decimal reports whether n is a power of ten; only those units are printed.
func decimal(n int64) bool {
	for n%10 == 0 {
		n /= 10
	}
	return n == 1
}

func example(table []unit) string {
	return "10" + table[len(table)/2].name
}
