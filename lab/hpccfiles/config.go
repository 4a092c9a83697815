package hpccfiles

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"photon/config"
	"photon/units"
)

// Config is a config.txt: keys and the words behind them.
type Config struct {
	File  string
	set   map[string]*setting
	asked map[string]bool // keys that were read, set or not
	err   error
}

type setting struct {
	key   string
	words []string
	line  int
}

func newConfig(file string) *Config {
	return &Config{File: file, set: map[string]*setting{}, asked: map[string]bool{}}
}

// ReadConfig reads a `KEY VALUE...` a line. What the keys mean is looked at by
// Prepare. A line that begins with # says nothing.
func ReadConfig(file string, b []byte) (*Config, error) {
	c := newConfig(file)
	for i, l := range strings.Split(config.Text(b), "\n") {
		f := strings.Fields(l)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		s := &setting{key: f[0], words: f[1:], line: i + 1}
		if was := c.set[s.key]; was != nil {
			return nil, c.at(s.line, "%s is set in line %d already", s.key, was.line)
		}
		c.set[s.key] = s
	}
	return c, nil
}

// without is a configuration without a key, of which nothing was read.
func (c *Config) without(key string) *Config {
	other := newConfig(c.File)
	for k, s := range c.set {
		if k != key {
			other.set[k] = s
		}
	}
	return other
}

// inOrder are the settings in the order of the file.
func (c *Config) inOrder() []*setting {
	return slices.SortedFunc(maps.Values(c.set), func(a, b *setting) int { return cmp.Compare(a.line, b.line) })
}

func (c *Config) at(line int, format string, args ...any) error {
	return &config.Error{File: c.File, Line: line, Err: fmt.Errorf(format, args...)}
}

// fail keeps the first error.
func (c *Config) fail(s *setting, format string, args ...any) {
	if c.err == nil {
		c.err = c.at(s.line, "%s: %s", s.key, fmt.Sprintf(format, args...))
	}
}

// get returns a setting, if it is there; its key is known from then on.
func (c *Config) get(key string) (*setting, bool) {
	s, ok := c.set[key]
	c.asked[key] = true
	return s, ok
}

// single returns the only word of a setting.
func (c *Config) single(key string) (*setting, string, bool) {
	s, ok := c.get(key)
	if !ok {
		return nil, "", false
	}
	if len(s.words) != 1 {
		c.fail(s, "%d values, where there must be one", len(s.words))
		return nil, "", false
	}
	return s, s.words[0], true
}

func (c *Config) whole(key string, otherwise, least, most int) int {
	s, text, ok := c.single(key)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		c.fail(s, "%q: a whole number from %d to %d", text, least, most)
		return otherwise
	}
	return n
}

func (c *Config) number(key string, otherwise float64) (v float64, isSet bool) {
	s, text, ok := c.single(key)
	if !ok {
		return otherwise, false
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || v > 1e18 {
		c.fail(s, "%q: a number, not negative", text)
		return otherwise, true
	}
	return v, true
}

func (c *Config) rate(key string) (units.Rate, bool) {
	s, text, ok := c.single(key)
	if !ok {
		return 0, false
	}
	r, err := parseRate(text)
	if err != nil {
		c.fail(s, "%v", err)
	}
	return r, true
}

// byRate reads `n rate value ...`.
func (c *Config) byRate(key string) map[units.Rate]float64 {
	s, ok := c.get(key)
	if !ok {
		return nil
	}
	m := map[units.Rate]float64{}
	n := 0
	if len(s.words) > 0 {
		n, _ = strconv.Atoi(s.words[0])
	}
	if n < 1 || len(s.words) != 1+2*n {
		c.fail(s, "how many, and for each a rate and a value")
		return nil
	}
	for i := 1; i < len(s.words); i += 2 {
		rate, err := strconv.ParseInt(s.words[i], 10, 64)
		value, errValue := strconv.ParseFloat(s.words[i+1], 64)
		if err != nil || rate <= 0 || errValue != nil || !(value >= 0 && value < 1e12) {
			c.fail(s, "%s %s: a rate in bit/s and a value", s.words[i], s.words[i+1])
			return nil
		}
		if _, twice := m[units.Rate(rate)]; twice {
			c.fail(s, "the rate %s is there twice", s.words[i])
			return nil
		}
		m[units.Rate(rate)] = value
	}
	return m
}

// unknown lists the settings that were not read, in the order of the file.
func (c *Config) unknown() (list []*setting) {
	for _, s := range c.inOrder() {
		if !c.asked[s.key] {
			list = append(list, s)
		}
	}
	return list
}
