package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"photon/agent"
	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/impair"
	"photon/pfc"
	"photon/scheme"
	"photon/telemetry"
	"photon/telemetry/metrics"
	"photon/units"
	"photon/wire"
)

// node is what a daemon runs.
type node interface {
	dataplane.Node
	Priority(frame []byte) int // of a frame by its bytes; -1: none
	CopyStats(units.Time, *dataplane.Stats)
}

// daemon is a node on devices that runs until it is told to stop.
type daemon struct {
	log     *zap.SugaredLogger
	name    string
	world   dpdk.World
	node    node
	id      int // of the node, in its world
	sockets *sockets
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
	orders  *orders // agents that take orders only

	// Switches only.
	sw       *dataplane.Switch
	envs     []*dataplane.Env
	workers  []int        // of each port
	impaired *impair.Node // what stands before it; nil: nothing was ever spoilt on purpose
	params   []scheme.Setting
	response units.Time   // that the headroom has room for
	gap      atomic.Int64 // between polls that it survives
	loaded   loaded
	taps     taps
	links    links
	storms   []pfc.WatchdogCounters // when last looked at
	losses   map[queueName]told     // of lossless priorities
	lost     uint64                 // of which all were told
	looked   time.Time              // for what was lost

	nic *agent.NIC // agents that carry the frames of applications only
}

func newLog(w io.Writer) *zap.SugaredLogger {
	e := zap.NewProductionEncoderConfig()
	e.EncodeTime = zapcore.ISO8601TimeEncoder
	e.EncodeLevel = zapcore.CapitalLevelEncoder
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(e), zapcore.AddSync(w), zapcore.InfoLevel)).Sugar()
}

// openAll opens the devices of a node's ports, for frames of an MTU each; errors name the
// line of file. None is opened unless all are there to be had; if one cannot be opened all the same, those before it
// are returned. base is the address of the node's first port, if that is not among them.
func openAll(w dpdk.World, file string, ports []config.Port, mtu func(port int) int, base wire.MAC) (devices []dpdk.Device, err error) {
	for i, p := range ports {
		if err := w.Claim(p.Device.V, mtu(i)); err != nil {
			disclaim(w, ports[:i])
			return nil, bad(p.Fail(file, err))
		}
	}
	for i, p := range ports {
		spec := p.Device.V
		switch {
		case !dpdk.WantsMAC(spec):
		case base != 0:
			spec = withMAC(spec, base)
		case i > 0:
			spec = withMAC(spec, devices[0].MAC)
		}
		d, err := w.Open(spec, mtu(i))
		if err != nil {
			disclaim(w, ports[i:])
			return devices, bad(p.Fail(file, err))
		}
		if spec != p.Device.V { // it has claimed for itself
			w.Disclaim(p.Device.V)
		}
		d.Spec = p.Device.V
		devices = append(devices, d)
	}
	return devices, nil
}

// disclaim gives back what was claimed and is not opened.
func disclaim(w dpdk.World, ports []config.Port) {
	for _, p := range ports {
		w.Disclaim(p.Device.V)
	}
}

// withMAC gives a tap an address that it has again when photon is started again: DPDK
// would make one up each time, and who knows the one before would not reach the programs
// behind it until he has forgotten it. It follows from the address of the first port,
// which is nobody else's.
func withMAC(device string, first wire.MAC) string {
	h := fnv.New64a()
	fmt.Fprint(h, first, device)
	mac := wire.MAC(h.Sum64()&0xFFFF_FFFF_FFFF)&^(1<<40) | 1<<41 // of a station, and locally administered
	return fmt.Sprintf("%s,mac=%v", device, mac)
}

// warnOfNode tells the log if a port's card and its worker are on two NUMA nodes.
func (d *daemon) warnOfNode(port int) {
	if s := d.world.Elsewhere(dataplane.End{Node: d.id, Port: port}); s != "" {
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
		d.tell(systemd.SdNotifyStopping)
		d.drain()
		halt()
	})
	defer func() {
		if !still() { // the world may have ended by itself: who drains it must not outlive it
			<-drained
		}
	}()
	if d.collector.ours() {
		d.world.SeldomStop()
	}
	told := make(chan struct{})
	go func() {
		defer close(told)
		select {
		case <-d.world.Started():
			d.started()
		case <-running.Done():
		}
	}()
	defer func() { halt(); <-told }()
	if err := d.world.Run(running, units.Never); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	// A watcher that waited for the drain to end may be about to change the node.
	d.world.Do(func(now units.Time) {
		d.summary(now)
		err = d.world.Audit()
	})
	if err != nil {
		return fmt.Errorf("frames are unaccounted for: %w", err)
	}
	return nil
}

// started tells that frames are taken, and of those that came too early.
func (d *daemon) started() {
	for _, s := range d.world.Devices() {
		if s.RxBefore > 0 {
			d.log.Infof("port %s: %d frames came before the %s polled, and were thrown away", d.port(s.Port), s.RxBefore, d.kind())
		}
	}
	d.log.Infof("%s runs", d.name)
	d.tell(systemd.SdNotifyReady)
}

// kind is what a daemon runs, in a word.
func (d *daemon) kind() string {
	if d.sw != nil {
		return "switch"
	}
	return "agent"
}

// snapshot is what a scrape sees. All memory is made, and its pages fetched, before
// the workers rest for it.
func (d *daemon) snapshot() (s telemetry.Snapshot) {
	names := d.names()
	s.Node, s.Ports, s.Host, s.Rates, s.Lossless = d.name, names, d.host != nil || d.nic != nil, d.ratesInForce(), d.lossless
	s.Stats.Ports = make([]dataplane.PortStats, len(names))
	s.Polls = make([]dpdk.Polls, d.world.Workers())
	if d.sw != nil {
		s.Buffer = &dataplane.BufferState{Thresholds: make([][pfc.Classes]pfc.Thresholds, len(names)), Queues: make([]*[pfc.Classes]dataplane.QueueConfig, len(names))}
	}
	clear(s.Stats.Ports)
	clear(s.Polls)
	s.NIC = d.nic != nil
	d.world.DoBriefly(func(now units.Time) {
		s.Now, s.Laps, s.Wall, s.Scheme = now, d.world.Laps(), time.Now(), d.scheme
		d.node.CopyStats(now, &s.Stats)
		s.Pace = d.world.Pace()
		d.world.CopyPolls(s.Polls)
		if d.sw != nil {
			d.sw.CopyBuffer(s.Buffer)
			s.Params, s.Watchdog, s.Response, s.Deadlock = d.params, d.sw.WatchdogConfig(), d.response, d.sw.DeadlockTime()
		}
	})
	if d.orders != nil {
		s.Orders = d.orders.counts()
	}
	s.Survived = units.Time(d.gap.Load())
	s.Devices, s.LinkChanges = make([]dpdk.DeviceStats, len(names)), d.links.counts()
	for _, dev := range d.world.Devices() {
		if dev.Port < len(names) {
			s.Devices[dev.Port] = dev
		}
	}
	if d.sw != nil {
		s.Shut = d.links.closed(s.Devices)
	}
	return s
}

// surveySlots is how many flows are asked while the worker rests: some tens of
// microseconds.
const surveySlots = 256

// survey asks the flows of an agent what they are allowed, some at a time.
func (d *daemon) survey(top int) *telemetry.Survey {
	s := telemetry.NewSurvey(top)
	seen := make([]agent.FlowState, 0, surveySlots)
	for from := 0; from < d.host.Flows(); from += surveySlots {
		seen = seen[:0]
		d.world.DoBriefly(func(now units.Time) {
			for id := from; id < min(from+surveySlots, d.host.Flows()); id++ {
				if f := d.host.Flow(now, id); f.Active && f.Spec.Start <= now {
					seen = append(seen, f)
				}
			}
		})
		for i := range seen {
			f := &seen[i]
			s.Add(telemetry.Flow{
				Peer: f.Spec.Peer.String(), QP: f.Spec.QP, Priority: int(f.Prio), Rate: int64(f.Rate), Packets: f.Frames, Bytes: f.Bytes, Notified: f.Notified, Limited: f.Limited,
			})
		}
	}
	return s
}

// surveyNIC is survey of a NIC.
func (d *daemon) surveyNIC(top int) *telemetry.Survey {
	s := telemetry.NewSurvey(top)
	seen := make([]agent.NICFlow, 0, surveySlots)
	for from := 0; from < d.nic.Slots(); from += surveySlots {
		seen = seen[:0]
		d.world.DoBriefly(func(now units.Time) {
			for i := from; i < min(from+surveySlots, d.nic.Slots()); i++ {
				if f, ok := d.nic.Flow(now, i); ok {
					seen = append(seen, f)
				}
			}
		})
		for i := range seen {
			s.Add(flowOfNIC(&seen[i]))
		}
	}
	return s
}

// flowOfNIC is a flow of applications as it is shown.
func flowOfNIC(f *agent.NICFlow) telemetry.Flow {
	protocol := strconv.Itoa(int(f.Proto))
	switch {
	case f.RoCE:
		protocol = "roce"
	case f.Proto == wire.ProtoTCP:
		protocol = "tcp"
	case f.Proto == wire.ProtoUDP:
		protocol = "udp"
	}
	end := func(a wire.IP, port uint16) string {
		if port == 0 {
			return a.String()
		}
		return net.JoinHostPort(a.String(), strconv.Itoa(int(port)))
	}
	return telemetry.Flow{
		From: end(f.From, f.FromPort), Peer: end(f.To, f.ToPort), Protocol: protocol, QP: f.QP, Priority: int(f.Prio), Rate: int64(f.Rate), Packets: f.Frames, Bytes: f.Bytes,
		Notified: f.Notified, Limited: f.Limited, Waiting: f.Waiting,
	}
}

// summary logs what went through each port.
func (d *daemon) summary(now units.Time) {
	st := d.node.Stats(now)
	for i, name := range d.names() {
		if name != "" {
			d.summarize(name, &st.Ports[i])
		}
	}
}

func (d *daemon) summarize(name string, st *dataplane.PortStats) {
	sent, received := st.Frames()
	discarded := uint64(0)
	for _, n := range st.Discarded() {
		discarded += n
	}
	d.log.Infof("port %s: %d frames received, %d sent, %d discarded", name, received, sent, discarded)
}
