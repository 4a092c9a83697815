package scheme

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"photon/units"
)

// Param is a parameter of a recipe.
type Param struct {
	Name    string
	Doc     string // what it is, with its unit and range
	Default string // as text, with its unit
	Source  string // where the default comes from
	// Open says what the source leaves open or contradicts itself in, and why the
	// default is what it is; empty: nothing.
	Open string
	// Rule, if there is one, gives the default from the network, and Default says so in words.
	Rule func(Network) string
	into setter // the variable that holds the value
}

// perLine is the rule of a size in proportion to the hosts' line rate.
func perLine(size units.Size, at units.Rate) func(Network) string {
	return func(n Network) string {
		return units.Size(float64(size)*float64(n.Line)/float64(at) + 0.5).String()
	}
}

// partOfLine is the rule of a rate that is a part of the hosts' line rate.
func partOfLine(part units.Rate) func(Network) string {
	return func(n Network) string { return max(1, n.Line/part).String() }
}

// minRate is the least rate of a flow, where the source has none.
func minRate(at *units.Rate) Param {
	return Param{Name: "min_rate", Doc: "a flow never goes below; a rate, above 0", Default: "1/1000 of the line", Rule: partOfLine(1000), Source: "ours", into: rate(at)}
}

// with is the parameter as another scheme has it, which says only what differs. A default comes with its rule, and a
// source with what it leaves open.
func (p Param) with(other Param) Param {
	p.Doc = cmp.Or(other.Doc, p.Doc)
	if other.Default != "" {
		p.Default, p.Rule = other.Default, other.Rule
	}
	if other.Source != "" {
		p.Source, p.Open = other.Source, ""
	}
	p.Open = cmp.Or(other.Open, p.Open)
	return p
}

// but are the parameters of another scheme, but for some that differ.
func but(params []Param, others ...Param) []Param {
	for _, other := range others {
		i := slices.IndexFunc(params, func(p Param) bool { return p.Name == other.Name })
		if i < 0 {
			panic(fmt.Errorf("but: there is no parameter %q to change", other.Name))
		}
		params[i] = params[i].with(other)
	}
	return params
}

// setter reads the text of a parameter into the variable that holds its value. Each function below makes one, for
// the kind of value that its name says.
type setter func(text string) error

func parsed[T any](at *T, parse func(string) (T, error)) setter {
	return func(text string) (err error) {
		*at, err = parse(text)
		return err
	}
}

func duration(at *units.Time) setter { return parsed(at, units.ParseTime) }
func rate(at *units.Rate) setter     { return parsed(at, units.ParseRate) }
func size(at *units.Size) setter     { return parsed(at, units.ParseSize) }

// fraction reads "0.5", "1/128" or "60%".
func fraction(at *float64) setter { return parsed(at, units.ParseNumber) }

// positive is a fraction above 0.
func positive(at *float64) setter {
	return func(text string) error {
		if err := fraction(at)(text); err != nil || *at > 0 {
			return err
		}
		return fmt.Errorf("%q must be above 0", text)
	}
}

func integer(at *int) setter {
	return func(text string) (err error) {
		if *at, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		return nil
	}
}

// count is a whole number from 1.
func count(at *int) setter {
	return func(text string) error {
		if err := integer(at)(text); err != nil || *at >= 1 {
			return err
		}
		return fmt.Errorf("%q must be at least 1", text)
	}
}

// flag reads "yes" or "no".
func flag(at *bool) setter { return either(at, "%q is", "yes", true, "no", false) }

// either reads one of two words, each of which stands for a value. Of another word it says that it is neither.
func either[T any](at *T, says, first string, a T, second string, b T) setter {
	return func(text string) error {
		switch text {
		case first:
			*at = a
		case second:
			*at = b
		default:
			return fmt.Errorf(says+" neither %s nor %s", text, first, second)
		}
		return nil
	}
}
