package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"photon/dataplane"
	"photon/marking"
	"photon/pfc"
	"photon/units"
)

// Queue is what the egress queues of a priority have of their own.
type Queue struct {
	WRED   WRED              `yaml:"wred"`
	Alpha  Value[float64]    `yaml:"alpha"`  // in place of lossy_alpha; 0: no such limit
	Min    Value[units.Size] `yaml:"min"`    // of the buffer, set aside for the lossy frames of each queue; 0B
	Shaper Shaper            `yaml:"shaper"` // none
}

// WRED is random early detection for lossy frames: none, unless kmin and kmax are there.
type WRED struct {
	Kmin Value[units.Size] `yaml:"kmin"` // up to so much in the queue nothing is marked or dropped
	Kmax Value[units.Size] `yaml:"kmax"` // beyond so much everything is; 0B alone, at a port: none there
	Pmax Value[float64]    `yaml:"pmax"` // probability just below kmax, 0 to 1; 0.1
	ECN  Value[bool]       `yaml:"ecn"`  // false: ECN-capable frames are dropped as others are, not marked; true
	Drop Value[bool]       `yaml:"drop"` // false: frames that are not ECN-capable are left to the queue's limit; true
}

// usualPmax is max_p of RED (Floyd and Jacobson, Trans. Networking 1993, section 4, and their later recommendation).
const usualPmax = 0.1

// or is what w says, and where it says nothing, what another does.
func (w WRED) or(other WRED) WRED {
	pick(&w.Kmin, other.Kmin)
	pick(&w.Kmax, other.Kmax)
	pick(&w.Pmax, other.Pmax)
	pick(&w.ECN, other.ECN)
	pick(&w.Drop, other.Drop)
	return w
}

func pick[T any](v *Value[T], other Value[T]) {
	if !v.IsSet() {
		*v = other
	}
}

// none reports whether a port says that it has none: kmax of 0 alone.
func (w WRED) none() bool { return w.Kmax.IsSet() && w.Kmax.V == 0 && w == WRED{Kmax: w.Kmax} }

// params are what a queue goes by that drops beyond a limit.
func (w WRED) params(limit units.Size) (p marking.WREDParams, err error) {
	wrong := func(format string, args ...any) error {
		return &Error{Line: w.line(), Err: fmt.Errorf("wred: "+format, args...)}
	}
	switch {
	case w == WRED{}:
		return p, nil
	case !w.Kmin.IsSet() || !w.Kmax.IsSet():
		return p, wrong("kmin and kmax belong here, both")
	case w.Kmin.V >= limit:
		return p, wrong("kmin %v is no less than %v, beyond which the queue takes nothing: it would do nothing", w.Kmin.V, limit)
	}
	p.Kmin, p.Kmax, p.Pmax = w.Kmin.V, w.Kmax.V, w.Pmax.Or(usualPmax)
	p.NoECN, p.NoDrop = !w.ECN.Or(true), !w.Drop.Or(true)
	if err := p.Validate(); err != nil {
		key, _, _ := strings.Cut(err.Error(), " ")
		line := map[string]int{"kmin": w.Kmin.Line, "kmax": w.Kmax.Line, "pmax": w.Pmax.Line, "ecn": w.ECN.Line}[key]
		return p, &Error{Line: line, Err: fmt.Errorf("wred: %w", err)}
	}
	return p, nil
}

// or is what q says, and where it says nothing, what another does.
func (q Queue) or(other Queue) Queue {
	pick(&q.Alpha, other.Alpha)
	pick(&q.Min, other.Min)
	q.WRED, q.Shaper = q.WRED.or(other.WRED), q.Shaper.or(other.Shaper)
	return q
}

// queues are those of a port, where some priorities are lossless and frames take at most so many bytes on the wire.
func (c *Switch) queues(p Port, lossless uint8, longest units.Size) (all [pfc.Classes]dataplane.QueueConfig, err error) {
	for _, named := range []map[int]Queue{c.Queues, p.Queues} {
		for prio, q := range named {
			if prio < 0 || prio >= pfc.Classes {
				return all, &Error{Line: q.line(), Err: fmt.Errorf("queues: priority %d: there are 0 to 7", prio)}
			}
		}
	}
	for prio := range all {
		q := p.Queues[prio].or(c.Queues[prio])
		if p.Queues[prio].WRED.none() {
			q.WRED = WRED{}
		}
		if q.WRED != (WRED{}) && lossless>>prio&1 != 0 {
			return all, &Error{Line: q.WRED.line(), Err: fmt.Errorf("queues: priority %d is lossless, and marked as `scheme:` says: wred is for lossy ones", prio)}
		}
		if line := cmp.Or(q.Alpha.Line, q.Min.Line); line != 0 && lossless>>prio&1 != 0 {
			return all, &Error{Line: line, Err: fmt.Errorf("queues: priority %d is lossless, and goes by `pfc:`: alpha and min are for lossy ones", prio)}
		}
		if all[prio].Alpha, all[prio].Min, err = q.share(); err != nil {
			return all, err
		}
		if all[prio].WRED, err = q.WRED.params(c.LossyQueue.Or(defaultTail)); err != nil {
			return all, err
		}
		if all[prio].Shaper, err = q.Shaper.params(longest); err != nil {
			return all, err
		}
	}
	return all, nil
}

// share is what a queue has of the buffer.
func (q Queue) share() (alpha float64, least units.Size, err error) {
	switch {
	case !(q.Alpha.V >= 0 && q.Alpha.V <= mostAlpha):
		return 0, 0, fail(q.Alpha, "queues: alpha %v must be from 0 to %v", q.Alpha.V, mostAlpha)
	case q.Min.V < 0:
		return 0, 0, fail(q.Min, "queues: min %v must not be negative", q.Min.V)
	case q.Alpha.IsSet() && q.Alpha.V == 0:
		return dataplane.NoAlpha, q.Min.V, nil
	}
	return q.Alpha.V, q.Min.V, nil
}

// minLine is where the file sets something aside for queues.
func (c *Switch) minLine() (line int) {
	for _, q := range c.Queues {
		line = max(line, q.Min.Line)
	}
	for _, p := range c.Ports {
		for _, q := range p.Queues {
			line = max(line, q.Min.Line)
		}
	}
	return line
}

// line is where something of it stands.
func (q Queue) line() int { return cmp.Or(q.WRED.line(), q.Alpha.Line, q.Min.Line, q.Shaper.line()) }

func (w WRED) line() int {
	return cmp.Or(w.Kmin.Line, w.Kmax.Line, w.Pmax.Line, w.ECN.Line, w.Drop.Line)
}

// describeQueues says what queues have of their own, once for all ports with the same.
func describeQueues(s *dataplane.SwitchConfig) (lines []string) {
	for prio := range pfc.Classes {
		ports := map[string][]string{}
		var order []string
		for i, p := range s.Ports {
			what := describeQueue(p.Queues[prio])
			if p.Vacant || what == "" {
				continue
			}
			if ports[what] == nil {
				order = append(order, what)
			}
			ports[what] = append(ports[what], fmt.Sprint(i))
		}
		for _, what := range order {
			at := "queue"
			if there := slices.DeleteFunc(slices.Clone(s.Ports), func(p dataplane.PortConfig) bool { return p.Vacant }); len(ports[what]) < len(there) {
				at = "ports " + strings.Join(ports[what], ", ") + ", queue"
			}
			lines = append(lines, fmt.Sprintf("%s %d: %s", at, prio, what))
		}
	}
	return lines
}

// describeQueue is what a queue has of its own; empty: nothing.
func describeQueue(q dataplane.QueueConfig) string {
	var parts []string
	if w := q.WRED; w != (marking.WREDParams{}) {
		text := fmt.Sprintf("wred from %v to %v, at most %v", w.Kmin, w.Kmax, w.Pmax)
		switch {
		case w.NoECN:
			text += ", drops ECN-capable frames, too"
		case w.NoDrop:
			text += ", marks ECN-capable frames and drops none"
		default:
			text += ", marks ECN-capable frames and drops others"
		}
		parts = append(parts, text)
	}
	switch {
	case q.Alpha > 0:
		parts = append(parts, fmt.Sprintf("up to %v of what is free of the shared buffer", q.Alpha))
	case q.Alpha == dataplane.NoAlpha:
		parts = append(parts, "no limit by what is free of the shared buffer")
	}
	if q.Min > 0 {
		parts = append(parts, fmt.Sprintf("%v set aside", q.Min))
	}
	if q.Shaper.Rate > 0 {
		parts = append(parts, describeShaper(q.Shaper))
	}
	return strings.Join(parts, "; ")
}
