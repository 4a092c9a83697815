package experiment

import (
	"math"
	"math/rand/v2"
	"slices"

	"photon/lab/topology"
	"photon/units"
)

// Flow is a flow before it is sent. There is one for each that starts in a run:
// it is small.
type Flow struct {
	*FlowKind
	From       int // nodes
	To         int
	Size       units.Size // 0: until it is stopped
	Start      units.Time
	Stop       units.Time // 0: at its end
	DSCP       uint8
	AddWhenDue bool   // its sender need not know of it before it begins
	Step       uint16 // of a group or a collective that is repeated: 0 is the first time
	Shared     uint32 // whose messages they are; 0: of none

	Wait *Wait // it begins when that is over, at its sender; Start is units.Never until then. nil: it does not wait
}

// maxRepeat is how often a group of flows or a collective can come.
const maxRepeat = math.MaxUint16

// FlowKind is what the flows of a group or a workload have in common.
type FlowKind struct {
	Group  string
	Rate   units.Rate // 0: no limit
	Begin  units.Rate // 0: line rate
	Weight float64
	Cap    units.Rate

	exact bool // when they start is drawn already
	lasts bool // they stop so long after their start
}

// Sends lists all flows of a run.
func (e *Experiment) Sends(p *topology.Plan, seed uint64) (*FlowList, error) {
	var list []Flow
	var err error
	groups, own, nics := map[string]*members{}, make([]span, len(e.Flows)), NICs{Plan: p}
	for i := range e.Flows {
		g, first := &e.Flows[i], len(list)
		if list, err = e.group(p, g, rand.New(rand.NewPCG(seed, uint64(i))), &nics, list); err != nil {
			return nil, err
		}
		list = g.again(list, first)
		own[i] = span{first, len(list)}
		join(groups, g.label(), own[i])
	}
	if e.checked { // else it is not of an experiment, and there are no links
		if err := e.checkWays(p, listed(p, list)); err != nil {
			return nil, err // phases go by round trips
		}
		e.phases(p, seed, list)
	}
	if len(e.Listed) > 0 {
		kind, all := &FlowKind{Group: ListedGroup, Weight: 1}, p.Hosts()
		list = slices.Grow(list, len(e.Listed))
		for _, l := range e.Listed {
			from, to := nics.Next(all[l.From], all[l.To])
			list = append(list, Flow{FlowKind: kind, From: from, To: to, Size: l.Size, Start: l.Start, DSCP: l.DSCP, AddWhenDue: true})
		}
	}
	all := &FlowList{}
	for i := range e.Workloads {
		w := &e.Workloads[i]
		drawn, err := e.arrivals(p, i, seed<<8^uint64(i), &nics)
		switch {
		case err != nil:
			return nil, err
		case drawn == nil:
			join(groups, w.Name.V, span{len(list), len(list)})
		case e.Waiting() || p.Several(): // others are to wait for single ones; NICs take turns
			before := len(list)
			list = drawn.list(list)
			join(groups, w.Name.V, span{before, len(list)})
		default:
			all.add(flowPart{made: list})
			all.add(flowPart{drawn: drawn})
			list = nil
		}
	}
	if list, err = e.depend(p, seed, list, groups, own); err != nil {
		return nil, err
	}
	if p.Several() {
		startAtNICs(list)
	}
	all.add(flowPart{made: list})
	return all, all.survey(p)
}

// listed is a list of flows that are there.
func listed(p *topology.Plan, list []Flow) *FlowList {
	l := &FlowList{parts: []flowPart{{made: list}}}
	_ = l.survey(p) // nothing is drawn
	return l
}

// phases moves flows that start at a time that an experiment gives by what nobody
// controls: no two hosts do something at one instant.
func (e *Experiment) phases(p *topology.Plan, seed uint64, list []Flow) {
	most := e.StartPhase(p, list)
	if most <= 0 {
		return
	}
	random := rand.New(rand.NewPCG(seed, 1<<41))
	for i := range list {
		if f := &list[i]; !f.exact && f.Start != units.Never {
			phase := units.Time(random.Int64N(int64(most)))
			if f.Start += phase; f.Stop > 0 && f.lasts {
				f.Stop += phase
			}
		}
	}
}

// StartPhase is how much later than it says a flow starts at most: a round-trip time, if
// the experiment says nothing else.
func (e *Experiment) StartPhase(p *topology.Plan, list []Flow) units.Time {
	if s := e.Parameters.StartPhase.Value; s.IsSet() {
		return s.V
	}
	return e.Known(p, listed(p, list), 0).RTT
}

// ListedGroup is the group of all listed flows.
const ListedGroup = "listed"

// DependentGroup is the group of all that Dependent lists.
const DependentGroup = "trace"
