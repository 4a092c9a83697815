package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"photon/agent"
	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
)

// runNIC is a NIC for applications until the command ends.
func runNIC(c *cobra.Command, conf *config.Agent) error {
	if !dpdk.Available {
		return bad(dpdk.ErrNotBuilt)
	}
	w, err := newWorld(conf.Options())
	if err != nil {
		return err
	}
	defer w.Close()
	var devices []dpdk.Device
	for i, mtu := range conf.NICMTUs() {
		d, err := openAll(w, conf.File(), conf.NICPorts()[i:i+1], mtu)
		if err != nil {
			if hint := conf.MTUHint(); i == agent.Wire && hint != "" {
				err = bad(fmt.Errorf("%w (%s)", err, hint))
			}
			return err
		}
		devices = append(devices, d...)
	}
	node, err := conf.ResolveNIC(devices)
	if err != nil {
		return bad(err)
	}
	envs := w.NewEnvs(len(devices))
	n, err := agent.NewNIC(node.Config, envs[0])
	if err != nil {
		return bad(err)
	}
	d := &daemon{log: newLog(c.ErrOrStderr()), name: conf.Name.Or("agent"), world: w, node: n, metrics: conf.MetricsAddress(), admin: conf.AdminSocket(), live: conf.Live.Address(), garbage: conf.DPDK.GarbageLimit(), nic: n}
	d.series.Priorities, d.series.Flows = conf.Series.Bounds()
	d.scheme, d.lossless = node.Scheme.Name, node.Config.Lossless
	d.id = w.Add(d.name, n, envs, []int{0, 0})
	for i, link := range []dataplane.Link{agent.Wire: node.Link, agent.Application: node.App} {
		if err := w.Attach(dataplane.End{Node: d.id, Port: i}, devices[i], link); err != nil {
			return bad(err)
		}
		d.rates = append(d.rates, link.Rate)
		d.ports = append(d.ports, portName(devices[i].Spec))
		d.warnOfNode(i)
	}
	d.log.Infof("the wire is %s, the application's port %s, %v", devices[agent.Wire].Spec, devices[agent.Application].Spec, devices[agent.Application].MAC)
	if shared := devices[agent.Wire].Shared; shared != "" {
		d.log.Warnf("the kernel answers ARP at %s for every address of this namespace, the application's included, past the NIC: `ip link set %s arp off`", shared, shared)
	}
	for _, line := range node.Describe() {
		d.log.Info(line)
	}
	return d.serve(c.Context())
}
