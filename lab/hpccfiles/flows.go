package hpccfiles

import "photon/units"

// Flow is a line of flow.txt.
type Flow struct {
	From, To int
	Group    int // priority group
	Port     int // destination port
	Size     units.Size
	Start    units.Time
	Line     int
}

// ReadFlows reads the number of flows, and for each a line `src dst pg dport bytes
// start_s`, in the order of their starts, between hosts of a topology.
func ReadFlows(file string, b []byte, t *Topology) ([]Flow, error) {
	w := newWords(file, b)
	n := w.count("the number of flows", 1, 1<<23)
	var flows []Flow
	parts := t.parts()
	for i := int64(0); i < n && w.err == nil; i++ {
		var f Flow
		f.From = w.host("a flow's sender", t)
		f.Line = w.line
		f.To = w.host("a flow's receiver", t)
		f.Group = int(w.count("a flow's priority group", 0, 7))
		f.Port = int(w.count("a flow's destination port", 0, 65535))
		f.Size = units.Size(w.count("a flow's size", 1, 1<<40))
		text := w.next("a flow's start")
		var err error
		if f.Start, err = parseSeconds(text); err != nil {
			w.fail("a flow's start %v", err)
		}
		switch {
		case f.From == f.To:
			w.fail("a flow from host %d to itself", f.From)
		case !parts.joined(f.From, f.To):
			w.fail("nothing in %s leads from host %d to host %d", t.File, f.From, f.To)
		case len(flows) > 0 && f.Start < flows[len(flows)-1].Start:
			w.fail("the flow starts before the one above it: they must be in the order of their starts")
		}
		flows = append(flows, f)
	}
	w.end("the last flow that line 1 announces")
	if w.err != nil {
		return nil, w.err
	}
	return flows, nil
}

// host reads the number of a host.
func (w *words) host(what string, t *Topology) int {
	id := w.count(what, 0, int64(len(t.Switch)-1))
	if w.err == nil && t.Switch[id] {
		w.fail("%s, node %d, is a switch", what, id)
	}
	return int(id)
}
