package scheme

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"photon/cnp"
	"photon/internal/suggest"
	"photon/marking"
	"photon/ratelimit"
	"photon/units"
)

// Scheme is a recipe.
type Scheme struct {
	Name    string
	Summary string // one line
	Source  string // paper or standard
	CP      string // what the switch does, one line
	NP      string // what the receiver does
	RP      string // what the sender does
	Silent  bool   // no reaction point is ever notified: it goes by acknowledgements, or by nothing
	Params  []Param
	build   func(Network, *reader) Parts
}

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
}

// Network is what a recipe may know of the network that it is built for: parameters
// such as PCN's period follow from it.
type Network struct {
	Line units.Rate // of the hosts
	RTT  units.Time // the largest base round-trip time, of propagation alone; 0: unknown
	// Of the path that takes longest; 0: unknown. PathRTT is from when a full packet has left to when its
	// acknowledgement is there: the delays of cables both ways, the packet on every link but the first, which
	// TIMELY's and Swift's round-trip times are without, and the acknowledgement on every link.
	PathRTT units.Time
	Hops    int        // links of it
	Packet  units.Size // of a full data packet on the wire: headers, preamble and gap included, without what a scheme adds

	LongFlows int // that share a bottleneck, where an experiment fixes them; 0: unknown
	Seed      uint64
	Clock     units.Time // of the host is so much ahead of the world's: no two hosts' clocks need tick together
	// Shares is what a flow, by its hash, is entitled to; nil: all the same.
	Shares func(hash uint32) marking.Share
}

// seedOf gives each congestion point of a switch its own random sequence.
func (n Network) seedOf(q marking.Place) uint64 {
	return n.Seed<<16 ^ uint64(q.Port)<<3 ^ uint64(q.Prio)
}

// scaled brings a size that is meant for the hosts' links to another link.
func (n Network) scaled(size units.Size, q marking.Place) units.Size {
	if q.Rate <= 0 || q.Rate == n.Line {
		return size
	}
	return units.Size(float64(size) * float64(q.Rate) / float64(n.Line))
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

// baseRTT is the largest base round-trip time, or a guess where it is unknown.
func (n Network) baseRTT() units.Time {
	if n.RTT > 0 {
		return n.RTT
	}
	return 20 * units.Microsecond
}

// packet is a full data packet on the wire, or a usual one where that is unknown.
func (n Network) packet() units.Size {
	if n.Packet > 0 {
		return n.Packet
	}
	return 1100 * units.Byte
}

// hops are the links of the longest path, or a guess where that is unknown.
func (n Network) hops() int {
	if n.Hops > 0 {
		return n.Hops
	}
	return 4
}

// pathRTT is the base round-trip time of packets, or a guess where it is unknown.
func (n Network) pathRTT() units.Time {
	if n.PathRTT > 0 {
		return n.PathRTT
	}
	return n.baseRTT() + units.Time(n.hops())*n.Line.Serialize(n.packet())
}

// number is a number as the text of a parameter.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// Parts are what a recipe makes for a network: functions that make the three points,
// and what hosts carry for them.
type Parts struct {
	CP    func(marking.Place) marking.CP     // of one egress queue
	NP    func(flows int) cnp.NP             // of one host
	RP    func(*ratelimit.Port) ratelimit.RP // of one flow, behind a port
	Carry cnp.Carry                          // what hosts put into data and acknowledgements
	Every units.Time                         // a flow is notified no more often; 0: nothing says so
}

// Setting is the value of a parameter in one network, and where it comes from.
type Setting struct {
	Param
	Value  string
	Origin string // the recipe's source, or who overrode it
}

// Override replaces a parameter's default.
type Override struct {
	Value  string
	Source string
}

var all = map[string]*Scheme{}

func register(s *Scheme) { all[s.Name] = s }

// Names returns the schemes in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(all)) }

// Get returns a recipe by its name.
func Get(name string) (*Scheme, error) {
	if s, ok := all[name]; ok {
		return s, nil
	}
	return nil, fmt.Errorf("there is no scheme %q (%s)", name, suggest.Or(name, Names(), "there are "+strings.Join(Names(), ", ")))
}

// ParamError says which parameter is wrong.
type ParamError struct {
	Scheme, Param string
	Err           error
}

func (e *ParamError) Error() string {
	if e.Param == "" {
		return fmt.Sprintf("scheme %s: %v", e.Scheme, e.Err)
	}
	return fmt.Sprintf("scheme %s, parameter %s: %v", e.Scheme, e.Param, e.Err)
}

func (e *ParamError) Unwrap() error { return e.Err }

// Settings returns the value of every parameter in a network.
func (s *Scheme) Settings(n Network, over map[string]Override) ([]Setting, error) {
	for name := range over {
		if !slices.ContainsFunc(s.Params, func(p Param) bool { return p.Name == name }) {
			return nil, &ParamError{s.Name, name, fmt.Errorf("there is no such parameter (there are %s)", s.paramNames())}
		}
	}
	var set []Setting
	for _, p := range s.Params {
		v := Setting{Param: p, Value: p.Default, Origin: p.Source}
		if p.Rule != nil {
			v.Value = p.Rule(n)
		}
		if o, ok := over[p.Name]; ok {
			v.Value, v.Origin = o.Value, o.Source
		}
		set = append(set, v)
	}
	return set, nil
}

func (s *Scheme) paramNames() string {
	var names []string
	for _, p := range s.Params {
		names = append(names, p.Name)
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// Build makes the parts of a scheme for a network. Errors are of type *ParamError.
func (s *Scheme) Build(n Network, over map[string]Override) (Parts, error) {
	set, err := s.Settings(n, over)
	if err != nil {
		return Parts{}, err
	}
	r := &reader{scheme: s.Name, values: map[string]string{}}
	for _, v := range set {
		r.values[v.Name] = v.Value
	}
	parts := s.build(n, r)
	return parts, r.err
}

// reader turns the text of parameters into values and keeps the first error.
type reader struct {
	scheme string
	values map[string]string
	err    error
}

// check keeps an error of a mechanism's validation.
func (r *reader) check(err error) {
	if err != nil && r.err == nil {
		r.err = &ParamError{Scheme: r.scheme, Err: err}
	}
}

func read[T any](r *reader, name string, parse func(string) (T, error)) T {
	v, err := parse(r.values[name])
	if err != nil && r.err == nil {
		r.err = &ParamError{r.scheme, name, err}
	}
	return v
}

func (r *reader) time(name string) units.Time { return read(r, name, units.ParseTime) }
func (r *reader) rate(name string) units.Rate { return read(r, name, units.ParseRate) }
func (r *reader) size(name string) units.Size { return read(r, name, units.ParseSize) }

// fraction reads "0.5", "1/128" or "60%".
func (r *reader) fraction(name string) float64 { return read(r, name, units.ParseNumber) }

// positive is a fraction above 0.
func (r *reader) positive(name string) float64 {
	v := r.fraction(name)
	if !(v > 0) && r.err == nil {
		r.err = &ParamError{r.scheme, name, fmt.Errorf("%q must be above 0", r.values[name])}
	}
	return v
}

// flag reads "yes" or "no".
func (r *reader) flag(name string) bool {
	return read(r, name, func(s string) (bool, error) {
		if s != "yes" && s != "no" {
			return false, fmt.Errorf("%q is neither yes nor no", s)
		}
		return s == "yes", nil
	})
}

func (r *reader) int(name string) int {
	return read(r, name, func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		return n, plain(err, s)
	})
}

func plain(err error, s string) error {
	if err != nil {
		return fmt.Errorf("%q is not a number", s)
	}
	return nil
}
