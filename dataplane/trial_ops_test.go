package dataplane_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"photon/dataplane"
	"photon/fabric"
	"photon/marking"
	"photon/units"
)

// op is a thing that happens to a switch: one of these, after some time.
type op struct {
	after  units.Time
	port   int
	frames []arrival // that arrive,
	burst  bool      // together,
	drain  bool      // and all ports send what there is then
	room   int       // for frames that the port sends
	reload *dataplane.SwitchConfig
	link   *dataplane.LinkState
	exits  []exit // of all ports, for what arrives
	queue  bool   // the exits' Env.Queue
	clear  bool   // watermarks of the port begin anew
}

type arrival struct {
	bytes  []byte
	off    int // where the frame begins in its place; -1: where new ones do
	digest bool
}

// exit is a port's way past its queues.
type exit struct {
	frames        int
	free, perByte units.Time
}

func (o *op) String() string {
	s := fmt.Sprintf("after %v ", o.after)
	switch {
	case o.reload != nil:
		return s + "reload"
	case o.clear:
		return s + fmt.Sprintf("the watermarks of port %d are cleared", o.port)
	case o.link != nil:
		return s + fmt.Sprintf("the link of port %d is %+v", o.port, *o.link)
	case o.frames == nil:
		return s + fmt.Sprintf("port %d has room for %d", o.port, o.room)
	}
	s += fmt.Sprintf("port %d receives, burst %v, drain %v, exits %v, queue %v", o.port, o.burst, o.drain, o.exits, o.queue)
	for _, a := range o.frames {
		s += fmt.Sprintf("\n    %v, at %d, digest %v\n        %x", describe(a.bytes), a.off, a.digest, bytes.TrimRight(a.bytes, "\x00"))
	}
	return s
}

// clone is a configuration whose ports are its own.
func clone(c dataplane.SwitchConfig) dataplane.SwitchConfig {
	c.Ports = slices.Clone(c.Ports)
	return c
}

// samples reports whether congestion points send notices when frames are queued.
func samples(c *dataplane.SwitchConfig) bool {
	_, ok := c.CP(marking.Place{Rate: units.Gbps}).(marking.Sampler)
	return ok
}

// renew makes a scout for the configuration and the links of now.
func (x *trial) renew() {
	if x.scout != nil {
		x.scout.Close()
		x.bold.Close()
	}
	c := clone(x.config)
	c.CP, c.Lossless, c.Headroom, c.Buffer, c.Tail, c.Share, c.MTU = nil, 0, 0, units.GB, units.GB, 0, 2000
	c.Router.ICMP = dataplane.ICMP{}
	c.Router.Routes = slices.Clone(c.Router.Routes)
	for i := range c.Router.Routes {
		r := &c.Router.Routes[i]
		r.Via = slices.Clone(r.Via)
		for j := range r.Via { // it says which way, not how long a frame may be there
			r.Via[j].MTU = 0
		}
	}
	for i := range c.Ports {
		p := &c.Ports[i]
		p.Worker, p.Flood, p.Queues, p.Shaper = 0, dataplane.FloodLimits{}, [8]dataplane.QueueConfig{}, dataplane.Shaper{}
		p.Lossless, p.Pause, p.Asymmetric, p.MTU = nil, false, false, 0
		p.LossyLimit, p.LossyAlpha = 0, 0
	}
	x.scouts = fabric.NewEnv(newSlots(512, 11).pool(128), len(c.Ports))
	x.scout, x.bold = x.newScout(c), x.newScout(c)
	for i, p := range x.ref.ports {
		if p.down {
			setLink(x, x.scout, 0, i, dataplane.LinkState{})
		}
	}
	x.choices = map[string]dataplane.NextHop{}
}

func (x *trial) newScout(c dataplane.SwitchConfig) *dataplane.Switch {
	sw, err := dataplane.NewSwitch(clone(c), []*fabric.Env{x.scouts})
	if err != nil {
		x.Fatal(err)
	}
	return sw
}

type fatal interface{ Fatal(...any) }

func setLink(t fatal, sw *dataplane.Switch, now units.Time, port int, s dataplane.LinkState) {
	ch, err := sw.PrepareLink(port, s)
	if err != nil {
		t.Fatal(err)
	}
	sw.SetLink(now, ch)
}

// reload gives both another configuration, or has it refused if the buffer is too small for the links as they are.
func (x *trial) reload(c dataplane.SwitchConfig) {
	ch, err := x.sw.Prepare(clone(c))
	next := newReference(clone(c))
	for i, p := range next.ports {
		p.room = x.ref.ports[i].room
	}
	if next.reserved() > c.Buffer {
		if !errors.Is(err, dataplane.ErrBuffer) {
			x.fail("a buffer of %v is taken, and %v are reserved: %v", c.Buffer, next.reserved(), err)
		}
		return
	}
	if err != nil {
		x.Fatal(err)
	}
	x.sw.Apply(x.now, ch)
	x.poll()
	x.ref.reload(x.now, clone(c))
	if c.CP == nil {
		c.CP = x.config.CP
	}
	x.config = c
	x.renew()
}

// changed says what differs between two configurations.
func changed(a, b dataplane.SwitchConfig) (s string) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if was, is := x.Field(i).Interface(), y.Field(i).Interface(); x.Field(i).Kind() != reflect.Func && !reflect.DeepEqual(was, is) {
			text := fmt.Sprintf("%+v", is)
			for _, nothing := range []string{" Frames:0", " Rate:0bps", " Burst:0B", " Alpha:0", " Headroom:0B", " Worker:0", " Delay:0ps", " Overhead:0", "{Frames:0 Rate:0bps Burst:0B}"} {
				text = strings.ReplaceAll(text, nothing, "")
			}
			s += fmt.Sprintf("\n    %s: %s", x.Type().Field(i).Name, text)
		}
	}
	return s
}

// link changes a link of both.
func (x *trial) link(port int, s dataplane.LinkState) {
	ch, err := x.sw.PrepareLink(port, s)
	if err != nil {
		return // it needs more than the buffer has
	}
	x.sw.SetLink(x.now, ch)
	x.poll()
	x.ref.link(x.now, port, s)
	x.renew()
}
