package daemon

import (
	"context"
	"fmt"
	"strings"

	"photon/agent"
	"photon/config"
	"photon/dataplane/dpdk"
	"photon/fabric"
)

// runNIC is a NIC for applications until the context ends.
func runNIC(ctx context.Context, o Options, conf *config.Agent) error {
	if !dpdk.Available {
		return refused(dpdk.ErrNotBuilt)
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
	devices, err := openAll(w, conf.File(), conf.NICPorts(), func(port int) int { return conf.NICMTUs()[port] }, 0)
	if err != nil {
		if hint := conf.MTUHint(); hint != "" && strings.Contains(err.Error(), "port "+conf.Port.Device.V+":") {
			err = refused(fmt.Errorf("%w (%s)", err, hint))
		}
		return err
	}
	node, err := conf.ResolveNIC(devices)
	if err != nil {
		return refused(err)
	}
	envs := w.NewEnvs(len(devices))
	n, err := agent.NewNIC(node.Config, envs[0])
	if err != nil {
		return refused(err)
	}
	d.world, d.node, d.nic = w, n, n
	d.series.Priorities, d.series.Flows = conf.Series.Bounds()
	d.scheme, d.lossless = node.Scheme.Name, node.Config.Lossless
	d.id = w.Add(d.name, n, envs, []int{0, 0})
	for i, link := range []fabric.Link{agent.Wire: node.Link, agent.Application: node.App} {
		if err := w.Attach(fabric.End{Node: d.id, Port: i}, devices[i], link); err != nil {
			return refused(err)
		}
		d.rates = append(d.rates, link.Rate)
		d.setNames(append(d.names(), PortName(devices[i].Spec))...)
		d.warnOfNode(i)
	}
	d.log.Infof("the wire is %s, the application's port %s, %v", devices[agent.Wire].Spec, devices[agent.Application].Spec, devices[agent.Application].MAC)
	if shared := devices[agent.Wire].Shared; shared != "" {
		d.log.Warnf("the kernel answers ARP at %s for every address of this namespace, the application's included, past the NIC: `ip link set %s arp off`", shared, shared)
	}
	if err := d.logFlowControl(d.lossless != 0, conf.File(), conf.NICPorts(), devices); err != nil {
		return err
	}
	for _, line := range node.Describe() {
		d.log.Info(line)
	}
	return d.serve(ctx)
}
