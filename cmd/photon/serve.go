package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/pfc"
	"photon/scheme"
	"photon/telemetry"
	"photon/units"
)

// node is what a daemon runs.
type node interface {
	dataplane.Node
	Priority(frame []byte) int // of a frame by its bytes; -1: none
}

// daemon is a node on devices that runs until it is told to stop.
type daemon struct {
	log     *zap.SugaredLogger
	name    string
	world   dpdk.World
	node    node
	id      int // of the node, in its world
	ports   []string
	metrics string // address; empty: nowhere
	admin   config.Admin
	host    bool
	testbed *testbedNode
	rates   []units.Rate // of the links, by port; switches only

	// Agents only.
	orders *orders

	// Switches only.
	sw     *dataplane.Switch
	scheme string
	params []scheme.Setting
	loaded loaded
	taps   taps
	links  links
	storms []pfc.WatchdogCounters // when last looked at
}

func newLog(w io.Writer) *zap.SugaredLogger {
	e := zap.NewProductionEncoderConfig()
	e.EncodeTime = zapcore.ISO8601TimeEncoder
	e.EncodeLevel = zapcore.CapitalLevelEncoder
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(e), zapcore.AddSync(w), zapcore.InfoLevel)).Sugar()
}

// openAll opens the devices of a node's ports; errors name the line of file.
func openAll(w dpdk.World, file string, ports []config.Port, mtu int) (devices []dpdk.Device, err error) {
	for _, p := range ports {
		d, err := w.Open(p.Device.V, mtu)
		if err != nil {
			return nil, bad(p.Fail(file, err))
		}
		devices = append(devices, d)
	}
	return devices, nil
}

// serve runs the world until the context ends, answering scrapes, lets its
// queues run empty, and then says whether every frame is accounted for.
func (d *daemon) serve(ctx context.Context) (err error) {
	if d.metrics != "" {
		s, err := telemetry.Serve(d.metrics, version, d.snapshot)
		if err != nil {
			return bad(err)
		}
		defer s.Close()
		d.log.Infof("metrics on http://%s/metrics", s.Address())
	}
	if a, err := d.listen(); err != nil {
		return err
	} else if a != nil {
		defer a.Close()
	}
	defer d.reloadOnHangup()()
	defer d.watch(200 * time.Millisecond)()
	d.log.Infof("%s runs", d.name)
	running, halt := context.WithCancel(context.WithoutCancel(ctx))
	defer halt()
	defer context.AfterFunc(ctx, func() { d.drain(); halt() })()
	if err := d.world.Run(running, units.Never); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	d.summary()
	if err := d.world.Audit(); err != nil {
		return fmt.Errorf("frames are unaccounted for: %w", err)
	}
	return nil
}

// snapshot is what a scrape sees.
func (d *daemon) snapshot() (s telemetry.Snapshot) {
	s.Node, s.Ports, s.Host = d.name, d.ports, d.host
	d.world.Do(func(now units.Time) {
		s.Stats = d.node.Stats(now)
		s.Pace = d.world.Pace()
		if d.sw != nil {
			b := d.sw.Buffer()
			s.Buffer, s.Scheme, s.Params, s.Watchdog, s.Deadlock = &b, d.scheme, d.params, d.sw.WatchdogConfig(), d.sw.DeadlockTime()
		}
	})
	if d.orders != nil {
		s.Flows = d.orders.counts()
	}
	s.Devices, s.LinkChanges = d.world.Devices(), d.links.counts()
	return s
}

// summary logs what went through each port.
func (d *daemon) summary() {
	st := d.node.Stats(d.world.Now())
	for i := range st.Ports {
		sent, received := st.Ports[i].Frames()
		discarded := uint64(0)
		for _, n := range st.Ports[i].Discarded() {
			discarded += n
		}
		d.log.Infof("port %s: %d frames received, %d sent, %d discarded", d.ports[i], received, sent, discarded)
	}
}
