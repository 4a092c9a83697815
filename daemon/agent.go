package daemon

import (
	"context"
	"errors"
	"math/rand/v2"

	"photon/agent"
	"photon/config"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/units"
)

// newAgent is the daemon of an agent, which can be asked nothing yet.
func newAgent(o Options, conf *config.Agent) (*daemon, error) {
	d := &daemon{log: newLog(o), version: o.Version, name: conf.Name.Or("agent"), garbage: conf.DPDK.GarbageLimit()}
	at := asked{name: d.name, metrics: conf.MetricsAddress(), live: conf.Live.Address(), admin: conf.AdminSocket(), pprof: conf.PProfAddress(), warnings: conf.Warnings()}
	var err error
	d.sockets, err = at.open(d.log)
	return d, err
}

func runAgent(ctx context.Context, o Options, conf *config.Agent) error {
	if !dpdk.Available {
		return refused(dpdk.ErrNotBuilt)
	}
	g, err := readTraffic(conf)
	if err != nil {
		return err
	}
	d, err := newAgent(o, conf)
	if err != nil {
		return err
	}
	defer d.sockets.close()
	w, err := newWorld(conf.Options())
	if err != nil {
		return err
	}
	defer w.Close()
	devices, err := openAll(w, conf.File(), []config.Port{conf.Port}, func(int) int { return conf.MTU() }, 0)
	if err != nil {
		return err
	}
	node, err := conf.Resolve(&devices[0])
	if err != nil {
		return refused(err)
	}
	save, err := saveMemory(conf, node, w.Started())
	if err != nil {
		return refused(err)
	}
	defer save(d)
	envs := w.NewEnvs(1)
	node.Config.Seed = rand.Uint64() // what is left of an earlier start in the network must not be taken for this one's
	h, err := agent.New(node.Config, envs[0])
	if err != nil {
		return refused(err)
	}
	d.world, d.node, d.host = w, h, h
	id := w.Add(d.name, h, envs, []int{0})
	d.id = id
	d.series.Priorities, d.series.Flows = conf.Series.Bounds()
	d.scheme, d.rates, d.lossless = node.Scheme.Name, []units.Rate{node.Link.Rate}, node.Config.Lossless
	if err := w.Attach(fabric.End{Node: id}, devices[0], node.Link); err != nil {
		return refused(err)
	}
	d.setNames(PortName(devices[0].Spec))
	d.warnOfNode(0)
	if err := d.logFlowControl(d.lossless != 0, conf.File(), []config.Port{conf.Port}, devices); err != nil {
		return err
	}
	for _, line := range node.Describe() {
		d.log.Info(line)
	}
	if d.traffic, err = newTraffic(d, h, node, g); err != nil {
		return err
	}
	defer d.traffic.report()()
	d.testbed = &testbedNode{d: d, host: h, node: node}
	return d.serve(ctx)
}

// saveMemory opens the file that gets what peers wrote, and returns what writes it at the end. If the agent was never
// started, what an earlier one left there stays.
func saveMemory(conf *config.Agent, node *config.AgentNode, started <-chan struct{}) (save func(*daemon), err error) {
	f, err := conf.MemoryFile()
	if err != nil || f == nil {
		return func(*daemon) {}, err
	}
	return func(d *daemon) {
		var err error
		select {
		case <-started:
			b := node.Config.Memory.Bytes
			_, err = f.WriteAt(b, 0)
			err = errors.Join(err, f.Truncate(int64(len(b))))
		default:
		}
		if err := errors.Join(err, f.Close()); err != nil {
			d.log.Warnf("memory: %v", err)
		}
	}, nil
}
