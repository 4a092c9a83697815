package hpccfiles

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"photon/config"
	"photon/units"
)

// words reads a file of words between white space. The first error stays: after it every word is empty, and what is
// wrong with these is not kept.
type words struct {
	file string
	list []word
	line int // of the word read last
	err  error
}

type word struct {
	text string
	line int
}

func newWords(file string, b []byte) *words {
	w := &words{file: file}
	for i, l := range strings.Split(config.Text(b), "\n") {
		for _, f := range strings.Fields(l) {
			w.list = append(w.list, word{f, i + 1})
		}
	}
	return w
}

func (w *words) fail(format string, args ...any) {
	if w.err == nil {
		w.err = &config.Error{File: w.file, Line: w.line, Err: fmt.Errorf(format, args...)}
	}
}

// next is the next word; what says what is expected.
func (w *words) next(what string) string {
	if w.err != nil {
		return ""
	}
	if len(w.list) == 0 {
		w.fail("the file ends where %s is expected", what)
		return ""
	}
	text := w.list[0].text
	w.line = w.list[0].line
	w.list = w.list[1:]
	return text
}

// end makes sure that what is left is a comment, as files of that simulator have them behind the
// lines that they announce. What begins with a number would be one line more.
func (w *words) end(after string) {
	if w.err == nil && len(w.list) > 0 {
		if _, err := strconv.ParseFloat(w.list[0].text, 64); err != nil {
			return
		}
		w.line = w.list[0].line
		w.fail("%q after %s", w.list[0].text, after)
	}
}

// count reads a whole number from least to most.
func (w *words) count(what string, least, most int64) int64 {
	text := w.next(what)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		w.fail("%s %q: a whole number from %d to %d", what, text, least, most)
		return 0
	}
	return n
}

// number reads a number that is not negative.
func (w *words) number(what string) float64 {
	text := w.next(what)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		w.fail("%s %q: a number, not negative", what, text)
		return 0
	}
	return v
}

func (w *words) rate(what string) units.Rate {
	text := w.next(what)
	r, err := parseRate(text)
	if err != nil {
		w.fail("%s: %v", what, err)
	}
	return r
}

func (w *words) time(what string) units.Time {
	text := w.next(what)
	t, err := parseTime(text)
	if err == nil && t < 0 {
		err = fmt.Errorf("%q is negative", text)
	}
	if err != nil {
		w.fail("%s: %v", what, err)
	}
	return t
}

// spelled is a number and its unit as ns-3 takes them apart.
func spelled(text string) (v float64, unit string, ok bool) {
	n := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("+-0123456789.eE", r) })
	if n < 0 {
		n = len(text)
	}
	v, err := strconv.ParseFloat(text[:n], 64)
	return v, text[n:], err == nil
}

// parseRate reads 25Gbps, and whatever else is a rate for ns-3: 25Gb/s, 3.125GB/s, 25000000000.
func parseRate(text string) (units.Rate, error) {
	r, err := units.ParseRate(strings.Replace(text, "b/s", "bps", 1))
	if err != nil {
		if v, unit, ok := spelled(text); ok {
			if each, ok := perUnit(unit); ok && v*each < 1<<62 {
				r, err = units.Rate(math.Round(v*each)), nil
			}
		}
	}
	if err == nil && r < units.Kbps {
		err = fmt.Errorf("rate %q must be at least 1Kbps", text)
	}
	return r, err
}

// perUnit is how many bits per second a unit of ns-3's rates has.
func perUnit(unit string) (each float64, ok bool) {
	if unit == "" {
		return 1, true
	}
	scale, each := unit, 8.0
	if k := strings.IndexAny(unit, "bB"); k >= 0 {
		if scale = unit[:k]; unit[k] == 'b' {
			each = 1
		}
		if rest := unit[k+1:]; rest != "ps" && rest != "/s" {
			return 0, false
		}
	}
	many, ok := map[string]float64{
		"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30,
	}[scale]
	return each * many, ok
}

// parseTime reads 1us, and whatever else is a time for ns-3: 1e-3ms, and without a unit seconds.
func parseTime(text string) (units.Time, error) {
	t, err := units.ParseTime(text)
	if v, unit, ok := spelled(text); ok && err != nil {
		each, ok := map[string]units.Time{
			"": units.Second, "s": units.Second, "ms": units.Millisecond, "us": units.Microsecond, "ns": units.Nanosecond,
		}[unit]
		if v *= float64(each); ok && math.Abs(v) < float64(longest*units.Second) {
			return units.Time(math.Round(v)), nil
		}
	}
	return t, err
}

// longest is the latest time that is read: more than anybody simulates, and far
// from where sums of times might overflow.
const longest = 100_000 // seconds

// parseSeconds reads a time in seconds.
func parseSeconds(text string) (units.Time, error) {
	if t, err := units.ParseTime(text + "s"); err == nil && t >= 0 && t <= longest*units.Second {
		return t, nil // exactly
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= longest) {
		return 0, fmt.Errorf("%q: seconds, from 0 to %d", text, longest)
	}
	return units.Time(math.Round(v*1e9)) * units.Nanosecond, nil
}
