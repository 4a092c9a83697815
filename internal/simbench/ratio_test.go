package main

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"photon/internal/gobench"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

// The median of the turns' ratios is something else than the ratio of medians, and the
// turns keep their order.
func TestRatioIsOfEachTurn(t *testing.T) {
	run := func(seconds float64) measured {
		return measured{Hops: 1e6, Used: time.Duration(seconds * 1e9)}
	}
	small := []measured{run(1), run(2), run(4), run(1), run(2)}
	large := []measured{run(1.5), run(5), run(4), run(3), run(2.4)}
	r := newGrowth(&growing[4], &growing[0], true, large, small)
	want := ratio{
		What: "cost per packet-hop, hosts1024 by hosts16", Ack: "packet",
		Median: 1.5, Lower: 1.2, Upper: 2.5, Least: 1, Most: 3, Turns: []float64{1.5, 2.5, 1, 3, 1.2}, Goal: "1.5 or less", Met: 3,
	}
	for i := range r.Turns {
		r.Turns[i] = math.Round(r.Turns[i]*1e9) / 1e9
	}
	again := newRatio(r.What, true, r.Turns, growthGoal)
	if !reflect.DeepEqual(again, want) {
		t.Errorf("%+v, want %+v", again, want)
	}
	if s := again.String(); s != "1.50 (1.20 to 2.50), least 1.00, most 3.00; 1.5 or less in 3 of 5 turns" {
		t.Error(s)
	}
	for v, met := range map[float64]int{9.99: 0, 10: 1, 10.01: 1} {
		if r := newRatio("", true, []float64{v}, tenTimes); r.Met != met || r.Goal != "10 or more" {
			t.Errorf("%g: %d, %s", v, r.Met, r.Goal)
		}
	}
	if r := newRatio("", true, []float64{0, 1}, goal{}); r.Met != 0 || strings.Contains(r.String(), "turns") {
		t.Errorf("without a goal: %+v, %s", r, r.String())
	}
}

// made is a result of three turns, in which the machine had other speeds: on one core of
// every network a packet-hop takes as many times a nanosecond as its place in the list times
// 100, in the second turn twice that and in the third four times, but half of it on two cores.
func made(list []testCase, growth bool) result {
	took := map[step][]measured{}
	for _, steps := range plan(list, growth, 2) {
		for _, s := range steps {
			place := 1
			for i := range list {
				if s.c == &list[i] {
					place = i + 1
				}
			}
			for turn := range 3 {
				used := time.Duration(place) * 100 * 1e6 << turn
				took[s] = append(took[s], measured{Hash: "0", Hops: 1e6, Events: 2e6, Used: used, Wall: used / time.Duration(s.cores), RSS: 1e6, Frames: 1})
			}
		}
	}
	return newResult(list, growth, took)
}

func TestResult(t *testing.T) {
	for _, growth := range []bool{false, true} {
		list := casesOf(growth)
		r := made(list, growth)
		if len(r.Cases) != 2*len(list) {
			t.Fatalf("%d lines of %d cases", len(r.Cases), len(list))
		}
		for i, l := range r.Cases {
			place := float64(i/2 + 1)
			if want := list[i/2].name; l.Name != want || l.Ack != []string{"flow", "packet"}[i%2] {
				t.Errorf("line %d is %s per %s, want %s", i, l.Name, l.Ack, want)
			}
			if !near(l.Rate, 5e6/place) || !near(l.PerEvent, 100*place) || !near(l.Wall, 0.2*place) || !near(l.Wall2, 0.1*place) || !near(l.Twice, 2) {
				t.Errorf("%+v", l)
			}
		}
		got := map[string]ratio{}
		for _, x := range append(r.Ratios, r.Growth...) {
			got[x.What+", "+x.Ack] = x
		}
		// What changes with the machine's speed does not cancel out beside ns-3, which has no turns.
		for what, want := range map[string][]float64{
			"compact-dcqcn, 2 cores by 1, flow":                   {2, 2, 2},
			"leafspine64-dcqcn, 2 cores by 1, packet":             {2, 2, 2},
			"leafspine64-dcqcn, x ns-3 on 1 core, packet":         {10, 5, 2.5},
			"leafspine64-dcqcn, x ns-3 on 1 core, scaled, packet": {4, 4, 4},
			"leafspine64-dcqcn, x ns-3 on 2 cores, packet":        {70, 35, 17.5},
			"cost per packet-hop, hosts1024 by hosts16, flow":     {5, 5, 5},
			"cost per packet-hop, hosts1024 by hosts16, packet":   {5, 5, 5},
			"hosts320, 2 cores by 1, packet":                      {2, 2, 2},
		} {
			x, ok := got[what]
			if ok == (growth != strings.Contains(what, "hosts")) {
				t.Errorf("growth %v: is there %q? %v", growth, what, ok)
			}
			for i := range x.Turns {
				if !near(x.Turns[i], want[i]) {
					t.Errorf("%s: %v, want %v", what, x.Turns, want)
					break
				}
			}
		}
		if want := map[bool]int{false: 9, true: 12}[growth]; len(got) != want {
			t.Errorf("%d ratios, want %d", len(got), want)
		}
	}
	l := made(cases, false).Cases[3]
	if !near(l.NS3Rate, 5) || !near(l.NS3Scaled, 4) || !near(l.NS3Wall2, 35) {
		t.Errorf("%+v", l)
	}
}

// The file has the fields that others read, and those of ratios; both tables are narrow.
func TestWhatIsWritten(t *testing.T) {
	for _, growth := range []bool{false, true} {
		list := casesOf(growth)
		r := made(list, growth)
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var file map[string]any
		if err := json.Unmarshal(b, &file); err != nil {
			t.Fatal(err)
		}
		holds := func(of string, object any, keys ...string) {
			fields, ok := object.(map[string]any)
			for _, key := range keys {
				if _, has := fields[key]; !ok || !has {
					t.Errorf("growth %v: no %s in %s: %v", growth, key, of, object)
				}
			}
		}
		holds("the file", file, "cases", "machine", "ratios")
		holds("cases", file["cases"].([]any)[0], "name", "ack", "packet_hops_per_second", "ns_per_event", "rss_bytes", "wall_seconds", "wall_seconds_2_cores")
		ratios := []string{"what", "ack", "median", "lower_quartile", "upper_quartile", "least", "most", "turns", "turns_within_goal"}
		holds("ratios", file["ratios"].([]any)[0], ratios...)
		if growth {
			holds("the file", file, "growth")
			holds("growth", file["growth"].([]any)[1], append(ratios, "goal")...)
		} else if file["growth"] != nil {
			t.Errorf("growth of the cases: %v", file["growth"])
		}
		var text strings.Builder
		if err := errors.Join(printTable(&text, r.Cases, r.Machine), printRatios(&text, append(r.Growth, r.Ratios...))); err != nil {
			t.Error(err)
		}
		for l := range strings.Lines(text.String()) {
			if utf8.RuneCountInString(l) > 150 {
				t.Errorf("%d columns: %s", utf8.RuneCountInString(l)-1, l)
			}
		}
		for words, in := range map[string]bool{
			"scaled": true, bareName: true,
			"cost per packet-hop, hosts1024 by hosts16:  5.00 (5.00 to 5.00), least 5.00, most 5.00; 1.5 or less in 0 of 3 turns": growth,
			"x ns-3 on 1 core:          5.00 (2.50 to 10.00), least 2.50, most 10.00; 10 or more in 1 of 3 turns":                 !growth,
		} {
			if strings.Contains(text.String(), words) != in {
				t.Errorf("growth %v: is %q there? want %v:\n%s", growth, words, in, text.String())
			}
		}
	}
}

// One case alone has nothing to grow by, and one processor nothing to be twice.
func TestResultOfLess(t *testing.T) {
	run := []measured{{Hops: 1e6, Events: 2e6, Frames: 1, Used: time.Second, Wall: time.Second}}
	list := growing[:1]
	took := map[step][]measured{bare: run, {&list[0], false, 1}: run, {&list[0], true, 1}: run}
	r := newResult(list, true, took)
	if len(r.Growth) != 0 || len(r.Ratios) != 0 || len(r.Cases) != 2 || r.Cases[0].Twice != 0 || r.Cases[0].twice() != "–" {
		t.Errorf("%+v", r)
	}
	var text strings.Builder
	if err := printRatios(&text, r.Ratios); err != nil {
		t.Error(err)
	}
	if b, err := json.Marshal(r); err != nil || !strings.Contains(string(b), `"ratios":[]`) || text.Len() > 0 {
		t.Errorf("%s, %v, %q", b, err, text.String())
	}
	want := gobench.New("hops/s")
	want.Add(run[0].benchmark("hosts16", false))
	want.Add(run[0].benchmark("hosts16", true))
	if got := benchmarks(list, took).String(); got != want.String() {
		t.Errorf("%q, want %q", got, want.String())
	}
}
