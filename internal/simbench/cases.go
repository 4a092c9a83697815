package main

import (
	"context"
	"embed"
	"fmt"

	"photon/config"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/hpccfiles"
	labrun "photon/lab/run"
	"photon/units"
)

// The flows and the topology of leafspine64, 614 flows of the web search workload
// at load 0.5 for 10 ms: those of the runs of an ns-3 RDMA simulator that
// docs/performance/simulator.md compares with. They are also test data of lab/hpccfiles.
//
//go:embed leafspine64 clos10000.yaml
var files embed.FS

// testCase is one case.
type testCase struct {
	name string
	load func() (*experiment.Experiment, experiment.SchemeUse, error) // the experiment, and the scheme with which it runs
	ns3  reference                                                    // zero: not known

	large bool       // the world will want huge pages
	delay units.Time // of all links, instead of the experiment's; 0: that
}

// reference is what an ns-3 RDMA simulator needs for the same files on a like
// machine, acknowledging every packet.
type reference struct {
	hopsPerSecond float64
	seconds       float64 // by the wall, on one core: it has one thread
}

// cases are the three fixed ones.
var cases = []testCase{
	{name: "compact-dcqcn", load: compact},
	{name: "leafspine64-dcqcn", load: leafspine, ns3: reference{0.50e6, 7.0}},
	{name: "clos512-w2", load: clos},
}

// casesOf are those that are compared: the three, or growing networks.
func casesOf(growth bool) []testCase {
	if growth {
		return growing
	}
	return cases
}

// compact is the scenario of PCN's figure 1 and 2: two long flows and fourteen
// bursts at one of their receivers. The bursts come early here: what is before
// them is two flows alone.
func compact() (*experiment.Experiment, experiment.SchemeUse, error) {
	e, err := experiment.Get("pcn/fig2")
	if err != nil {
		return nil, experiment.SchemeUse{}, err
	}
	e.Duration = 100 * units.Millisecond
	for i := range e.Flows {
		if g := &e.Flows[i]; g.Start.V > 0 {
			g.Start.V = 20 * units.Millisecond
		}
	}
	return finish(e, "dcqcn")
}

// clos is PCN's figure 14 under the Hadoop workload: 512 hosts.
func clos() (*experiment.Experiment, experiment.SchemeUse, error) {
	e, err := experiment.Get("pcn/fig14-w2")
	if err != nil {
		return nil, experiment.SchemeUse{}, err
	}
	e.Duration = 6 * units.Millisecond
	e.Workloads[0].End = config.Set(e.Duration)
	return finish(e, "dcqcn")
}

// finish leaves out what is measured: that is not the simulator's.
func finish(e *experiment.Experiment, scheme string) (*experiment.Experiment, experiment.SchemeUse, error) {
	e.Measure = experiment.Measure{Sample: e.Duration / 10}
	e.Sweep, e.Claims, e.Plots, e.Alternatives, e.Quick = nil, nil, nil, nil, experiment.Quick{}
	for _, use := range e.Schemes {
		if use.Name.V == scheme {
			return e, use, e.Check()
		}
	}
	return nil, experiment.SchemeUse{}, fmt.Errorf("%s has no scheme %s", e.ID, scheme)
}

// growing are networks of 16 to 1024 hosts, 16 to a switch, under the same load. They begin idle. The more hosts, the
// shorter is the run, so that each has some two million packet-hops; all last for 2 ms at least.
var growing = []testCase{grown(16), grown(64), grown(256), grown(320), grown(1024)}

func grown(hosts int) testCase {
	return testCase{name: fmt.Sprintf("hosts%d", hosts), large: hosts >= 1024, load: func() (*experiment.Experiment, experiment.SchemeUse, error) {
		e, err := experiment.Get("pcn/fig21")
		if err != nil {
			return nil, experiment.SchemeUse{}, err
		}
		e.Duration = units.Time(2048/hosts+2) * units.Millisecond
		e.Topology = experiment.Topology{Kind: config.Set("leaf-spine"), ToRs: config.Set(hosts / 16), Hosts: config.Set(16), Spines: config.Set(4)}
		e.Parameters.Buffer = experiment.Sourced[units.Size]{Value: config.Set(64 * units.MB), Source: "the bench's: a spine of 64 ports"}
		w := &e.Workloads[0]
		w.End = config.Set(e.Duration)
		w.Capacity = config.Set(units.Rate(hosts) * 10 * units.Gbps)
		return finish(e, "dcqcn")
	}}
}

func leafspine() (*experiment.Experiment, experiment.SchemeUse, error) {
	var f hpccfiles.Files
	var err error
	read := func(name string) (string, []byte) {
		b, readErr := files.ReadFile("leafspine64/" + name)
		if err == nil {
			err = readErr
		}
		return name, b
	}
	if f.Topology, err = hpccfiles.ReadTopology(read("topology.txt")); err != nil {
		return nil, experiment.SchemeUse{}, err
	}
	name, b := read("flow.txt")
	f.FlowFile = name
	if f.Flows, err = hpccfiles.ReadFlows(name, b, f.Topology); err != nil {
		return nil, experiment.SchemeUse{}, err
	}
	if f.Config, err = hpccfiles.ReadConfig(read("config.txt")); err != nil {
		return nil, experiment.SchemeUse{}, err
	}
	p, err := hpccfiles.Prepare(f, "")
	if err != nil {
		return nil, experiment.SchemeUse{}, err
	}
	return p.Experiment, p.Use, nil
}

// run runs a case once, with an acknowledgement for every packet or for every flow.
func (c *testCase) run(ctx context.Context, each bool, cores int, until units.Time, running func(bool)) (labrun.Outcome, error) {
	e, use, err := c.load()
	if err != nil {
		return labrun.Outcome{}, err
	}
	e.Parameters.AckEach = experiment.Sourced[bool]{Value: config.Set(each), Source: "the bench's"}
	if until > 0 {
		e.Duration = until
	}
	if c.delay > 0 {
		e.Parameters.HostDelay.Value, e.Parameters.TrunkDelay.Value = config.Set(c.delay), config.Set(c.delay)
	}
	return labrun.RunOnce(ctx, e, labrun.Options{World: "sim", Cores: cores}, use, build.Observer{Running: running})
}
