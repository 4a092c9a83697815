package experiment

import (
	"fmt"
	"reflect"
	"strings"

	"photon/config"
)

// Setting is a parameter that has a value, and where that comes from.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// shown is a value as it is written, and where it comes from; false: there is none.
func (s Sourced[T]) shown() (value, source string, ok bool) {
	text := strings.Trim(fmt.Sprint(s.Value.V), "[]")
	if text == "" && s.Value.IsSet() { // an empty list
		text = "none"
	}
	return text, s.Source, s.Value.IsSet()
}

// Settings are the parameters that have a value, in the order of the file.
func (p *Parameters) Settings() (list []Setting) {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		x, isSourced := v.Field(i).Interface().(interface{ shown() (string, string, bool) })
		if !isSourced {
			continue
		}
		if value, source, ok := x.shown(); ok {
			list = append(list, Setting{v.Type().Field(i).Tag.Get("yaml"), value, source})
		}
	}
	return list
}

// Laid is a topology as a result tells of it.
type Laid struct {
	Kind     string         `json:"kind"`
	Sizes    map[string]int `json:"sizes,omitempty"`
	Grouped  bool           `json:"grouped,omitempty"`
	Hosts    int            `json:"hosts"`
	Switches int            `json:"switches"`
	Links    []string       `json:"links,omitempty"` // of a free one
	Fail     []string       `json:"fail,omitempty"`
}

// Laid is what the experiment's topology is.
func (e *Experiment) Laid() (l Laid) {
	t := reflect.ValueOf(e.Topology)
	l.Kind, l.Grouped, l.Sizes = e.Topology.Kind.V, e.Topology.Grouped, map[string]int{}
	for i := range t.NumField() {
		if n, ok := t.Field(i).Interface().(config.Value[int]); ok && n.IsSet() {
			l.Sizes[t.Type().Field(i).Tag.Get("yaml")] = n.V
		}
	}
	plan, err := e.Plan()
	if err != nil {
		return l
	}
	l.Hosts = len(plan.Hosts())
	l.Switches = len(plan.Nodes) - len(plan.Endpoints())
	if l.Kind == "free" {
		for _, c := range plan.Cables {
			l.Links = append(l.Links, fmt.Sprintf("%s-%s %v %v", plan.Nodes[c.A].Name, plan.Nodes[c.B].Name, c.Link.Rate, c.Link.Delay))
		}
	}
	for _, f := range e.Topology.FailLinks {
		l.Fail = append(l.Fail, f.A.V+"-"+f.B.V)
	}
	return l
}
