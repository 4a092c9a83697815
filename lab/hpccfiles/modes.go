package hpccfiles

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"photon/config"
	"photon/lab/experiment"
	"photon/scheme"
	"photon/units"
)

// modes are the values of CC_MODE.
var modes = map[int]string{1: "dcqcn-mlx", 3: "hpcc", 7: "timely"}

// foreign are modes that this simulator does not have.
var foreign = map[int]string{8: "DCTCP", 10: "HPCC-PINT"}

// scheme chooses the scheme, and sets it as the files say if it is theirs.
func (p *Prepared) scheme(name string) error {
	c := p.Config
	mode := c.whole("CC_MODE", 1, 0, 1<<20)
	own, known := modes[mode]
	s, isSet := c.get("CC_MODE")
	switch {
	case name == "" && !known:
		what := "it is not one of 1 (DCQCN), 3 (HPCC) and 7 (TIMELY)"
		if f := foreign[mode]; f != "" {
			what = f + " is not supported"
		}
		return c.at(s.line, "CC_MODE %d: %s; --scheme runs another", mode, what)
	case name == "":
		name = own
	case isSet && name != own:
		if !known {
			own = cmp.Or(foreign[mode], "unknown")
		}
		p.note("CC_MODE %d (%s) is overridden: --scheme %s runs", mode, own, name)
	}
	recipe, err := scheme.Get(name)
	if err != nil {
		return err
	}
	p.Use = experiment.SchemeUse{Name: config.Set(name), Params: map[string]experiment.Sourced[string]{}}
	lacks := p.marking(recipe)
	var keys []string
	for _, k := range senderKeys {
		if s, ok := c.get(k); ok && (!known || name != modes[mode]) {
			keys = append(keys, s.key)
		}
	}
	if !known || name != own {
		keys = append(keys, lacks...)
	}
	if known && name == modes[mode] {
		switch mode {
		case 1:
			p.dcqcn()
		case 3:
			p.hpcc()
		case 7:
			p.timely()
		}
	} else if keys != nil {
		p.note("the parameters of %s are its recipe's: not used are %s", name, strings.Join(keys, ", "))
	}
	return nil
}

// senderKeys are about senders; which of them count depends on the mode, there
// as here.
var senderKeys = []string{
	"ALPHA_RESUME_INTERVAL", "RATE_DECREASE_INTERVAL", "CLAMP_TARGET_RATE", "RP_TIMER", "EWMA_GAIN", "FAST_RECOVERY_TIMES", "RATE_AI", "RATE_HAI", "MIN_RATE",
	"U_TARGET", "MI_THRESH", "HAS_WIN", "VAR_WIN", "FAST_REACT", "GLOBAL_T", "MULTI_RATE", "INT_MULTI", "SAMPLE_FEEDBACK", "RATE_BOUND",
	"DCTCP_RATE_AI", "PINT_LOG_BASE", "PINT_PROB",
}

func (p *Prepared) param(name, value, from string) {
	p.Use.Params[name] = sourced(value, from)
}

func text(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// paramRate, paramNumber and paramMicros set a parameter as a key says, if it is there.
func (p *Prepared) paramRate(name, key string) (units.Rate, bool) {
	r, ok := p.Config.rate(key)
	if ok {
		p.param(name, r.String(), key)
	}
	return r, ok
}

func (p *Prepared) paramNumber(name, key string) {
	if v, ok := p.Config.number(key, 0); ok {
		p.param(name, text(v), key)
	}
}

func (p *Prepared) paramMicros(name, key string) {
	if v, ok := p.Config.number(key, 0); ok {
		if v > longest*1e6 {
			p.Config.fail(p.Config.set[key], "it must be at most %d microseconds", int64(longest*1e6))
		}
		p.param(name, (units.Time(v*1e6) * units.Picosecond).String(), key)
	}
}

// wantFlag warns of a switch that cannot be other than it is.
func (p *Prepared) wantFlag(key string, want int, why string) {
	if got := p.Config.whole(key, want, 0, 1); got != want {
		p.warn(p.Config.set[key], "%d is not supported: %s", got, why)
	}
}

func (p *Prepared) noWindow() {
	p.wantFlag("HAS_WIN", 0, "this scheme has no window here")
	p.wantFlag("RATE_BOUND", 1, "senders always keep to their rate")
}

// dcqcn is mode 1.
func (p *Prepared) dcqcn() {
	p.paramNumber("g", "EWMA_GAIN")
	p.paramMicros("alpha_timer", "ALPHA_RESUME_INTERVAL")
	p.paramMicros("cut_timer", "RATE_DECREASE_INTERVAL")
	p.paramMicros("rate_timer", "RP_TIMER")
	p.paramNumber("threshold", "FAST_RECOVERY_TIMES")
	p.paramRate("ai", "RATE_AI")
	p.paramRate("hai", "RATE_HAI")
	p.paramRate("min_rate", "MIN_RATE")
	if p.Config.whole("CLAMP_TARGET_RATE", 0, 0, 1) == 1 {
		p.param("clamp", "yes", "CLAMP_TARGET_RATE")
	}
	p.noWindow()
	p.wantFlag("ENABLE_QCN", 1, "switches mark all the same")
}

// timely is mode 7: one update in a round-trip time, with the constants of that
// simulator's code.
func (p *Prepared) timely() {
	const code = "that simulator's code, mode 7"
	for name, v := range map[string]string{"alpha": "0.875", "beta": "0.8", "min_rtt": "20us", "t_low": "50us", "t_high": "500us", "hai": "5", "per_rtt": "yes"} {
		p.param(name, v, code)
	}
	ai, ok := p.paramRate("ai", "RATE_AI")
	if hai, both := p.Config.rate("RATE_HAI"); ok && both {
		p.param("hai_times", fmt.Sprintf("%d/%d", int64(hai), int64(ai)), "RATE_HAI over RATE_AI")
	}
	p.paramRate("min_rate", "MIN_RATE")
	p.noWindow()
}

// hpcc is mode 3: windows of payload, rates bounded below.
func (p *Prepared) hpcc() {
	c := p.Config
	rtt := units.Time(p.Topology.longestRTT(p.Payload)) * units.Nanosecond
	p.param("base_rtt", rtt.String(), "the longest of the topology, as GLOBAL_T 1 has it")
	p.param("slack", fmt.Sprintf("%d/%d", p.Payload+90, p.Payload), "that simulator's windows are of payload")
	p.paramNumber("eta", "U_TARGET")
	p.paramNumber("max_stage", "MI_THRESH")
	if ai, ok := c.rate("RATE_AI"); ok {
		p.param("w_ai", max(1, ai.Bytes(rtt)).String(), "RATE_AI in the longest round-trip time")
	}
	p.paramRate("min_rate", "MIN_RATE")
	p.wantFlag("HAS_WIN", 1, "hpcc has a window here")
	p.wantFlag("VAR_WIN", 1, "the window follows the rate here")
	p.wantFlag("FAST_REACT", 1, "every acknowledgement moves the rate here")
	p.wantFlag("GLOBAL_T", 1, "the longest round-trip time counts for all flows here")
	p.wantFlag("MULTI_RATE", 0, "one rate stands for all hops here")
	p.wantFlag("SAMPLE_FEEDBACK", 0, "every acknowledgement counts here")
	p.wantFlag("RATE_BOUND", 1, "senders always keep to their rate")
}

// marking sets the thresholds of every port rate of the switches, as far as the scheme has such, and returns the
// keys of those that it has not.
func (p *Prepared) marking(recipe *scheme.Scheme) (lacks []string) {
	c := p.Config
	type threshold struct {
		key, param string
		values     map[units.Rate]float64
		size       bool
	}
	var has []threshold
	for _, m := range []threshold{
		{"KMIN_MAP", "kmin", c.byRate("KMIN_MAP"), true}, {"KMAX_MAP", "kmax", c.byRate("KMAX_MAP"), true},
		{"PMAX_MAP", "pmax", c.byRate("PMAX_MAP"), false},
	} {
		switch {
		case m.values == nil:
		case slices.ContainsFunc(recipe.Params, func(q scheme.Param) bool { return q.Name == m.param }):
			has = append(has, m)
		default:
			lacks = append(lacks, m.key)
		}
	}
	if c.err != nil || has == nil {
		return lacks
	}
	p.Use.ByRate = map[units.Rate]map[string]experiment.Sourced[string]{}
	for _, l := range p.Topology.Links {
		set := map[string]experiment.Sourced[string]{}
		for _, m := range has {
			v, ok := m.values[l.Rate]
			switch {
			case !ok:
				c.fail(c.set[m.key], "it says nothing of links of %v, as in %s:%d", l.Rate, p.Topology.File, l.Line)
			case m.size:
				set[m.param] = sourced(units.Size(v*1000).String(), m.key)
			default:
				set[m.param] = sourced(text(v), m.key)
			}
		}
		p.Use.ByRate[l.Rate] = set
	}
	return lacks
}
