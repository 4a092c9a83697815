package rebase

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"photon/agent"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
)

// spans are the fields of type units.Time that are no instants; a star stands for all of a type.
var spans = []string{
	// What is configured.
	"agent.Config.*", "agent.NICConfig.*", "agent.delayed.npDelay", "agent.delayed.pauseDelay", "agent.recovery.timeout",
	"fabric.Link.*", "dataplane.SwitchConfig.*", "dataplane.Paths.Gap", "agent.Selective.LowTimeout", "agent.scoreboard.lowTimeout", "agent.Entropy.Gap", "dataplane.bucket.depth", "dataplane.bucket.frame", "pfc.WatchdogConfig.*", "pfc.Ingress.interval",
	"marking.AFQCNParams.*", "marking.PACCParams.*", "marking.TCD.interval",
	"cnp.DCQCNParams.*", "cnp.DCQCNPlusParams.*", "cnp.PCNParams.*", // Clock is moved in its own way
	"ratelimit.DCQCNParams.*", "ratelimit.DCQCNPlusParams.*", "ratelimit.HPCCParams.*", "ratelimit.IBCCParams.*", "ratelimit.MlxParams.*", "ratelimit.PowerTCPParams.*", "ratelimit.QCNParams.*", "ratelimit.SwiftParams.*", "ratelimit.TimelyParams.*",
	// What is measured and counted.
	"agent.punctual.late", "agent.punctual.takes", "agent.sending.gap", "fabric.Exit.PerByte", "fabric.NICStats.Held", "fabric.Stats.FCTSum",
	"pfc.EgressCounters.Paused", "pfc.IngressCounters.Paused", "pfc.WatchdogCounters.Time", "credits.Counters.Waited",
	"ratelimit.Ack.RTT", "ratelimit.DCQCNPlus.tau", "ratelimit.Pacer[agent.sending].lateness", "ratelimit.Pacer[struct {}].lateness",
	"ratelimit.Swift.rtt", "ratelimit.Timely.prev",
	// How far the clock was set back.
	"agent.NIC.laps", "agent.seldom.laps", "dataplane.era.*",
	// Of clocks that wrap, and are not this one.
	"wire.INTHop.Time",
	// Instants that are never read: flows of congestion points do not age.
	"flowtable.place[marking.paccKey].lastSeen", "flowtable.place[uint32].lastSeen",
}

// found is every units.Time that can be reached, by the field that it is in.
type found map[string][]*units.Time

var timeType = reflect.TypeFor[units.Time]()

// walk finds them, in what lies at v.
type walk struct {
	found
	visited map[visitKey]bool
	may     map[reflect.Type]bool
}

type visitKey struct {
	at unsafe.Pointer
	of reflect.Type
}

// holds reports whether something of a type may lead to a units.Time.
func (w *walk) holds(t reflect.Type) bool {
	if may, known := w.may[t]; known {
		return may
	}
	w.may[t] = false // of a type that leads to itself
	may := t == timeType
	switch t.Kind() {
	case reflect.Interface:
		may = true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		may = w.holds(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			may = w.holds(t.Field(i).Type) || may
		}
	}
	w.may[t] = may
	return may
}

func (w *walk) visit(field string, v reflect.Value) {
	if !w.holds(v.Type()) {
		return
	}
	if v.Type() == timeType {
		at := (*units.Time)(v.Addr().UnsafePointer())
		if k := (visitKey{unsafe.Pointer(at), timeType}); !w.visited[k] {
			w.visited[k] = true
			w.found[field] = append(w.found[field], at)
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		k := visitKey{v.UnsafePointer(), v.Type()}
		if !v.IsNil() && !w.visited[k] {
			w.visited[k] = true
			w.visit(field, v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			inside := v.Elem()
			if inside.Kind() != reflect.Pointer { // a copy: it cannot be moved
				c := reflect.New(inside.Type()).Elem()
				c.Set(reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem().Elem())
				inside = c
			}
			w.visit(field, inside)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.visit(field, v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			c := reflect.New(v.Type().Elem())
			if v.Type().Elem().Kind() == reflect.Pointer {
				c = reflect.NewAt(v.Type().Elem().Elem(), v.MapIndex(k).UnsafePointer())
			}
			w.visit(field, c.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := strings.ReplaceAll(v.Type().String(), "photon/", "") + "." + v.Type().Field(i).Name
			w.visit(name, v.Field(i))
		}
	}
}

// Every instant that a node keeps is moved when the clock is set back, and nothing else is: who adds a field of type
// units.Time has its node move it (Rebase), or names it among the spans.
func TestNoInstantIsForgotten(t *testing.T) {
	moved, kept := map[string]bool{}, map[string]bool{}
	for _, name := range scheme.Names() {
		for _, nics := range []bool{false, true} {
			s := newStar(t, units.Lap+units.Second, name, nics, pfc.Alert)
			for i, h := range s.hosts { // what hosts make when they first send
				for qp := range uint32(3) {
					spec := agent.FlowSpec{Peer: ip((i+1)%leaves + 1), PeerMAC: mac((i+1)%leaves + 1), QP: 1 + qp, Size: units.KB, Start: s.now, Shared: qp % 2}
					if _, err := h.AddFlow(s.now, spec); err != nil {
						t.Fatal(err)
					}
				}
			}
			for i, app := range s.apps {
				s.says(app, datagram(i, (i+1)%leaves, 4791, 1000))
			}
			s.run(s.now + 5*ms)
			for i, h := range s.hosts { // and flows that run
				h.AddFlow(s.now, agent.FlowSpec{Peer: ip((i+1)%leaves + 1), PeerMAC: mac((i+1)%leaves + 1), QP: 9, Start: s.now})
			}
			s.run(s.now + 20*us)
			w := walk{found: found{}, visited: map[visitKey]bool{}, may: map[reflect.Type]bool{}}
			for _, n := range s.nodes {
				w.visit("", reflect.ValueOf(n))
			}
			for _, e := range s.envs {
				w.visit("", reflect.ValueOf(e))
			}
			const marked = units.Lap + 12345*us
			for _, all := range w.found {
				for _, at := range all {
					*at = marked
				}
			}
			s.setBack()
			for field, all := range w.found {
				for _, at := range all {
					switch *at {
					case marked - units.Lap:
						moved[field] = true
					default:
						kept[field] = true
					}
				}
			}
		}
	}
	for _, field := range slices.Sorted(maps.Keys(moved)) {
		if kept[field] && field != "agent.sending.base" { // beside the timers of tenants there is one that is none's
			t.Errorf("%s is moved here and not there", field)
		}
		if isSpan(field) {
			t.Errorf("%s is moved, and named among the spans", field)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(kept)) {
		if !isSpan(field) && !moved[field] {
			t.Errorf("%s is neither moved when the clock is set back nor named among the spans", field)
		}
	}
	for _, span := range spans {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(kept)), func(field string) bool { return covers(span, field) }) {
			t.Errorf("%s is named among the spans, and nothing keeps it", span)
		}
	}
}

func covers(span, field string) bool {
	all, whole := strings.CutSuffix(span, "*")
	return field == span || whole && strings.HasPrefix(field, all)
}

func isSpan(field string) bool {
	return slices.ContainsFunc(spans, func(s string) bool { return covers(s, field) })
}
