package scheme

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"photon/cnp"
	"photon/internal/suggest"
	"photon/marking"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
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
	Shares  bool   // flows may have weights and caps (Network.Shares)

	// register sets these.
	Params []Param
	recipe func() recipe // a new one, without values
}

// recipe is what a scheme's file has to say: a type that holds the values of all its parameters.
type recipe interface {
	// params are the parameters, each with the variable that its value goes into.
	params() []Param
	// build makes the points from the values, or says what is wrong with them.
	build(Network) (Parts, error)
}

// Network is what a recipe may know of the network that it is built for: parameters
// such as PCN's period follow from it.
type Network struct {
	Line  units.Rate   // of the hosts
	Rates []units.Rate // of links at which there are congestion points, as far as they are known
	RTT   units.Time   // the largest base round-trip time, of propagation alone; 0: unknown
	// Of the path that takes longest; 0: unknown. PathRTT is from when a full packet has left to when its
	// acknowledgement is there: the delays of cables both ways, the packet on every link but the first, which
	// TIMELY's and Swift's round-trip times are without, and the acknowledgement on every link.
	PathRTT units.Time
	Hops    int        // links of it
	Packet  units.Size // of a full data packet on the wire: headers, preamble and gap included, without what a scheme adds

	LongFlows int // that share a bottleneck, where an experiment fixes them; 0: unknown
	Seed      uint64
	Clock     units.Time     // of the host is so much ahead of the world's: no two hosts' clocks need tick together
	Shares    marking.Shares // nil: all flows are entitled to the same
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

// Guesses stand for what is unknown of a network.

func (n Network) baseRTT() units.Time { return cmp.Or(n.RTT, 20*units.Microsecond) }
func (n Network) packet() units.Size  { return cmp.Or(n.Packet, 1100*units.Byte) }
func (n Network) hops() int           { return cmp.Or(n.Hops, 4) }
func (n Network) pathRTT() units.Time {
	return cmp.Or(n.PathRTT, n.baseRTT()+units.Time(n.hops())*n.Line.Serialize(n.packet()))
}

// Parts are what a recipe makes for a network: functions that make the three points,
// and what hosts carry for them.
type Parts struct {
	CP    func(marking.Place) marking.CP     // of one egress queue; a recipe without one marks nothing
	NP    func(flows int) cnp.NP             // of one host; a recipe without one notifies nobody
	RP    func(*ratelimit.Port) ratelimit.RP // of one flow, behind a port; every recipe has one
	Carry cnp.Carry                          // what hosts put into data and acknowledgements; ECT(0) if a recipe says nothing
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

// register enters a scheme with the recipe *T into the list of all.
func register[T any, R interface {
	*T
	recipe
}](s Scheme) {
	s.recipe = func() recipe { return R(new(T)) }
	s.Params = s.recipe().params()
	if err := s.fits(); err != nil {
		panic(err) // of who writes a recipe, at the first start
	}
	all[s.Name] = &s
}

// fits says why a recipe cannot stand in the list of all.
func (s *Scheme) fits() error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789+-_"
	if s.Name == "" || strings.ContainsFunc(s.Name, func(r rune) bool { return !strings.ContainsRune(letters, r) }) {
		return fmt.Errorf(
			"a scheme's name, which is part of flags, files and links, is of a-z, 0-9, +, - and _, not %q", s.Name)
	}
	if all[s.Name] != nil {
		return fmt.Errorf("two schemes are called %q", s.Name)
	}
	seen := map[string]bool{}
	for _, p := range s.Params {
		switch {
		case seen[p.Name]:
			return fmt.Errorf("scheme %s has two parameters %q (with and but change one)", s.Name, p.Name)
		case p.into == nil:
			return fmt.Errorf("scheme %s: parameter %q does not say what its value goes into", s.Name, p.Name)
		case p.Rule == nil:
			if err := p.into(p.Default); err != nil {
				return fmt.Errorf("scheme %s: the default of parameter %q, without a Rule: %w", s.Name, p.Name, err)
			}
		}
		seen[p.Name] = true
	}
	return nil
}

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

// WrongParam is which of the parameters that a file sets an error of Build is about: the one that it is of, or the only
// one that it names ("kmin -1KB must not be negative"). Empty: of none, or it cannot be told.
func WrongParam[V any](err error, set map[string]V) (wrong string) {
	var of *ParamError
	if !errors.As(err, &of) {
		return ""
	}
	if of.Param != "" {
		return of.Param
	}
	between := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	words := strings.FieldsFunc(of.Err.Error(), between)
	for name := range set {
		if slices.Contains(words, name) {
			if wrong != "" {
				return ""
			}
			wrong = name
		}
	}
	return wrong
}

// Settings returns the value of every parameter in a network.
func (s *Scheme) Settings(n Network, over map[string]Override) ([]Setting, error) {
	var names []string
	for _, p := range s.Params {
		names = append(names, p.Name)
	}
	for name := range over {
		if !slices.Contains(names, name) {
			return nil, &ParamError{s.Name, name, fmt.Errorf("there is no such parameter (there are %s)", cmp.Or(strings.Join(names, ", "), "none"))}
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

// Build makes the parts of a scheme for a network. Errors are of type *ParamError; one is of a recipe that panicked.
func (s *Scheme) Build(n Network, over map[string]Override) (parts Parts, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("its recipe panicked: %v (%s)", why, panicked())
			parts, err = Parts{}, &ParamError{Scheme: s.Name, Err: err}
		}
	}()
	if parts, err = s.parts(n, over); err != nil {
		return Parts{}, err
	}
	if parts.RP == nil {
		return Parts{}, &ParamError{Scheme: s.Name, Err: errors.New(
			"its recipe makes no reaction point (Parts.RP; ratelimit.Unlimited is one that does nothing)")}
	}
	if parts.Carry.INT {
		if err := n.checkRates(); err != nil {
			return Parts{}, &ParamError{Scheme: s.Name, Err: err}
		}
	}
	if seen, err := s.parts(n, over); err == nil { // points that are made to be looked at are not those that count
		if err := seen.lacks(n); err != nil {
			return Parts{}, &ParamError{Scheme: s.Name, Err: err}
		}
	}
	if parts.CP == nil {
		parts.CP = func(marking.Place) marking.CP { return marking.None{} }
	}
	if parts.NP == nil {
		parts.NP = func(int) cnp.NP { return cnp.Silent{} }
	}
	parts.Carry.ECT = cmp.Or(parts.Carry.ECT, wire.ECT0)
	return parts, nil
}

// panicked is where the code is that panicked. A deferred function calls it.
func panicked() string {
	at := make([]uintptr, 32)
	frames := runtime.CallersFrames(at[:runtime.Callers(3, at)])
	f, more := frames.Next()
	for more && strings.HasPrefix(f.Function, "runtime.") {
		f, more = frames.Next()
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// parts are what a new recipe makes.
func (s *Scheme) parts(n Network, over map[string]Override) (Parts, error) {
	set, err := s.Settings(n, over)
	if err != nil {
		return Parts{}, err
	}
	recipe := s.recipe()
	for i, p := range recipe.params() {
		if err := p.into(set[i].Value); err != nil {
			return Parts{}, &ParamError{s.Name, p.Name, err}
		}
	}
	parts, err := recipe.build(n)
	if err != nil {
		var of *ParamError
		if !errors.As(err, &of) {
			of = &ParamError{Err: err}
		}
		of.Scheme = s.Name
		return Parts{}, of
	}
	return parts, nil
}

// lacks says which point is none, and what points wait for that no host sends: flows would stop, or go on as if nothing
// were congested.
func (p Parts) lacks(n Network) error {
	rp := p.RP(&ratelimit.Port{})
	switch {
	case rp == nil:
		return errors.New("its Parts.RP makes nil (ratelimit.Unlimited is one that does nothing)")
	case p.NP != nil && p.NP(1) == nil:
		return errors.New("its Parts.NP makes nil (no NP at all is one that sends nothing)")
	case p.Carry.ECT > wire.ECT0:
		return fmt.Errorf("data leaves with ECN codepoint %d (Carry: cnp.Carry{ECT: wire.ECT0}, or ECT1)", p.Carry.ECT)
	}
	_, acker := rp.(ratelimit.Acker)
	_, windower := rp.(ratelimit.Windower)
	switch {
	case p.Carry.Ack:
	case acker || windower:
		return errors.New("its reaction point needs acknowledgements (it has Ack or Window), " +
			"and hosts send none for it (Carry: cnp.Carry{Ack: true})")
	case p.Carry.Stamp || p.Carry.INT:
		return errors.New("data carries clocks or telemetry, which only acknowledgements bring back " +
			"(Carry: cnp.Carry{Ack: true}, besides Stamp or INT)")
	}
	if p.CP == nil || !p.Carry.Ack || p.Carry.INT {
		return nil
	}
	if _, stamps := p.CP(marking.Place{Rate: n.Line}).(marking.Stamper); stamps {
		return errors.New("its congestion point writes telemetry (it has Stamp), for which data has no room " +
			"(Carry: cnp.Carry{INT: true}, besides Ack)")
	}
	return nil
}
