package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"photon/units"
)

// Change is a key whose value differs between two configurations.
type Change struct {
	Key  string `json:"key"`  // as in pfc.xoff or ports[1].device
	From string `json:"from"` // empty: it was not set
	To   string `json:"to"`
	line int
}

func (c Change) String() string {
	unset := func(s string) string { return cmp.Or(s, "(default)") }
	return fmt.Sprintf("%s: %s -> %s", c.Key, unset(c.From), unset(c.To))
}

// reloadable are the keys that can change in a running switch, with all keys below
// them. Others cannot change.
var reloadable = []string{
	"scheme", "pfc.xoff", "pfc.xon", "pfc.headroom", "pfc.headroom_pool", "pfc.over_subscribe_ratio", "pfc.response", "pfc.mac_phy_delay", "pfc.alpha", "pfc.pause", "pfc.watchdog", "pfc.deadlock", "buffer", "lossy_queue", "lossy_alpha", "lossy_ingress", "ports.lossy_ingress", "weights", "queues", "ports.queues", "ports.shaper", "trust", "default_priority", "priority_to_pcp", "pfc.priorities", "ports.lossless", "ports.asymmetric_pfc", "ports.pause",
	"ports.mtu", "ports.trust", "ports.dscp_to_priority", "ports.pcp_to_priority", "ports.default_priority", "ports.priority_to_pcp",
	"dscp_to_priority", "pcp_to_priority", "forwarding.learn", "forwarding.age", "forwarding.static",
	"forwarding.flood", "forwarding.broadcast", "forwarding.multicast",
	"lldp", "sflow", "vlans", "router", "routes", "storm_control", "ports.storm_control", "ports.accept", "ports.addresses", "ports.shutdown", "ports.cable_delay", "ports.cable_length", "ports.impair",
}

// usual are the values of keys that cannot change, where a file leaves them out: who writes one down changes nothing.
var usual = map[string]string{
	"name": defaultName, "mtu": strconv.Itoa(defaultMTU), "forwarding.size": strconv.Itoa(defaultAddresses),
	"history.pauses": strconv.Itoa(defaultPauses), "history.events": strconv.Itoa(defaultEvents),
	"metrics": defaultMetrics, "live.listen": "off", "live.remote": "false", "pprof": "off",
	"ports.delay": units.Time(0).String(), "series.priorities": "[0 1 2 3 4 5 6 7]",
	"dpdk.workers": "1", "dpdk.hugepages": "false", "dpdk.garbage": defaultGarbage.String(),
}

// Changes returns what another configuration changes in this one, in the order
// of the file's keys, or an error that names what cannot change while a switch runs.
func (c *Switch) Changes(to *Switch) ([]Change, error) {
	var all []Change
	a, b := *c, *to
	a.Ports, b.Ports = nil, nil
	c.differInPorts(&all, to)
	differ(&all, "", reflect.ValueOf(a), reflect.ValueOf(b))
	all = slices.DeleteFunc(all, func(x Change) bool {
		without := usual[ofAnyPort(x.Key)]
		return cmp.Or(x.From, without) == cmp.Or(x.To, without)
	})
	var fixed []string
	line := 0
	for i := range all {
		key := ofAnyPort(all[i].Key)
		if key == "ports" || key == "ports." { // they come and go
			continue
		}
		if !slices.ContainsFunc(reloadable, func(r string) bool { return key == r || strings.HasPrefix(key, r+".") }) {
			fixed = append(fixed, all[i].String())
			line = cmp.Or(line, all[i].line)
		}
	}
	if fixed != nil {
		return nil, &Error{File: to.file, Line: line, Err: fmt.Errorf("this cannot change while photon runs (restart it, or take it back): %s", strings.Join(fixed, ", "))}
	}
	return all, nil
}

// ofAnyPort is a key without the number of its port: ports.mtu of ports[1].mtu.
func ofAnyPort(key string) string {
	key = strings.NewReplacer("[", ".", "]", "").Replace(key)
	if rest, ok := strings.CutPrefix(key, "ports."); ok {
		_, rest, _ = strings.Cut(rest, ".")
		return "ports." + rest
	}
	return key
}

// differInPorts appends what differs in ports, which are the same if their devices are.
func (c *Switch) differInPorts(all *[]Change, to *Switch) {
	was := map[string]int{}
	for i := range c.Ports {
		was[c.Ports[i].Device.V] = i
	}
	for i := range to.Ports {
		device := to.Ports[i].Device
		old, ok := was[device.V]
		if !ok {
			*all = append(*all, Change{Key: fmt.Sprintf("ports[%d]", i), From: "none", To: device.V, line: device.Line})
			continue
		}
		delete(was, device.V)
		differ(all, fmt.Sprintf("ports[%d]", i), reflect.ValueOf(c.Ports[old]), reflect.ValueOf(to.Ports[i]))
	}
	for i := range c.Ports {
		if _, gone := was[c.Ports[i].Device.V]; gone {
			*all = append(*all, Change{Key: fmt.Sprintf("ports[%d]", i), From: c.Ports[i].Device.V, To: "none"})
		}
	}
	if from, then := c.order(to); from != then {
		*all = append(*all, Change{Key: "ports", From: from, To: then})
	}
}

// SchemeChanged reports whether the scheme or one of its parameters is among changes.
func SchemeChanged(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return strings.HasPrefix(c.Key, "scheme.") })
}

// setting is what Values have in common.
type setting interface {
	text() string // empty: not set
	line() int
}

func (v Value[T]) text() string {
	if !v.set {
		return ""
	}
	return fmt.Sprint(v.V)
}

func (v Value[T]) line() int { return v.Line }

// differ appends the keys below path in which two values differ.
func differ(all *[]Change, path string, a, b reflect.Value) {
	if v, ok := a.Interface().(setting); ok {
		if w := b.Interface().(setting); v.text() != w.text() {
			*all = append(*all, Change{Key: path, From: v.text(), To: w.text(), line: w.line()})
		}
		return
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if name := a.Type().Field(i).Tag.Get("yaml"); name != "" && name != "-" {
				differ(all, strings.TrimPrefix(path+"."+name, "."), a.Field(i), b.Field(i))
			}
		}
	case reflect.Pointer:
		if a.IsNil() && b.IsNil() {
			return
		}
		if a.IsNil() != b.IsNil() { // there is more to it than its keys
			there := func(v reflect.Value) string { return map[bool]string{true: "none", false: "there"}[v.IsNil()] }
			*all = append(*all, Change{Key: path, From: there(a), To: there(b)})
		}
		of := func(v reflect.Value) reflect.Value {
			if v.IsNil() {
				return reflect.Zero(v.Type().Elem())
			}
			return v.Elem()
		}
		differ(all, path, of(a), of(b))
	case reflect.Slice:
		if a.Len() != b.Len() || a.IsNil() != b.IsNil() { // an empty list is none, and one that is left out may be the default
			*all = append(*all, Change{Key: path, From: listed(a), To: listed(b), line: lineOf(b)})
			return
		}
		for i := range a.Len() {
			differ(all, fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))
		}
	case reflect.Map:
		differMaps(all, path, a, b)
	default:
		if from, to := fmt.Sprint(a), fmt.Sprint(b); from != to {
			*all = append(*all, Change{Key: path, From: from, To: to})
		}
	}
}

// listed is a list of values, or how many things are in a list of others.
func listed(list reflect.Value) string {
	if _, ok := reflect.Zero(list.Type().Elem()).Interface().(setting); !ok {
		return fmt.Sprint(list.Len())
	}
	if list.IsNil() {
		return ""
	}
	var all []string
	for i := range list.Len() {
		all = append(all, list.Index(i).Interface().(setting).text())
	}
	return "[" + strings.Join(all, " ") + "]"
}

// lineOf is the line of the first value of a list; 0: it has none.
func lineOf(list reflect.Value) int {
	if list.Len() > 0 {
		if v, ok := list.Index(0).Interface().(setting); ok {
			return v.line()
		}
	}
	return 0
}

func differMaps(all *[]Change, path string, a, b reflect.Value) {
	keys := map[string]reflect.Value{}
	for _, k := range slices.Concat(a.MapKeys(), b.MapKeys()) {
		keys[fmt.Sprint(k)] = k
	}
	var names []string
	for name := range keys {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		of := func(m reflect.Value) reflect.Value {
			if v := m.MapIndex(keys[name]); v.IsValid() {
				return v
			}
			return reflect.Zero(m.Type().Elem())
		}
		differ(all, path+"."+name, of(a), of(b))
	}
}
