package accept

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"photon/config"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// Refusal is an error of the plan or of the machine: nothing was sent.
type Refusal struct{ error }

func (r Refusal) Unwrap() error { return r.error }

// bench is a station on some ports, at work.
type bench struct {
	*station
	world   dpdk.World
	id      int // the station's, in it
	devices []dpdk.Device
	late    time.Duration // no frame comes later than that after the one before
	end     func()
}

const (
	mtu = 1500
	// patience is how long a link may take to come up, and a process to answer.
	patience = 60 * time.Second
	// patient is how long a frame may take to arrive, in addition to the time between polls.
	patient = 3 * time.Second
	frames  = 32768 // frame buffers of a station
)

// options are those of a station's world.
func (p *Plan) options(specs []string) dpdk.Options {
	o := dpdk.Options{
		Cores:     []int{p.peerCore()},
		Hugepages: p.huge(),
		Frames:    frames,
		FrameSize: dpdk.FrameSize(mtu),
		Sleep:     p.DPDK.Sleep.Or(p.sw.DPDK.Sleep.V),
		Gap:       p.response(),
	}
	o.PCI = slices.DeleteFunc(slices.Clone(specs), func(s string) bool { return !dpdk.IsPCI(s) })
	return o
}

// rate is that of a port's link, by what the device says.
func (p *Plan) rate(spec string, device units.Rate) units.Rate {
	if said := p.said(spec); said > 0 {
		return said
	}
	if device > 0 {
		return device
	}
	return 10 * units.Gbps
}

// open has a station on the devices. All of them are there, or it is an error.
func (p *Plan) open(ctx context.Context, specs []string) (b *bench, err error) {
	if !dpdk.Available {
		return nil, Refusal{dpdk.ErrNotBuilt}
	}
	w, err := dpdk.New(p.options(specs))
	if err != nil {
		return nil, Refusal{err}
	}
	b = &bench{world: w, station: &station{}, late: patient + 4*p.response().Duration()}
	defer func() {
		if err != nil {
			_ = w.Close() // err says more
		}
	}()
	for _, spec := range specs {
		if err := w.Claim(spec, mtu); err != nil {
			return nil, Refusal{p.named(spec, err)}
		}
	}
	for _, spec := range specs {
		d, err := w.Open(spec, mtu)
		if err != nil {
			return nil, Refusal{p.named(spec, err)}
		}
		b.devices = append(b.devices, d)
	}
	envs := w.NewEnvs(len(specs))
	b.env = envs[0]
	for _, d := range b.devices {
		rate := p.rate(d.Spec, d.Rate)
		b.ports = append(b.ports, &port{mac: d.MAC, rate: rate, card: rate, prio: lossless})
	}
	b.id = w.Add("station", b.station, envs, make([]int, len(specs)))
	for i, d := range b.devices {
		if err := w.Attach(fabric.End{Node: b.id, Port: i}, d, fabric.Link{Rate: b.ports[i].rate}); err != nil {
			return nil, Refusal{p.named(specs[i], err)}
		}
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	var failed error
	go func() { failed = w.Run(running, units.Never); close(ended) }()
	b.end = func() {
		stop()
		<-ended
		_ = w.Close()
	}
	select {
	case <-w.Started():
	case <-ended:
		stop()
		return nil, fmt.Errorf("the station does not run: %w", failed)
	}
	return b, nil
}

// named says in which line of the plan a device is.
func (p *Plan) named(spec string, err error) error {
	for _, c := range p.Cables {
		for _, v := range []config.Value[string]{c.Switch, c.Peer} {
			if v.V == spec {
				return &config.Error{File: p.file, Line: v.Line, Err: err}
			}
		}
	}
	return err
}

// up waits until all links are up, and returns what the devices count. The links have the rates that the devices tell then.
func (b *bench) up(ctx context.Context, p *Plan) (stats []dpdk.DeviceStats) {
	_ = eventually(ctx, func() bool {
		stats = b.world.Devices()
		return !slices.ContainsFunc(stats, func(s dpdk.DeviceStats) bool { return !s.LinkUp })
	})
	b.betweenPolls(func(units.Time) {
		for i, s := range stats {
			q := b.ports[i]
			q.rate = p.rate(b.devices[i].Spec, s.Rate)
			q.card = max(q.rate, s.Rate)
			b.world.SetRate(fabric.End{Node: b.id, Port: i}, q.rate)
		}
	})
	return stats
}

// saveCounters writes all that the cards count to a file of the run.
func (b *bench) saveCounters(dir, when string) error {
	all := map[string]map[string]uint64{}
	for i, d := range b.devices {
		all[d.Spec] = b.world.Counters(fabric.End{Node: b.id, Port: i})
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "cards-"+when+".json"), append(text, '\n'), 0o644)
}

// betweenPolls calls f between two polls, to read the station or change what it does. Afterwards all ports are served at once.
func (b *bench) betweenPolls(f func(now units.Time)) {
	b.world.Do(func(now units.Time) {
		f(now)
		for i := range b.ports {
			b.env.Wake(i, now)
		}
	})
}

// send has a port send streams instead of those it has.
func (b *bench) send(at int, streams ...*stream) {
	b.betweenPolls(func(units.Time) { b.ports[at].streams, b.ports[at].nextStream = streams, 0 })
}

// pausePeer has a port stop its peer by a frame that it repeats.
func (b *bench) pausePeer(at int, with *pfc.Frame) {
	b.betweenPolls(func(units.Time) {
		p := b.ports[at]
		p.begin()
		p.again, p.repeat = 0, with
	})
}

// begin forgets what came of an earlier pause.
func (p *port) begin() { p.after, p.since, p.longestRest = [pfc.Classes]arrived{}, 0, interval{} }

// pauseOnce has a port stop its peer by one frame.
func (b *bench) pauseOnce(at int, with *pfc.Frame) {
	b.betweenPolls(func(units.Time) {
		p := b.ports[at]
		p.begin()
		p.control = append(p.control, with)
	})
}

// release ends that with another frame, and returns the port as it was until then.
func (b *bench) release(at int, with *pfc.Frame) (was port) {
	b.betweenPolls(func(units.Time) {
		p := b.ports[at]
		was = *p
		p.repeat, p.since = nil, 0
		p.control = append(p.control, with)
	})
	return was
}

// arrivedAt is what a port has got of a stream so far.
func (b *bench) arrivedAt(at, id int) (a arrived) {
	b.world.Do(func(units.Time) { a = b.ports[at].got[id] })
	return a
}

// forget has all ports forget what came of a stream, and what was to come. None of it may be on its way.
func (b *bench) forget(ids ...int) {
	b.betweenPolls(func(units.Time) {
		for _, q := range b.ports {
			for _, id := range ids {
				q.got[id], q.wanted[id] = arrived{}, nil
			}
		}
	})
}

// quiet waits until n frames of a stream arrived, or none has for a while, and returns what did.
func (b *bench) quiet(ctx context.Context, at, id int, n uint64) (a arrived) {
	last, since := uint64(0), time.Now()
	_ = eventually(ctx, func() bool {
		if a = b.arrivedAt(at, id); a.n != last {
			last, since = a.n, time.Now()
		}
		return a.n >= n || time.Since(since) > b.late
	})
	return a
}

// behind has a port send a frame, and reports whether something holds by the time that this has arrived: what was said
// before it was received then.
func (b *bench) behind(ctx context.Context, from, to int, holds func() bool) (yes bool) {
	n := b.arrivedAt(to, learnStream).n
	b.send(from, &stream{frame: template(b.ports[from].mac, b.ports[to].mac, learnStream, 0, false, 128), left: 1})
	_ = within(ctx, b.late, func() bool {
		arrived := b.arrivedAt(to, learnStream).n > n
		yes = holds()
		return yes || arrived
	})
	b.send(from)
	return yes || holds()
}

// eventually waits for something, as long as patience goes.
func eventually(ctx context.Context, ok func() bool) error { return within(ctx, patience, ok) }

// within waits for something no longer than that.
func within(ctx context.Context, most time.Duration, ok func() bool) error {
	for deadline := time.Now().Add(most); !ok(); {
		if err := wait(ctx, 10*time.Millisecond); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %v", most)
		}
	}
	return nil
}

// wait returns after d, or at once with the error of a context that is done.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
