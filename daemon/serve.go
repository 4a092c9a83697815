package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"photon/agent"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/impair"
	"photon/pfc"
	"photon/scheme"
	"photon/telemetry/metrics"
	"photon/units"
)

// hosted is the node that a daemon runs.
type hosted interface {
	fabric.Node
	Priority(port int, frame []byte) int // of a frame that comes, by its bytes; -1: none
	CopyStats(units.Time, *fabric.Stats)
}

// daemon is a node on devices that runs until it is asked to stop.
type daemon struct {
	log     *zap.SugaredLogger
	version string // of the program
	name    string
	world   dpdk.World
	node    hosted
	id      int // of the node, in its world
	sockets *sockets
	wall    wall
	series  metrics.Series
	named   atomic.Pointer[[]string] // see names
	rates   []units.Rate             // of the links as configured, by port; changed by who holds the lock of links
	scheme  string
	// lossless are the priorities with PFC, as bits.
	lossless uint8

	collector collector
	garbage   units.Size // that there may be before it is collected

	host    *agent.Host // agents only
	testbed *testbedNode
	traffic *traffic // agents that take orders only

	// Switches only.
	sw              *dataplane.Switch
	envs            []*fabric.Env
	workers         []int        // of each port
	impaired        *impair.Node // injects faults before the switch; nil: no fault was ever configured
	params          []scheme.Setting
	line            units.Rate   // of the fastest port, for which the scheme's parameters are meant
	response        units.Time   // that the headroom has room for
	gap             atomic.Int64 // between polls that it survives
	loaded          loaded
	taps            taps
	links           links
	neighbours      neighbours
	sampling        sampling
	storms          []pfc.WatchdogCounters   // when last looked at
	losses          map[queueName]lossReport // of lossless priorities
	firstLosses     firstLosses
	lost            uint64 // frames as of the last line of the log
	lossesCheckedAt time.Time

	nic *agent.NIC // agents that carry the frames of applications only
}

func newLog(o Options) *zap.SugaredLogger {
	e := zap.NewProductionEncoderConfig()
	e.EncodeTime = zapcore.ISO8601TimeEncoder
	e.EncodeLevel = zapcore.CapitalLevelEncoder
	encoder, level := zapcore.NewConsoleEncoder(e), zapcore.InfoLevel
	if o.JSON {
		encoder = zapcore.NewJSONEncoder(e)
	}
	if o.Verbose {
		level = zapcore.DebugLevel
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(o.Log)), level)).Sugar()
}

// warnOfNode logs a warning if a port's card and its worker are on two NUMA nodes.
func (d *daemon) warnOfNode(port int) {
	if s := d.world.Elsewhere(fabric.End{Node: d.id, Port: port}); s != "" {
		d.log.Warnf("port %s: %s", d.port(port), s)
	}
}

// serve runs the world until the context ends, answering scrapes, lets its
// queues run empty, and then says whether every frame is accounted for.
func (d *daemon) serve(ctx context.Context) (err error) {
	defer d.sockets.close()
	d.sockets.serve(d)
	defer d.reloadOnHangup()()
	d.collector.start(d.garbage)
	defer d.watch(200 * time.Millisecond)()
	defer d.heartbeat()()
	running, halt := context.WithCancel(context.WithoutCancel(ctx))
	defer halt()
	drained := make(chan struct{})
	still := context.AfterFunc(ctx, func() {
		defer close(drained)
		d.notifySystemd(systemd.SdNotifyStopping)
		d.drain()
		halt()
	})
	defer func() {
		if !still() { // the world may have ended by itself: who drains it must not outlive it
			<-drained
		}
	}()
	if d.collector.enabled() {
		d.world.SeldomStop()
	}
	notified := make(chan struct{})
	go func() {
		defer close(notified)
		select {
		case <-d.world.Started():
			d.started()
		case <-running.Done():
		}
	}()
	defer func() { halt(); <-notified }()
	if err := d.world.Run(running, units.Never); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	// A watcher that waited for the drain to end may be about to change the node.
	devices := d.world.Devices()
	d.world.Do(func(now units.Time) {
		d.summary(now, devices)
		err = d.world.Audit()
	})
	if err != nil {
		return fmt.Errorf("frames are unaccounted for: %w", err)
	}
	return nil
}

// started logs that frames are taken, and how many came too early.
func (d *daemon) started() {
	for _, s := range d.world.Devices() {
		if s.RxBefore > 0 {
			d.log.Infof("port %s: %d frames came before the %s polled, and were thrown away", d.port(s.Port), s.RxBefore, d.kind())
		}
	}
	d.watchLinks()             // flows wait for it
	d.watchSamples(time.Now()) // from the first frame on, and not from the first look
	d.log.Infof("%s runs", d.name)
	d.notifySystemd(systemd.SdNotifyReady)
}

// kind is what a daemon runs, in a word.
func (d *daemon) kind() string {
	if d.sw != nil {
		return "switch"
	}
	return "agent"
}

// summary logs what went through each port.
func (d *daemon) summary(now units.Time, devices []dpdk.DeviceStats) {
	st := d.node.Stats(now)
	for i := range devices {
		if name := d.port(devices[i].Port); name != "" {
			d.summarize(name, &st.Ports[devices[i].Port], &devices[i])
		}
	}
}

// summarize logs what went through a port. What its device missed came and was never received.
func (d *daemon) summarize(name string, st *fabric.PortStats, device *dpdk.DeviceStats) {
	sent, received := st.Frames()
	discarded := uint64(0)
	for _, n := range st.Discarded() {
		discarded += n
	}
	missed := ""
	if n := device.RxMissed + device.RxNoBuffer; n > 0 {
		missed = fmt.Sprintf(", %d missed", n)
	}
	d.log.Infof("port %s: %d frames received, %d sent, %d discarded%s", name, received, sent, discarded, missed)
}
