package impair

import (
	"testing"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// taker is a node that takes what comes, and says nothing.
type taker struct {
	env    *fabric.Env
	frames []byte // the last byte of each
	pfc    []pfc.Frame
	moved  units.Time // how far the clock was set back
}

// polled is a taker that its workers poll.
type polled struct {
	fabric.Asked
	by []int
}

func (n *polled) Poll(_ units.Time, worker int) { n.by = append(n.by, worker) }

// A node that its workers poll is polled behind rules, too, and one that is not is left alone.
func TestNodesArePolled(t *testing.T) {
	env := fabric.NewEnv(fabric.NewHeaderPool(), 1)
	n := &polled{Asked: fabric.Asked{Node: &taker{env: env}}}
	for _, node := range []fabric.Node{n, n.Asked, n.Node} {
		x := New(node, []*fabric.Env{env}, []int{0}, nil, func(int, []byte) int { return 3 })
		x.Poll(1, 7)
	}
	if len(n.by) != 1 || n.by[0] != 7 {
		t.Errorf("polled by %v, should be by 7 once", n.by)
	}
}

func (n *taker) Receive(_ units.Time, _ int, burst []fabric.Frame) {
	for _, f := range burst {
		b := n.env.Bytes(&f)
		var p pfc.Frame
		if p.Decode(b) == nil {
			n.pfc = append(n.pfc, p)
		} else {
			n.frames = append(n.frames, b[len(b)-1])
		}
		n.env.Free(f)
	}
}
func (n *taker) Transmit(units.Time, int, []fabric.Frame) int { return 0 }
func (n *taker) Next(units.Time, int) units.Time              { return units.Never }
func (n *taker) Stats(units.Time) fabric.Stats {
	return fabric.Stats{Ports: make([]fabric.PortStats, 2)}
}
func (n *taker) Audit() error         { return nil }
func (n *taker) Close()               {}
func (n *taker) Rebase(by units.Time) { n.moved += by }

// spoilt is a taker with two ports behind rules.
type spoilt struct {
	*taker
	*Node
	t    *testing.T
	laps uint64
}

func newSpoilt(t *testing.T, specs map[int]Spec) *spoilt {
	env := fabric.NewEnv(fabric.NewHeaderPool(), 2)
	n := &taker{env: env}
	return &spoilt{taker: n, t: t, Node: New(n, []*fabric.Env{env}, []int{0, 0}, specs, func(int, []byte) int { return 3 })}
}

// gives has frames come to a port, and returns those that the node got by then.
func (s *spoilt) gives(now units.Time, port int, marks ...byte) string {
	s.t.Helper()
	for _, m := range marks {
		f, _ := s.env.Alloc(64)
		b := s.env.Bytes(&f)
		clear(b)
		b[12], b[13], b[len(b)-1] = 0x88, 0xB5, m
		s.Node.Receive(now, port, []fabric.Frame{f})
	}
	return s.got()
}

func (s *spoilt) got() string {
	text := string(s.frames)
	s.frames = nil
	return text
}

// at has the world come round to a port.
func (s *spoilt) at(now units.Time, port int) {
	if s.Node.Next(now, port) <= now {
		s.Node.Transmit(now, port, make([]fabric.Frame, 1))
	}
}

func (s *spoilt) set(now units.Time, specs map[int]Spec) { s.Set(now, s.laps, s.Prepare(specs)) }

func rules(all ...Rule) Spec {
	for i := range all {
		all[i].Priority = -1
	}
	return Spec{Seed: 1, Rules: all}
}

// Other rules take the place of those of a port, on ports that had none too. What was done is counted on, a rule that
// is the same counts its frames on, one that is new from the first.
func TestRulesChange(t *testing.T) {
	second := rules(Rule{Do: Lose, Numbers: []uint64{2, 5}})
	s := newSpoilt(t, map[int]Spec{0: second})
	if got := s.gives(1, 0, 'a', 'b', 'c'); got != "ac" {
		t.Fatalf("%q", got)
	}
	s.set(2, map[int]Spec{0: second, 1: rules(Rule{Do: Lose, Numbers: []uint64{1}})})
	if a, b := s.gives(3, 0, 'd', 'e'), s.gives(3, 1, 'f', 'g'); a != "d" || b != "g" {
		t.Errorf("%q, %q: the fifth of one port and the first of the other are to be lost", a, b)
	}
	s.set(4, map[int]Spec{0: rules(Rule{Do: Duplicate, Numbers: []uint64{2}})})
	if a, b := s.gives(5, 0, 'h', 'i'), s.gives(5, 1, 'j', 'k'); a != "hii" || b != "jk" {
		t.Errorf("%q, %q: the second is to come twice, and of the other port all", a, b)
	}
	st := s.Node.Stats(6)
	if a, b := st.Ports[0].Impaired, st.Ports[1].Impaired; a.Lost != 2 || a.Duplicated != 1 || b.Lost != 1 {
		t.Errorf("%+v, %+v", a, b)
	}
	s.set(7, nil)
	if a := s.gives(8, 0, 'l', 'm', 'n'); a != "lmn" {
		t.Errorf("%q without rules", a)
	}
	if a := s.Node.Stats(9).Ports[0].Impaired; a.Lost != 2 || a.Duplicated != 1 {
		t.Errorf("%+v", a)
	}
}

// A port that comes is its worker's from when its rules take effect: what rules send comes from that worker's frames.
func TestRulesOfPortsThatCome(t *testing.T) {
	envs := []*fabric.Env{fabric.NewEnv(fabric.NewHeaderPool(), 2), fabric.NewEnv(fabric.NewHeaderPool(), 2)}
	workers := []int{0, 0}
	n := New(&taker{env: envs[1]}, envs, workers, nil, func(int, []byte) int { return 3 })
	change := n.Prepare(map[int]Spec{1: rules(Rule{Do: Duplicate, Numbers: []uint64{1}})})
	workers[1] = 1
	n.Set(1, 0, change)
	f, _ := envs[1].Alloc(64)
	n.Receive(2, 1, []fabric.Frame{f})
	if a, b := envs[0].Peak(), envs[1].Peak(); a != 0 || b != 2 {
		t.Errorf("%d frames of the other worker, %d of the port's, should be 0 and 2", a, b)
	}
}

// Frames that are held back when their rule goes leave when they were to, and no sooner.
func TestRulesChangeWithFramesHeld(t *testing.T) {
	s := newSpoilt(t, map[int]Spec{0: rules(Rule{Do: Delay, By: 10 * units.Microsecond})})
	s.gives(0, 0, 'a')
	s.set(1, nil)
	s.at(5*units.Microsecond, 0)
	if got := s.gives(6*units.Microsecond, 0, 'b'); got != "b" {
		t.Errorf("%q", got)
	}
	if next := s.Node.Next(7*units.Microsecond, 0); next != 10*units.Microsecond {
		t.Errorf("next at %v", next)
	}
	s.at(10*units.Microsecond, 0)
	if got := s.got(); got != "a" {
		t.Errorf("%q", got)
	}
	if st := s.Node.Stats(0).Ports[0].Impaired; st.DelayedNow != 0 || st.Delayed != 1 {
		t.Errorf("%+v", st)
	}
}

// A port that a rule paused is resumed when the rule is removed.
func TestPauseRuleIsTakenBack(t *testing.T) {
	s := newSpoilt(t, map[int]Spec{0: rules(Rule{Do: Pause, Every: units.Millisecond})})
	s.at(0, 0)
	s.at(units.Millisecond, 0)
	if len(s.pfc) != 2 || s.pfc[1].Quanta[3] == 0 {
		t.Fatalf("%+v", s.pfc)
	}
	s.set(units.Millisecond+1, nil)
	s.at(units.Millisecond+2, 0)
	if len(s.pfc) != 3 || s.pfc[2].Enable != 0xFF || s.pfc[2].Quanta != [pfc.Classes]uint16{} {
		t.Errorf("%+v", s.pfc)
	}
	if next := s.Node.Next(units.Second, 0); next != units.Never {
		t.Errorf("next at %v", next)
	}
	s.set(units.Second, nil)
	s.at(2*units.Second, 0)
	if len(s.pfc) != 3 {
		t.Errorf("it may send again: %+v", s.pfc[3:])
	}
}

// A clock that is set back takes rules, and what they hold, along, and the node behind them; rules that come later count
// their instants from when the world began all the same.
func TestRulesWhenTheClockIsSetBack(t *testing.T) {
	const second = units.Second
	began := units.Lap - 10*second
	specs := map[int]Spec{
		0: rules(Rule{Do: Lose, Start: units.Lap - 5*second, Stop: units.Lap + 5*second}, Rule{Do: Delay, By: 20 * second}),
		1: rules(Rule{Do: Pause, Every: 4 * second, Stop: units.Lap + 7*second}),
	}
	s := newSpoilt(t, specs)
	s.gives(began, 0, 'a')
	s.at(began, 1)
	s.Node.Rebase(units.Lap)
	s.laps = 1
	if s.moved != units.Lap {
		t.Errorf("the node was moved by %v", s.moved)
	}
	if a := s.gives(-6*second, 0, 'b'); a != "" {
		t.Errorf("%q", a)
	}
	s.gives(0, 0, 'c')
	if n := s.Node.Stats(0).Ports[0].Impaired; n.Lost != 1 || n.Delayed != 2 {
		t.Errorf("between start and stop: %+v", n)
	}
	s.gives(5*second, 0, 'd')
	s.at(10*second, 0)
	if got := s.got(); got != "a" {
		t.Errorf("%q came after 20 s", got)
	}
	for now := -6 * second; now < 20*second; now += second {
		s.at(now, 1)
	}
	if n := len(s.pfc); n < 4 || s.pfc[n-2].Quanta[0] == 0 || s.pfc[n-1].Quanta[0] != 0 || s.Node.Next(30*second, 1) != units.Never {
		t.Errorf("%d PFC frames: %+v", n, s.pfc)
	}
	s.set(20*second, map[int]Spec{1: rules(Rule{Do: Lose, Start: units.Lap + 25*second})})
	if a, b := s.gives(24*second, 1, 'x'), s.gives(26*second, 1, 'y'); a != "x" || b != "" {
		t.Errorf("%q, %q", a, b)
	}
}

// Of a frame that says XON to one priority and XOFF to another a rule about one of them is about what is said of that.
func TestXOFFOfAPriority(t *testing.T) {
	for kind, lost := range map[Kind]int{XOFF: 0, XON: 1} {
		s := newSpoilt(t, map[int]Spec{0: {Rules: []Rule{{Do: Lose, Kind: kind, Priority: 3}}}})
		f, _ := s.env.Alloc(pfc.FrameLen)
		what := pfc.Frame{Enable: 1<<3 | 1<<4, Quanta: [8]uint16{4: 100}}
		what.Encode(s.env.Bytes(&f), 7)
		s.Node.Receive(0, 0, []fabric.Frame{f})
		if got := 1 - len(s.pfc); got != lost {
			t.Errorf("kind %d, priority 3: %d of the frames, which say XON to 3 and XOFF to 4, are lost, should be %d", kind, got, lost)
		}
	}
}
