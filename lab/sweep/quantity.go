package sweep

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"photon/units"
)

// quantity is one kind of setting: its values are numbers of one unit.
type quantity struct {
	unit string // none: a plain number
	read func(text string) (float64, error)
}

// quantities are what settings may be, the first that fits all values of a column
// counts: 0 alone is of every kind.
var quantities = []quantity{
	{"", plainNumber},
	{"", ratio},
	{"B", func(text string) (float64, error) { v, err := units.ParseSize(text); return float64(v), err }},
	{"s", func(text string) (float64, error) { v, err := units.ParseTime(text); return v.Seconds(), err }},
	{"bit/s", func(text string) (float64, error) { v, err := units.ParseRate(text); return float64(v), err }},
}

var errNumber = errors.New("not a finite number")

func plainNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = errNumber
	}
	return v, err
}

// ratio reads 1/128, as parameters of schemes are written, or a number.
func ratio(text string) (float64, error) {
	above, below, is := strings.Cut(text, "/")
	a, err := plainNumber(above)
	if err != nil || !is {
		return a, err
	}
	b, err := plainNumber(below)
	if err != nil || b == 0 {
		return 0, errNumber
	}
	return a / b, nil
}

// quantityOf is what all values are, or nil: they are words.
func quantityOf(values []string) *quantity {
next:
	for i := range quantities {
		q := &quantities[i]
		for _, v := range values {
			if _, err := q.read(v); err != nil {
				continue next
			}
		}
		return q
	}
	return nil
}

// sameValues are two values that are the same quantity in other words, as 1KB and 1000B are.
func sameValues(values []*yaml.Node) (one, other string, same bool) {
	for i := range quantities {
		seen := map[float64]string{}
		for _, v := range values {
			x, err := quantities[i].read(text(v))
			if err != nil {
				continue
			}
			if before, there := seen[x]; there && before != text(v) {
				return before, text(v), true
			}
			seen[x] = text(v)
		}
	}
	return "", "", false
}
