package agent_test

import (
	"errors"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"photon/agent"
	"photon/cnp"
	"photon/units"
)

// traffic is a pair whose first host's flows are ordered.
func newTraffic(t *testing.T, mostEnded int, change func(*agent.Config)) (*pair, *agent.Traffic) {
	p := newPair(t, cnp.Silent{}, func(c *agent.Config) {
		c.Receivers = 1000
		if change != nil {
			change(c)
		}
	})
	tr := agent.NewTraffic(p.a, mostEnded)
	p.Every(100*units.Microsecond, tr.Step)
	return p, tr
}

func to2(size units.Size, start units.Time) agent.Order {
	return agent.Order{Group: "g", FlowSpec: agent.FlowSpec{Peer: ip(2), PeerMAC: mac(2), Size: size, Start: start}}
}

// A host with room for four flows sends a hundred, one after the other; each
// begins when it was ordered to, and is accounted for.
func TestOrderedFlowsBeginInTime(t *testing.T) {
	p, tr := newTraffic(t, 1000, nil)
	var orders []agent.Order
	for i := range 100 {
		orders = append(orders, to2(10*units.KB, units.Time(i+1)*50*ms))
	}
	first, err := tr.Add(p.Now(), orders)
	if err != nil || first != 1 {
		t.Fatal(first, err)
	}
	p.run(6 * units.Second)
	list := tr.List(p.Now(), 0, 1000)
	if len(list) != 100 || len(tr.TakeEnded()) != 100 || len(tr.TakeEnded()) != 0 {
		t.Fatalf("%d flows, the last %+v, %d ended since", len(list), list[len(list)-1], len(tr.TakeEnded()))
	}
	for i, o := range list {
		if o.ID != uint64(i+1) || o.Stage != agent.Done || o.FirstBit != orders[i].Start || o.Frames != 10 || o.Bytes != 10*1082 || o.FCT() <= 4*delay || o.Rate(p.Now()) == 0 {
			t.Fatalf("flow %d: %+v", i, o)
		}
	}
	st := p.a.Stats(p.Now())
	sum := uint64(0)
	for _, n := range st.FCTs {
		sum += n
	}
	if sum != 100 || st.FCTSum <= 100*4*delay {
		t.Errorf("histogram %v, sum %v", st.FCTs, st.FCTSum)
	}
	if pending, running, refused, forgotten := tr.Counts(); pending+running != 0 || refused+forgotten != 0 {
		t.Error(tr.Counts())
	}
}

// A flow that is to stop before it starts, or right then, is a mistake.
func TestStopIsAfterStart(t *testing.T) {
	p, tr := newTraffic(t, 1000, nil)
	for _, stop := range []units.Time{ms, 5 * ms} {
		o := to2(0, 5*ms)
		o.Stop = stop
		if err := tr.Check(p.Now(), []agent.Order{o}); err == nil {
			t.Errorf("stop %v of a flow that starts at 5ms", stop)
		}
	}
}

// Flows are stopped by their order or by hand, before they begin or after; what
// has ended cannot be stopped.
func TestOrderedFlowsAreStopped(t *testing.T) {
	p, tr := newTraffic(t, 1000, nil)
	byOrder := to2(0, 0)
	byOrder.Stop = 3 * ms
	if _, err := tr.Add(0, []agent.Order{byOrder, to2(0, 0), to2(0, units.Second), to2(1000, 0)}); err != nil {
		t.Fatal(err)
	}
	p.run(2 * ms)
	for _, id := range []uint64{2, 3, 4} {
		if stopped, err := tr.Stop(p.Now(), id); err != nil || stopped != (id != 4) {
			t.Error(id, stopped, err)
		}
	}
	if _, err := tr.Stop(p.Now(), 5); !errors.Is(err, agent.ErrNoFlow) {
		t.Error(err)
	}
	p.run(2 * units.Second)
	want := []agent.Stage{agent.Stopped, agent.Stopped, agent.Stopped, agent.Done}
	for i, o := range tr.List(p.Now(), 0, 10) {
		if o.Stage != want[i] {
			t.Errorf("flow %d is %v", o.ID, o.Stage)
		}
		if i == 0 && o.End != 3*ms || i == 1 && o.End != 2*ms || i == 2 && o.Frames != 0 {
			t.Errorf("%+v", o)
		}
	}
	if list := tr.List(p.Now(), 3, 10); len(list) != 1 || list[0].ID != 4 {
		t.Errorf("after 3: %+v", list)
	}
}

// All that is being sent is stopped, and nothing that waits or has ended.
func TestRunningFlowsAreStopped(t *testing.T) {
	p, tr := newTraffic(t, 1, nil) // of those that ended one is remembered, or two
	orders := []agent.Order{to2(0, 0), to2(1000, 0), to2(0, units.Second), to2(0, 0), to2(0, 0)}
	if _, err := tr.Add(0, orders); err != nil {
		t.Fatal(err)
	}
	p.run(2 * ms)
	tr.StopRunning(p.Now())
	stages := map[uint64]agent.Stage{}
	for _, o := range tr.TakeEnded() {
		if stages[o.ID] = o.Stage; o.Stage == agent.Stopped && (o.End != 2*ms || o.Frames == 0) {
			t.Errorf("%+v", o)
		}
	}
	want := map[uint64]agent.Stage{1: agent.Stopped, 2: agent.Done, 4: agent.Stopped, 5: agent.Stopped}
	if pending, running, _, _ := tr.Counts(); !maps.Equal(stages, want) || pending != 1 || running != 0 {
		t.Errorf("%v; %d wait, %d are sent", stages, pending, running)
	}
}

// Flows whose start comes while there is no link begin when there is one; what was being sent goes on, and what is
// stopped meanwhile is.
func TestFlowsWaitForTheLink(t *testing.T) {
	p, tr := newTraffic(t, 1000, nil)
	tr.SetLink(0, false)
	late := to2(1000, 0)
	late.Stop = 4 * ms
	if _, err := tr.Add(0, []agent.Order{to2(1000, 0), to2(1000, 7*ms), late, to2(0, 0)}); err != nil {
		t.Fatal(err)
	}
	p.run(5 * ms)
	if _, err := tr.Stop(p.Now(), 4); err != nil {
		t.Error(err)
	}
	if pending, running, _, _ := tr.Counts(); pending != 3 || running != 0 {
		t.Errorf("without a link %d flows wait, %d run", pending, running)
	}
	tr.SetLink(p.Now(), true)
	if _, err := tr.Add(p.Now(), []agent.Order{to2(0, 0)}); err != nil {
		t.Fatal(err)
	}
	p.run(6 * ms)
	tr.SetLink(p.Now(), false)
	p.run(100 * ms)
	want := []struct {
		stage agent.Stage
		first units.Time
	}{{agent.Done, 5 * ms}, {agent.Done, 7 * ms}, {agent.Stopped, 0}, {agent.Stopped, 0}, {agent.Running, 5 * ms}}
	for i, o := range tr.List(p.Now(), 0, 10) {
		if o.Stage != want[i].stage || o.FirstBit < want[i].first || o.FirstBit > want[i].first+2*units.Microsecond {
			t.Errorf("flow %d is %v, its first packet left at %v", o.ID, o.Stage, o.FirstBit)
		}
	}
}

// What the host has no room for is refused, by name and number; what is wrong in
// itself is not ordered at all, nor is what was ordered with it.
func TestOrdersAreRefused(t *testing.T) {
	p, tr := newTraffic(t, 1000, func(c *agent.Config) { c.Senders = 2 })
	first, second := to2(units.GB, 0), to2(units.GB, 30*ms) // it may have ended by then
	first.QP, second.QP = 7, 7
	if _, err := tr.Add(0, []agent.Order{first, second, to2(0, 0), to2(0, 0)}); err != nil {
		t.Fatal(err)
	}
	p.run(31 * ms)
	want := []error{nil, agent.ErrDuplicate, nil, agent.ErrFull}
	for i, o := range tr.List(p.Now(), 0, 10) {
		if !errors.Is(o.Why, want[i]) || (o.Stage == agent.Refused) != (want[i] != nil) {
			t.Errorf("flow %d: %v, %v", o.ID, o.Stage, o.Why)
		}
	}
	if _, _, refused, _ := tr.Counts(); refused != 2 {
		t.Errorf("%d refused", refused)
	}
	if _, err := tr.Add(p.Now(), []agent.Order{to2(1, 0), to2(-1, 0)}); err == nil || len(tr.List(p.Now(), 4, 10)) != 0 {
		t.Error(err)
	}
}

// A flow is refused only if the host has no room, or its queue pair is in use, when it is to start: not because that
// was so when it was looked at, a while before. All others are sent, whole, from their start on.
func TestOrdersAreRefusedAtTheirStart(t *testing.T) {
	const stepEvery = 100 * units.Microsecond
	refusals, sent := map[error]int{}, 0
	rapid.Check(t, func(r *rapid.T) {
		senders := rapid.IntRange(1, 6).Draw(r, "senders")
		p, tr := newTraffic(t, 1000, func(c *agent.Config) { c.Senders, c.AckTimeout = senders, 50*ms })
		pairs := rapid.SampledFrom([]int{3, 12, 1000}).Draw(r, "pairs")
		span := rapid.SampledFrom([]int{1, 30, 300}).Draw(r, "span")
		start := units.Time(0)
		for range rapid.IntRange(40, 100).Draw(r, "flows") {
			start += units.Time(rapid.IntRange(0, span).Draw(r, "after")) * stepEvery / 2
			o := to2(units.Size(rapid.SampledFrom([]int{1, 1000, 3000, 20_000}).Draw(r, "size")), max(start, 1))
			o.QP = uint32(1 + rapid.IntRange(0, pairs-1).Draw(r, "pair"))
			if _, err := tr.Add(0, []agent.Order{o}); err != nil {
				r.Fatal(err)
			}
		}
		p.run(start + units.Second)
		list := tr.List(p.Now(), 0, 1000)
		for i, o := range list {
			busy, taken := 0, 0
			for k, other := range list {
				if k == i || other.Stage == agent.Refused || other.Start > o.Start+stepEvery || other.End < o.Start {
					continue
				}
				if busy++; other.QP == o.QP {
					taken++
				}
			}
			switch {
			case o.Stage == agent.Refused && errors.Is(o.Why, agent.ErrFull) && busy < senders,
				o.Stage == agent.Refused && errors.Is(o.Why, agent.ErrDuplicate) && taken == 0:
				r.Fatalf("flow %d, at %v, queue pair %d, is refused: %v, with %d flows, %d on its queue pair",
					o.ID, o.Start, o.QP, o.Why, busy, taken)
			case o.Stage == agent.Refused:
				refusals[o.Why]++
			case o.Stage != agent.Done || o.FirstBit < o.Start:
				r.Fatalf("flow %d, at %v: %v, %v, first bit at %v", o.ID, o.Start, o.Stage, o.Why, o.FirstBit)
			default:
				sent++
			}
		}
		if pending, running, refused, _ := tr.Counts(); pending != 0 || running != 0 || refused > uint64(len(list)) {
			r.Fatal(tr.Counts())
		}
	})
	if sent < 1000 || refusals[agent.ErrFull] < 100 || refusals[agent.ErrDuplicate] < 100 {
		t.Errorf("%d flows were sent, refused: %v: too few to say anything", sent, refusals)
	}
}

// A queue pair that is in use, and will be, is refused at once, and so is the host's own address: neither
// could ever work.
func TestOrdersThatCannotWork(t *testing.T) {
	p, tr := newTraffic(t, 1000, nil)
	on := func(qp int, size units.Size, start, stop units.Time) agent.Order {
		o := to2(size, start)
		o.QP, o.Stop = uint32(qp), stop
		return o
	}
	if _, err := tr.Add(0, []agent.Order{on(7, 0, 0, 0), on(8, units.GB, 0, 0), on(9, 0, 0, 10*ms)}); err != nil {
		t.Fatal(err)
	}
	p.run(ms)
	self := to2(1000, 0)
	self.Peer = ip(1)
	for name, c := range map[string]struct {
		orders []agent.Order
		want   error
	}{
		"in use":                                {[]agent.Order{on(7, 1000, 0, 0)}, agent.ErrDuplicate},
		"in use, without end":                   {[]agent.Order{on(7, 1000, units.Second, 0)}, agent.ErrDuplicate},
		"in use, by a flow that ends some time": {[]agent.Order{on(8, 1000, 0, 0)}, agent.ErrDuplicate},
		"in use until then, perhaps":            {[]agent.Order{on(8, 1000, units.Second, 0)}, nil},
		"in use until it is stopped":            {[]agent.Order{on(9, 1000, 9*ms, 0)}, agent.ErrDuplicate},
		"not any more":                          {[]agent.Order{on(9, 1000, 11*ms, 0)}, nil},
		"twice":                                 {[]agent.Order{on(11, 1000, 0, 0), on(11, 1000, 0, 0)}, agent.ErrDuplicate},
		"one after the other, the first without end": {[]agent.Order{on(12, 0, 0, 0), on(12, 1000, ms, 0)}, agent.ErrDuplicate},
		"to itself": {[]agent.Order{self}, agent.ErrSelf},
	} {
		if err := tr.Check(p.Now(), c.orders); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if list := tr.List(p.Now(), 3, 10); len(list) != 0 {
		t.Errorf("%d flows were ordered nevertheless", len(list))
	}
}

// A flow to a host that is not there fails, and its state says why; so does one whose receiver goes away.
func TestFlowsFail(t *testing.T) {
	p, tr := newTraffic(t, 1000, func(c *agent.Config) { c.AckEvery, c.Retries = 32, 2 })
	absent := to2(units.MB, 0)
	absent.Peer = ip(9)
	if _, err := tr.Add(0, []agent.Order{absent, to2(0, 0)}); err != nil {
		t.Fatal(err)
	}
	p.run(10 * ms)
	p.wire.drop = func([]byte) bool { return true }
	p.run(300 * ms)
	for i, o := range tr.List(p.Now(), 0, 10) {
		if o.Stage != agent.Failed || !errors.Is(o.Why, agent.ErrNoAnswer) || o.End == 0 || o.FCT() != 0 {
			t.Errorf("flow %d: %+v", i, o)
		}
	}
	if ended := tr.TakeEnded(); len(ended) != 2 || tr.Failed() != 2 {
		t.Errorf("%d ended, %d failed", len(ended), tr.Failed())
	}
	if st := p.a.Stats(p.Now()); st.FlowsDone != 0 {
		t.Errorf("%d are counted as done", st.FlowsDone)
	}
}

// Memory is bounded: of flows that ended the oldest are forgotten, of those that
// have not none.
func TestEndedFlowsAreForgotten(t *testing.T) {
	p, tr := newTraffic(t, 10, func(c *agent.Config) { c.Senders = 100 })
	if _, err := tr.Add(0, []agent.Order{to2(0, 0)}); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		var orders []agent.Order
		for range 10 {
			orders = append(orders, to2(100, 0))
		}
		if _, err := tr.Add(p.Now(), orders); err != nil {
			t.Fatal(err)
		}
		p.run(p.Now() + 5*ms)
		tr.TakeEnded()
	}
	list := tr.List(p.Now(), 0, 1000)
	_, _, _, forgotten := tr.Counts()
	if len(list) > 21 || list[0].ID != 1 || list[len(list)-1].ID != 101 || int(forgotten)+len(list) != 101 {
		t.Errorf("%d remembered, %d forgotten, first %d", len(list), forgotten, list[0].ID)
	}
	if _, err := tr.Stop(p.Now(), 2); err == nil {
		t.Error("a flow that was forgotten was stopped")
	}
}

// A flow without a queue pair gets one that no other has, also of the same order.
func TestQueuePairOfItsOwn(t *testing.T) {
	p, tr := newTraffic(t, 100, nil)
	named := to2(0, 0)
	named.QP = 1 << 20
	if _, err := tr.Add(0, []agent.Order{named, to2(1000, 0)}); err != nil {
		t.Fatal(err)
	}
	p.run(5 * ms)
	for _, o := range tr.List(p.Now(), 0, 10) {
		if o.Stage == agent.Refused {
			t.Errorf("flow %d on queue pair %d: %v: %v", o.ID, o.QP, o.Stage, o.Why)
		}
	}
}

// Nor is it the host's own number of a pair with that peer, be that ordered, under way or left to answer: the flow
// would be refused at its start.
func TestQueuePairsOfPairsAreNotGiven(t *testing.T) {
	const local = 1 << 20 // the first that is given
	for name, before := range map[string]func(p *pair, tr *agent.Traffic){
		"ordered":   func(*pair, *agent.Traffic) {},
		"under way": func(p *pair, _ *agent.Traffic) { p.run(20 * ms) },
		"answers": func(p *pair, tr *agent.Traffic) {
			p.run(20 * ms)
			if _, err := tr.Stop(p.Now(), 1); err != nil {
				t.Error(err)
			}
		},
	} {
		p, tr := newTraffic(t, 100, func(c *agent.Config) { c.Payload = 1024 })
		pair := to2(0, 10*ms)
		pair.QP, pair.Pair = 5, &agent.Pair{Local: local, Messages: 1}
		if _, err := tr.Add(0, []agent.Order{pair}); err != nil {
			t.Fatal(err)
		}
		before(p, tr)
		if _, err := tr.Add(p.Now(), []agent.Order{to2(1000, 0)}); err != nil {
			t.Fatal(err)
		}
		p.run(p.Now() + 30*ms)
		if f := tr.List(p.Now(), 1, 1)[0]; f.QP == local || f.Stage != agent.Done {
			t.Errorf("%s: %d is given, the flow is %v: %v", name, f.QP, f.Stage, f.Why)
		}
	}
}
