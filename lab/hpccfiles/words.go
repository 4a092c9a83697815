package hpccfiles

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"photon/config"
	"photon/units"
)

// words reads a file of words between white space. The first error stays, and
// nothing is read after it.
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
	if w.err != nil {
		return 0
	}
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
	if w.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		w.fail("%s %q: a number, not negative", what, text)
		return 0
	}
	return v
}

func (w *words) rate(what string) units.Rate {
	text := w.next(what)
	if w.err != nil {
		return 0
	}
	r, err := parseRate(text)
	if err != nil {
		w.fail("%s: %v", what, err)
	}
	return r
}

func (w *words) time(what string) units.Time {
	text := w.next(what)
	if w.err != nil {
		return 0
	}
	t, err := units.ParseTime(text)
	if err == nil && t < 0 {
		err = fmt.Errorf("%q is negative", text)
	}
	if err != nil {
		w.fail("%s: %v", what, err)
	}
	return t
}

// parseRate reads 25Gbps, and 25Gb/s.
func parseRate(text string) (units.Rate, error) {
	r, err := units.ParseRate(strings.Replace(text, "b/s", "bps", 1))
	if err == nil && r < units.Kbps {
		err = fmt.Errorf("rate %q must be at least 1Kbps", text)
	}
	return r, err
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
