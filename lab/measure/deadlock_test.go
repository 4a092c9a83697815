package measure

import (
	"testing"

	"photon/config"
	"photon/fabric"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/units"
)

// still is a switch that sends nothing. By egress port and the port through which they came, frames wait in it.
type still struct {
	build.Switch
	prio   int                   // of all of them
	paused uint8                 // ports
	waits  map[[2]int]units.Size // egress, ingress
	xon    units.Size
}

func (s *still) Paused(port int) uint8 { return s.paused >> port & 1 << s.prio }
func (s *still) QueueBytes(port, prio int) (sum units.Size) {
	for k, n := range s.waits {
		if k[0] == port && prio == s.prio {
			sum += n
		}
	}
	return sum
}
func (s *still) TxFrames(int, int) uint64 { return 7 }
func (s *still) StaysStopped(in, prio int, silent func(port int) bool) bool {
	kept := units.Size(0)
	for k, n := range s.waits {
		if k[1] == in && prio == s.prio && silent(k[0]) {
			kept += n
		}
	}
	return kept > s.xon
}

// Queues that are paused at both ends of a link are a deadlock only if they wait for each other: if each has frames of the
// other, and so many that these alone keep it paused. Else something other stops them, such as hosts that take nothing.
func TestCyclesOfQueues(t *testing.T) {
	plan := topology.New()
	a, b := plan.Switch("", "A"), plan.Switch("", "B")
	link := fabric.Link{Rate: units.Gbps}
	plan.Connect(a, plan.Host("H%d", 0), link) // port 0
	plan.Connect(b, plan.Host("H%d", 1), link)
	plan.Connect(a, b, link) // port 1
	const host, between = 0, 1
	for _, c := range []struct {
		name   string
		waits  map[[2]int]units.Size // at both, alike
		cycle  bool
		paused uint8
	}{
		{"each waits for its host", map[[2]int]units.Size{{host, between}: 9000, {between, host}: 9000}, false, 0b11},
		{"each waits for the other", map[[2]int]units.Size{{between, between}: 9000}, true, 0b11},
		{"few of the other's", map[[2]int]units.Size{{host, between}: 9000, {between, between}: 4000}, false, 0b11},
		{"more than XON of the other's, and the host's", map[[2]int]units.Size{{host, between}: 9000, {between, between}: 4001}, true, 0b11},
		{"nothing is paused", map[[2]int]units.Size{{between, between}: 9000}, false, 0},
	} {
		for _, both := range [][2]int{{3, 3}, {5, 5}, {3, 5}, {4, 4}} { // the priority of each of them; 4 is lossy
			n := &build.Network{Plan: plan, Priority: 3, Lossless: 1<<3 | 1<<5, Switches: map[int]build.Switch{}}
			for i, node := range []int{a, b} {
				n.Switches[node] = &still{prio: both[i], paused: c.paused, waits: c.waits, xon: 4000}
			}
			d := newDeadlock(n, units.Millisecond)
			for now := units.Time(0); now <= 3*units.Millisecond; now += 100 * units.Microsecond {
				d.sample(now)
			}
			want := c.cycle && both[0] == both[1] && both[0] != 4
			if found := d.at > 0; found != want {
				t.Errorf("%s, priorities %v: a deadlock %v", c.name, both, found)
			}
		}
	}
}

// A deadlock has a time, and a run without one has none; whether there was one is known of both.
func TestMetricsOfDeadlocks(t *testing.T) {
	for _, c := range []struct {
		w    *Watch
		when *float64
		is   float64
	}{
		{&Watch{deadlock: &deadlock{at: 2 * units.Millisecond}}, ptr(2e-3), 1},
		{&Watch{deadlock: &deadlock{}}, nil, 0},
		{&Watch{}, nil, 0}, // nothing was looked for
	} {
		when := metric{&experiment.Metric{Do: config.Set("deadlock")}}.evaluate(c.w)
		is := metric{&experiment.Metric{Do: config.Set("deadlocked")}}.evaluate(c.w)
		if (when == nil) != (c.when == nil) || when != nil && *when != *c.when || is == nil || *is != c.is {
			t.Errorf("%+v: %v, %v", c.w.deadlock, experiment.Number(when, "s"), experiment.Number(is, ""))
		}
	}
}

func ptr(v float64) *float64 { return &v }
