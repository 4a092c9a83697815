package daemon

import (
	"context"
	"math/rand/v2"
	"strings"

	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/impair"
	"photon/units"
)

// newWorld is dpdk.New; if the machine does not have what is asked for, it is a mistake of the user.
func newWorld(o dpdk.Options) (dpdk.World, error) {
	w, err := dpdk.New(o)
	return w, refused(err)
}

// Switch is a switch until the context ends. again reads the configuration again, for
// reloads; nil if there is no file.
func Switch(ctx context.Context, o Options, conf *config.Switch, again func() (*config.Switch, error)) error {
	if !dpdk.Available {
		return refused(dpdk.ErrNotBuilt)
	}
	d := &daemon{log: newLog(o), version: o.Version, name: conf.NodeName(), garbage: conf.DPDK.GarbageLimit()}
	at := asked{name: d.name, metrics: conf.MetricsAddress(), live: conf.Live.Address(), admin: conf.AdminSocket(), pprof: conf.PProfAddress(), warnings: conf.Warnings()}
	var err error
	if d.sockets, err = at.open(d.log); err != nil {
		return err
	}
	defer d.sockets.close()
	w, err := newWorld(conf.Options())
	if err != nil {
		return err
	}
	defer w.Close()
	devices, err := openAll(w, conf.File(), conf.Ports, func(int) int { return conf.MTU.Or(1500) }, 0)
	if err != nil {
		return err
	}
	conf.Start(conf.Options().Frames, config.Base(devices[0]))
	opened := devices
	devices = make([]dpdk.Device, dpdk.MaxPorts) // by place
	copy(devices, opened)
	node, err := conf.Resolve(devices)
	if err != nil {
		return refused(err)
	}
	node.Config.ID = rand.Uint64()
	envs := w.NewEnvs(len(devices))
	s, err := dataplane.NewSwitch(node.Config, envs)
	if err != nil {
		return refused(err)
	}
	s.Reserve()
	d.world, d.node, d.envs, d.workers = w, s, envs, node.Workers
	if specs := conf.Impaired(); specs != nil {
		d.impaired = impair.New(s, envs, node.Workers, specs, s.Priority)
		d.node = d.impaired
	}
	d.sw, d.scheme, d.params, d.line, d.response = s, node.Scheme.Name, node.Params, node.Line, conf.Response()
	d.loaded.conf, d.loaded.devices, d.loaded.again = conf, devices, again
	d.rates = make([]units.Rate, len(devices))
	id := w.Add(d.name, d.node, envs, node.Workers)
	w.TimeFrames(id)
	d.series.Priorities, d.series.Flows = conf.Series.Bounds()
	d.id, d.lossless = id, node.Config.Lossless
	for i, dev := range opened {
		if err := w.Attach(fabric.End{Node: id, Port: i}, dev, node.Links[i]); err != nil {
			return refused(err)
		}
		d.setNames(append(d.names(), PortName(dev.Spec))...)
		d.rates[i] = node.Links[i].Rate
		d.log.Infof("port %d is %s, %v", i, dev.Spec, dev.MAC)
		d.warnOfNode(i)
	}
	if err := d.logFlowControl(conf.Lossless(), conf.File(), conf.Ports, opened); err != nil {
		return err
	}
	d.shutAtStart(conf)
	d.testbed = &testbedNode{d: d}
	for _, line := range node.Describe() {
		d.log.Info(line)
	}
	d.logGap(d.gaps(conf, devices))
	return d.serve(ctx)
}

// PortName is what metrics call a port: the kernel's interface, or the device.
func PortName(spec string) string {
	name, arguments, _ := strings.Cut(spec, ",")
	for a := range strings.SplitSeq(arguments, ",") {
		if iface, ok := strings.CutPrefix(a, "iface="); ok && !strings.Contains(iface, "/") { // not a socket
			return iface
		}
	}
	return name
}
