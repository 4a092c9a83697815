//go:build dpdk

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/units"
)

// beMeasured forwards until it is told to stop, as `photon switch` with these
// ports would, but for the emulated rate of virtual devices.
func beMeasured(c testCase) error {
	conf := &config.Switch{}
	for i := range c.Ports {
		conf.Ports = append(conf.Ports, config.Port{Device: config.Set(c.device(i))})
	}
	conf.Scheme.Name = config.Set("pcn")
	conf.Rate = config.Set(40 * units.Gbps)
	if err := conf.Check(); err != nil {
		return err
	}
	w, err := dpdk.New(conf.Options())
	if err != nil {
		return err
	}
	var devices []dpdk.Device
	for _, p := range conf.Ports {
		d, err := w.Open(p.Device.V, 1500)
		if err != nil {
			return err
		}
		devices = append(devices, d)
	}
	node, err := conf.Resolve(devices)
	if err != nil {
		return err
	}
	envs := w.NewEnvs(c.Ports)
	sw, err := dataplane.NewSwitch(node.Config, envs)
	if err != nil {
		return err
	}
	sw.Reserve()
	p := &peers{Switch: sw, env: envs[0], ports: c.Ports}
	if err := p.teach(); err != nil {
		return err
	}
	keep := 0
	if c.Vdev == "net_ring" {
		keep = ringFrames
	}
	p.fill(c.Bytes, keep)
	id := w.Add("switch", p, envs, make([]int, c.Ports))
	for i, d := range devices {
		if err := w.Attach(dataplane.End{Node: id, Port: i}, d, dataplane.Link{}); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	debug.SetGCPercent(-1) // both as `photon switch` does
	w.SeldomStop()
	go func() { ended <- w.Run(ctx, units.Never) }()
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() && in.Text() == "count" {
		sum := uint64(0)
		for _, d := range w.Devices() {
			sum += d.TxFrames
		}
		fmt.Println("forwarded", sum)
	}
	stop()
	<-ended
	if err := w.Audit(); err != nil {
		return err
	}
	saw, err := p.check(w.Now())
	if err != nil {
		return err
	}
	fmt.Println("saw", saw)
	return w.Close()
}
