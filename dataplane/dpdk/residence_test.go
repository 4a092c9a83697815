//go:build dpdk

package dpdk

import (
	"context"
	"testing"
	"time"

	"photon/agent"
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// holder sends on what comes to one port through the other, after a time that is each direction's.
type holder struct {
	env  *fabric.Env
	hold [2]units.Time // by the port that it leaves through
	most int           // that wait for a port; 0: any number
	wait [2]fabric.Flight
}

func (h *holder) Receive(now units.Time, port int, burst []fabric.Frame) {
	out := 1 - port
	for _, f := range burst {
		if h.most > 0 && h.wait[out].Len() >= h.most {
			h.env.Free(f)
			continue
		}
		f.In = uint16(port)
		h.wait[out].Push(f, now+h.hold[out])
	}
	h.env.Wake(out, h.wait[out].Next())
}

func (h *holder) Transmit(now units.Time, port int, burst []fabric.Frame) (n int) {
	for n < len(burst) && h.wait[port].Next() <= now {
		burst[n] = h.wait[port].Pop()
		n++
	}
	return n
}

func (h *holder) Next(now units.Time, port int) units.Time { return max(now, h.wait[port].Next()) }
func (h *holder) Stats(units.Time) (s fabric.Stats)        { return s }
func (h *holder) Audit() error                             { return nil }
func (h *holder) Close() {
	for i := range h.wait {
		for h.wait[i].Len() > 0 {
			h.env.Free(h.wait[i].Pop())
		}
	}
}

// Of frames that a node keeps for 200 us none is said to have been there for less, and those that it sends at once have
// a time, too; with one worker and with ports of two.
func TestResidence(t *testing.T) {
	w := newWorld(t, Options{Dilation: 1})
	link := fabric.Link{Rate: rate, Delay: units.Microsecond}
	a, na := addHost(t, w, 1, link)
	_, nb := addHost(t, w, 2, link)
	envs := w.NewEnvs(2)
	h := &holder{env: envs[0], hold: [2]units.Time{1: 200 * units.Microsecond}}
	id := w.Add("holder", h, envs, []int{0, 0})
	w.TimeFrames(id)
	for port, host := range []int{na, nb} {
		if err := w.Connect(fabric.End{Node: host}, fabric.End{Node: id, Port: port}, link); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.AddFlow(0, agent.FlowSpec{Peer: wire.IPv4(10, 0, 0, 2), PeerMAC: 0x020000000002, QP: 9, Size: 8 * units.MB}); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(context.Background(), 100*units.Millisecond); err != nil {
		t.Fatal(err)
	}
	var all [2]Residence
	w.CopyResidences(id, all[:])
	var count [2]uint64
	for i := range all {
		for bucket, n := range all[i].Counts {
			count[i] += n
			if i == 1 && n > 0 && bucket < GapBounds && GapBound(bucket) < 200*units.Microsecond {
				t.Errorf("%d frames that were kept for 200 us are said to have been there for %v at most", n, GapBound(bucket))
			}
		}
	}
	if count[0] == 0 || count[1] == 0 || all[1].Time < time.Duration(count[1])*200*time.Microsecond || all[0].Time <= 0 {
		t.Errorf("%v frames were followed, in all for %v and %v", count, all[0].Time, all[1].Time)
	}
}

// A port that is added while the world runs has its frames' times, too.
func TestResidenceOfAddedPort(t *testing.T) {
	w := newWorld(t, Options{})
	envs := w.NewEnvs(2)
	// What waits for a port that is not there yet must not have all of the memory, or the new port receives nothing.
	id := w.Add("holder", &holder{env: envs[0], most: 256}, envs, []int{0, 0})
	w.TimeFrames(id)
	open := func(spec string) Device {
		d, err := w.Open(spec, 1500)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if err := w.Attach(fabric.End{Node: id}, open("net_null4"), fabric.Link{}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, units.Never) }()
	<-w.Started()
	added := open("net_null5")
	w.Do(func(units.Time) {}) // frames for a port that is not there wait
	if err := w.Plug(fabric.End{Node: id, Port: 1}, 0, added, fabric.Link{}); err != nil {
		t.Fatal(err)
	}
	var all [2]Residence
	for late := time.Now().Add(time.Minute); (all[0].Time == 0 || all[1].Time == 0) && time.Now().Before(late); time.Sleep(time.Millisecond) {
		w.Do(func(units.Time) { w.CopyResidences(id, all[:]) })
	}
	stop()
	<-ended
	if all[0].Time == 0 || all[1].Time == 0 {
		t.Errorf("followed for %v and %v in a minute", all[0].Time, all[1].Time)
	}
}
