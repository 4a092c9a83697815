package main

import (
	"errors"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"photon/agent"
	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/units"
)

func agentCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "agent -c agent.yaml",
		Short: "Be a host: send and receive flows under a congestion control scheme",
		Long: "Be a host at the end of a link: send the flows of the configuration as RoCEv2 packets, each at the rate its\n" +
			"reaction point allows, obey PFC, receive flows of others and notify their senders. With `role: nic` it is a NIC\n" +
			"for other programs instead: what they send waits in queues by flow and leaves at the pace of the scheme.",
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return bad(errors.New("an agent needs a configuration (-c agent.yaml; deploy/agent-h0.yaml is an example)"))
			}
			conf, err := config.ReadAgent(file)
			if err != nil {
				return bad(wrongKind(file, agentFile, err))
			}
			if conf.IsNIC() {
				return runNIC(c, conf)
			}
			return runAgent(c, conf)
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "", "configuration `file`")
	return c
}

// newAgent is the daemon of an agent, which can be asked nothing yet.
func newAgent(c *cobra.Command, conf *config.Agent) (*daemon, error) {
	d := &daemon{log: newLog(c.ErrOrStderr()), name: conf.Name.Or("agent"), garbage: conf.DPDK.GarbageLimit()}
	at := asked{name: d.name, metrics: conf.MetricsAddress(), live: conf.Live.Address(), admin: conf.AdminSocket()}
	var err error
	d.sockets, err = at.open(d.log)
	return d, err
}

func runAgent(c *cobra.Command, conf *config.Agent) error {
	if !dpdk.Available {
		return bad(dpdk.ErrNotBuilt)
	}
	g, err := readGiven(conf)
	if err != nil {
		return err
	}
	d, err := newAgent(c, conf)
	if err != nil {
		return err
	}
	defer d.sockets.close()
	w, err := newWorld(conf.Options())
	if err != nil {
		return err
	}
	defer w.Close()
	devices, err := openAll(w, conf.File(), []config.Port{conf.Port}, func(int) int { return 1500 }, 0)
	if err != nil {
		return err
	}
	node, err := conf.Resolve(&devices[0])
	if err != nil {
		return bad(err)
	}
	envs := w.NewEnvs(1)
	node.Config.Seed = rand.Uint64() // what is left of an earlier start in the network must not be taken for this one's
	h, err := agent.New(node.Config, envs[0])
	if err != nil {
		return bad(err)
	}
	d.world, d.node, d.host = w, h, h
	id := w.Add(d.name, h, envs, []int{0})
	d.id = id
	d.series.Priorities, d.series.Flows = conf.Series.Bounds()
	d.scheme, d.rates, d.lossless = node.Scheme.Name, []units.Rate{node.Link.Rate}, node.Config.Lossless
	if err := w.Attach(dataplane.End{Node: id}, devices[0], node.Link); err != nil {
		return bad(err)
	}
	d.setNames(portName(devices[0].Spec))
	d.warnOfNode(0)
	if err := d.tellFlowControl(conf.File(), []config.Port{conf.Port}, devices); err != nil {
		return err
	}
	for _, line := range node.Describe() {
		d.log.Info(line)
	}
	if d.orders, err = newOrders(d, h, node, g); err != nil {
		return err
	}
	defer d.orders.report()()
	d.testbed = &testbedNode{d: d, host: h, node: node}
	return d.serve(c.Context())
}
