package sim

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"photon/dataplane"
	"photon/fabric"
	"photon/units"
)

// A sender at the rate of the link behind a switch: what arrives keeps to the shaper of its queue and of its port, whatever
// rate, burst and frames, and no time that the shaper gives is lost.
func TestShapersGiveTheirRate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		length := rapid.IntRange(80, 1514).Draw(rt, "length")
		shaper := func(name string) dataplane.Shaper {
			return dataplane.Shaper{Rate: units.Rate(rapid.Int64Range(5e8, 9e9).Draw(rt, name)), Burst: units.Size(rapid.IntRange(1546, 20_000).Draw(rt, "burst"))}
		}
		queue, port := shaper("queue"), shaper("port")
		rate, more := min(queue.Rate, port.Rate), int(max(queue.Burst, port.Burst))/length // what the slower had saved may last for long
		switch rapid.IntRange(0, 2).Draw(rt, "which") {
		case 0:
			port, rate, more = dataplane.Shaper{}, queue.Rate, 0
		case 1:
			queue, rate, more = dataplane.Shaper{}, port.Rate, 0
		}
		cable := fabric.Link{Rate: 10 * units.Gbps, Delay: units.Microsecond}
		w := New()
		c := dataplane.SwitchConfig{Buffer: 4 * units.MB, Tail: 30_000, MTU: 1500, Classes: dataplane.DefaultClasses(), FDBSize: 16}
		c.Static = []dataplane.StaticEntry{{MAC: mac(0), Ports: []uint16{0}}}
		for i := range 2 {
			c.Ports = append(c.Ports, dataplane.PortConfig{MAC: mac(100 + i), Link: cable})
		}
		c.Ports[0].Shaper, c.Ports[0].Queues[0].Shaper = port, queue
		env := w.NewEnvs(2)
		sw, err := dataplane.NewSwitch(c, env)
		if err != nil {
			t.Fatal(err)
		}
		const frames = 300
		each := rate.Serialize(units.Size(cable.WireBytes(length)))
		warm := max(units.Millisecond, 50*each) // by then the burst has gone
		var hosts []*blaster
		for i := range 2 {
			e := w.NewEnvs(1)
			hosts = append(hosts, &blaster{env: e[0], link: cable, from: warm, length: i * length})
			w.Add("H", hosts[i], e, []int{0})
		}
		w.Add("S", sw, env, make([]int, 2))
		for i := range 2 {
			if err := w.Connect(end(i, 0), end(2, i), cable); err != nil {
				t.Fatal(err)
			}
		}
		hosts[1].env.Wake(0, 0)
		if err := w.Run(context.Background(), warm+frames*each); err != nil {
			t.Fatal(err)
		}
		if err := sw.Audit(); err != nil {
			rt.Error(err)
		}
		n := 0
		for _, of := range hosts[0].got {
			n += of
		}
		if n < frames-2 || n > frames+2+more {
			rt.Errorf("%d frames of %d bytes arrive in the time of %d at %v (queue %+v, port %+v)", n, length, frames, rate, queue, port)
		}
	})
}
