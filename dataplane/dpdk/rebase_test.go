//go:build dpdk

package dpdk

import (
	"context"
	"testing"
	"time"

	"photon/agent"
	"photon/dataplane"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// soon is how long a test runs before the clock is set back.
const soon = 50 * units.Millisecond

// aMinute is how near to its end a clock begins that is almost full. No clock of a world gets there, for it is set back
// 79 days before; workers that wait for a core on a busy machine must not be what takes it over the end.
const aMinute = 60 * units.Second

// A world goes on when its clock has to be set back, and when its clock is almost full: flows through a switch
// of two workers lose nothing, and samplers are called as often as the time that passes says.
func TestClockIsSetBack(t *testing.T) {
	for name, c := range map[string]struct {
		begin units.Time
		laps  uint64
	}{
		"when a lap is over":        {lapAt - soon, 1},
		"shortly before 106.7 days": {units.Never - aMinute, 3},
	} {
		t.Run(name, func(t *testing.T) { setBack(t, c.begin, c.laps) })
	}
}

func setBack(t *testing.T, begin units.Time, laps uint64) {
	w := newWorld(t, Options{Workers: 2, Cores: []int{0, 0}})
	w.(*world).now = begin
	link := fabric.Link{Rate: 100 * units.Mbps, Delay: units.Millisecond}
	conf := dataplane.SwitchConfig{
		MTU: 1500, Buffer: 40 * units.MB, Tail: units.MB, Classes: dataplane.DefaultClasses(), Lossless: 1 << 3,
		Learn: true, Age: 300 * units.Second, FDBSize: 64,
	}
	conf.PFC[3] = pfc.Thresholds{XOFF: 100 * units.KB, XON: 80 * units.KB, Headroom: 16 * units.MB} // for workers that share a core, and do not get it for long
	for i := range 2 {
		conf.Ports = append(conf.Ports, dataplane.PortConfig{MAC: wire.MAC(100 + i), Link: link, Worker: i})
	}
	envs := w.NewEnvs(2)
	sw, err := dataplane.NewSwitch(conf, envs)
	if err != nil {
		t.Fatal(err)
	}
	id := w.Add("switch", sw, envs, []int{0, 1})
	var hosts [2]*agent.Host
	for i := range hosts {
		var n int
		hosts[i], n = addHost(t, w, i+1, link)
		if err := w.Connect(fabric.End{Node: n}, fabric.End{Node: id, Port: i}, link); err != nil {
			t.Fatal(err)
		}
		if _, err := hosts[i].AddFlow(begin, agent.FlowSpec{Peer: wire.IPv4(10, 0, 0, byte(2-i)), PeerMAC: wire.MAC(0x020000000002 - i), QP: 9, Limit: 40 * units.Mbps}); err != nil {
			t.Fatal(err)
		}
	}
	const every = 100 * units.Microsecond
	samples, last := units.Time(0), units.Time(0)
	w.Every(every, func(now units.Time) {
		samples++
		if now += units.Time(w.Laps()) * units.Lap; now-last != every && last != 0 {
			t.Errorf("a sample %v after the one before", now-last)
		} else {
			last = now
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, units.Never) }()
	// took is how much the hosts have received, and when.
	took := func() (bytes [2]uint64, at, passed units.Time, laps uint64) {
		w.Do(func(now units.Time) {
			for i := range hosts {
				bytes[i] = hosts[i].Received(wire.IPv4(10, 0, 0, byte(2-i)), 9).Bytes
			}
			at, laps = now, w.Laps()
			passed = now + units.Time(laps)*units.Lap - begin // which goes round as it should
		})
		return bytes, at, passed, laps
	}
	var before [2]uint64
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		bytes, at, passed, n := took()
		if passed < soon {
			before = bytes
			continue
		}
		if passed > 2*soon && bytes[0] > before[0]+100_000 && bytes[1] > before[1]+100_000 {
			if n != laps || at < 0 || at >= lapAt {
				t.Errorf("the clock was set back %d times, to %v", n, at)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v the hosts received %v, at %v %v", passed, bytes, soon, before)
		}
	}
	cancel()
	<-ended
	if last-begin != samples*every || samples < 2*soon/every {
		t.Errorf("%d samples in %v", samples, last-begin)
	}
	if err := w.Audit(); err != nil {
		t.Error(err)
	}
	for i, h := range hosts {
		st, own := sw.Stats(w.Now()), h.Stats(w.Now())
		if st.Ports[i].Discarded() != [pfc.Classes]uint64{} || own.Ports[0].Discarded() != [pfc.Classes]uint64{} || own.RPIgnored != 0 {
			t.Errorf("discards: %v, %v", st.Ports[i].Discards, own.Ports[0].Discards)
		}
		if f := h.Flow(w.Now(), 0); f.FirstBit > w.Now() || !f.Active {
			t.Errorf("flow %+v at %v", f, w.Now())
		}
		if e := sw.FDB().Entries(w.Now()); len(e) != 2 || e[i].Age > units.Second {
			t.Errorf("addresses %+v", e)
		}
	}
}
