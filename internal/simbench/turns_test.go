package main

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"photon/lab/experiment"
	"photon/units"
)

// short is a case for tests: one slice and a half, or three with an acknowledgement for each packet.
var short = testCase{name: "short", load: func() (*experiment.Experiment, experiment.SchemeUse, error) {
	e, use, err := compact()
	if err == nil {
		e.Duration = 30 * units.Millisecond
	}
	return e, use, err
}}

// The program that is tested is its own child, as the command is, with a case more.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-child" {
		cases = append(cases, short)
		main()
		return
	}
	os.Exit(m.Run())
}

func spell(turn [][]step) string {
	var all []string
	for _, steps := range turn {
		var some []string
		for _, s := range steps {
			some = append(some, fmt.Sprintf("%s/%s/%d", s.c.name, perWhat(s.each)[:1], s.cores))
		}
		all = append(all, strings.Join(some, "+"))
	}
	return strings.Join(all, " ")
}

// What is compared is beside each other, and everything is there once.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		list   []testCase
		growth bool
		cores  int
		want   string
	}{
		{cases[:2], false, 4, "compact-dcqcn/f/1 compact-dcqcn/f/2 leafspine64-dcqcn/f/1 leafspine64-dcqcn/f/2 " +
			"compact-dcqcn/p/1 compact-dcqcn/p/2 leafspine64-dcqcn/p/1+bare-loop/f/1 leafspine64-dcqcn/p/2"},
		{cases[:1], false, 1, "compact-dcqcn/f/1 compact-dcqcn/p/1 bare-loop/f/1"},
		{growing[2:], true, 2, "hosts256/f/2 hosts256/f/1+hosts1024/f/1 hosts1024/f/2 hosts320/f/1 hosts320/f/2 " +
			"hosts256/p/2 hosts256/p/1+hosts1024/p/1 hosts1024/p/2 hosts320/p/1 hosts320/p/2 bare-loop/f/1"},
		{growing[:2], true, 1, "hosts16/f/1+hosts64/f/1 hosts16/p/1+hosts64/p/1 bare-loop/f/1"},
		{growing[:1], true, 1, "hosts16/f/1 hosts16/p/1 bare-loop/f/1"},
	} {
		if got := spell(plan(c.list, c.growth, c.cores)); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// Every other turn goes backwards; runs are kept in the order of turns, whatever the
// number of cores, and must agree.
func TestTakeTurns(t *testing.T) {
	turn := plan(cases[:1], false, 2)
	var order [][]step
	took, err := takeTurns(turn, 3, func(steps []step, earlier map[step][]measured) ([]measured, error) {
		order = append(order, steps)
		return []measured{{Hash: perWhat(steps[0].each), Hops: uint64(len(order)), Events: uint64(len(earlier[steps[0]]))}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	back := slices.Clone(turn)
	slices.Reverse(back)
	if got, want := spell(order), spell(slices.Concat(turn, back, turn)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	n := len(turn)
	for i, steps := range turn {
		var at, before []uint64
		for _, m := range took[steps[0]] {
			at, before = append(at, m.Hops), append(before, m.Events)
		}
		if want := []uint64{uint64(i + 1), uint64(2*n - i), uint64(2*n + i + 1)}; !slices.Equal(at, want) || !slices.Equal(before, []uint64{0, 1, 2}) {
			t.Errorf("%s: runs %v, want %v; %v before them", spell(turn[i:i+1]), at, want, before)
		}
	}
	// The second run is of the same case on two cores, the last one the first once more.
	for _, call := range []int{2, 2 * n} {
		calls := 0
		_, err = takeTurns(turn, 2, func(steps []step, _ map[step][]measured) ([]measured, error) {
			if calls++; calls == call {
				return []measured{{Hash: "another"}}, nil
			}
			return []measured{{Hash: "one"}}, nil
		})
		if err == nil || calls != call || !strings.Contains(err.Error(), cases[0].name+": two runs differ: trace hashes one and another") {
			t.Errorf("run %d differs: %v after %d runs", call, err, calls)
		}
	}
	if _, err := takeTurns(turn, 1, func([]step, map[step][]measured) ([]measured, error) { return nil, os.ErrClosed }); err != os.ErrClosed {
		t.Errorf("%v", err)
	}
}

func TestShares(t *testing.T) {
	a, b := step{&cases[0], false, 1}, step{&cases[0], true, 1}
	for _, c := range []struct {
		earlier map[step][]measured
		want    []time.Duration
	}{
		{nil, []time.Duration{slice, slice}},
		{map[step][]measured{a: {{Used: 9}, {Used: 1}}, b: {{Used: 3}}}, []time.Duration{slice / 2, slice * 3 / 2}},
		{map[step][]measured{a: {{Used: 0}}, b: {{Used: 0}}}, []time.Duration{slice, slice}},
	} {
		if got := shares([]step{a, b}, c.earlier); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

// Only what a child stood still before its clock stopped is not its time.
func TestStopped(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	c := child{stops: []stop{{at(1), at(3)}, {at(5), at(6)}, {at(8), at(20)}}}
	if got := c.stopped(at(7)); got != 3*time.Second {
		t.Errorf("%s, want 3 s: the last stop came after the end", got)
	}
	if got := c.stopped(at(30)); got != 15*time.Second {
		t.Errorf("%s, want 15 s", got)
	}
}

// Two runs that alternate make what each makes alone, and take their time one after the
// other. A run that cannot begin is an error.
func TestTogether(t *testing.T) {
	steps := []step{{&short, false, 1}, {&short, true, 1}}
	began := time.Now()
	made, err := together(steps, nil)
	took := time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := together(steps[1:], nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := made[1]; m.Hash == "" || m.Hash != alone[0].Hash || m.Hops != alone[0].Hops {
		t.Errorf("%+v, alone %+v", m, alone[0])
	}
	for _, m := range made {
		if m.Wall <= 0 || m.Used <= 0 {
			t.Errorf("%+v", m)
		}
	}
	if made[0].Hash == made[1].Hash {
		t.Error("both runs are the same")
	}
	if sum := made[0].Wall + made[1].Wall; sum > took {
		t.Errorf("%s and %s by the wall, one at a time in %s", made[0].Wall, made[1].Wall, took)
	}
	if _, err := together([]step{steps[0], {&testCase{name: "none"}, false, 1}}, nil); err == nil || !strings.Contains(err.Error(), "instead of being ready") {
		t.Errorf("a case that is not there: %v", err)
	}
}

// A child whose slice is over stands still, goes on in the next one, and can be ended.
func TestSlice(t *testing.T) {
	c, err := begin(step{&cases[1], true, 1}) // of more than a second
	if err != nil {
		t.Fatal(err)
	}
	defer c.end()
	for n := 1; n <= 2; n++ {
		if err := c.run(time.Millisecond, false); err != nil || len(c.stops) != n || !c.stops[n-1].to.IsZero() {
			t.Fatalf("after slice %d: %+v, %v", n, c.stops, err)
		}
		for state := ""; state != "T"; { // stopped; it takes a moment, or ends instead
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
			if err != nil {
				t.Fatalf("it did not stop: %v", err)
			}
			_, rest, _ := strings.Cut(string(b), ") ")
			state = strings.Fields(rest)[0]
		}
	}
	if first := c.stops[0]; first.to.Before(first.from) {
		t.Errorf("stopped from %s to %s", first.from, first.to)
	}
}
