package dataplane

import (
	"reflect"
	"testing"

	"photon/marking"
	"photon/units"
	"photon/wire"
)

func TestFDBEntries(t *testing.T) {
	c := config(4)
	c.Static = []StaticEntry{{MAC: mac(9), Ports: []uint16{1, 2}}, {MAC: mac(8), Ports: []uint16{3}}}
	c.Learn, c.Age = true, 300*units.Second
	r := newRig(t, c)
	r.in(0, packet(10, 8, 0, 0), 100)
	r.now = 200 * units.Second
	r.in(1, packet(11, 8, 0, 0), 100)
	want := []FDBEntry{
		{MAC: mac(8), Ports: []uint16{3}, Static: true}, {MAC: mac(9), Ports: []uint16{1, 2}, Static: true},
		{MAC: mac(10), Ports: []uint16{0}, Age: 205 * units.Second}, {MAC: mac(11), Ports: []uint16{1}, Age: 5 * units.Second},
	}
	if got := r.sw.FDB().Entries(205 * units.Second); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	want = append(want[:2], want[3])
	want[2].Age = 200 * units.Second
	if got := r.sw.FDB().Entries(400 * units.Second); !reflect.DeepEqual(got, want) {
		t.Errorf("when 10 is too old: %+v", got)
	}
	if v := r.sw.FDB(); v.Capacity() != 128 || v.Known(205*units.Second) != 4 || v.Known(400*units.Second) != 3 {
		t.Error(v.Capacity(), v.Known(205*units.Second), v.Known(400*units.Second))
	}
}

func TestBufferState(t *testing.T) {
	c := config(2)
	c.Ports[1].Headroom = 30_000
	r := newRig(t, c)
	r.in(0, packet(0, 1, 0, 0), 700)
	r.in(0, packet(0, 1, 26, 0), 500)
	b := r.sw.Buffer()
	if b.Size != 2*units.MB || b.Reserved != 90_000 || b.Lossy != 1_910_000 || b.LossyUsed != 700 || b.Tail != 20_000 || b.Lossless != lossless {
		t.Errorf("%+v", b)
	}
	if b.Thresholds[0][3].Headroom != 20_000 || b.Thresholds[1][3].Headroom != 30_000 || b.Thresholds[0][0].XOFF != 0 {
		t.Errorf("%+v", b.Thresholds)
	}
}

// What the switch itself sends is counted where the queue is that caused it.
func TestNotificationsAreCounted(t *testing.T) {
	c := config(2)
	c.CP = func(q marking.Place) marking.CP {
		return marking.NewQCN(marking.QCNParams{SetPoint: 2 * units.KB, Weight: 2, SampleBase: 10 * units.KB}, 1)
	}
	for _, b := range [][]byte{packet(0, 1, 26, wire.ECT0), withTag(packet(0, 1, 26, wire.ECT0), 3<<13|20)} { // a tag is nothing without VLANs
		r := newRig(t, c)
		for range 15 {
			r.in(0, b, 1000)
		}
		if n := r.stats(1).CNMs[3]; n == 0 || n != uint64(len(r.out(0, 64))) {
			t.Errorf("%d CNMs counted", n)
		}
	}
	c.CP = func(q marking.Place) marking.CP {
		if q.Port == 1 {
			return &nagging{}
		}
		return marking.None{}
	}
	r := newRig(t, c)
	r.now = 3 * us
	r.out(1, 1)
	if st := r.stats(1); st.CNPs[3] != 3 || len(r.out(0, 8)) != 3 {
		t.Errorf("%d CNPs counted", st.CNPs[3])
	}
}

// nagging is a congestion point that has a CNP for host 0 every microsecond.
type nagging struct {
	marking.None
	next units.Time
}

func (n *nagging) Next() units.Time { return n.next + us }

func (n *nagging) Poll(units.Time, marking.Queue) (marking.Flow, bool) {
	n.next += us
	return marking.Flow{SrcMAC: mac(0), DstMAC: mac(1), Src: wire.IPv4(10, 0, 0, 0), Dst: wire.IPv4(10, 0, 0, 1), QP: 1}, true
}

// witness is a congestion point that writes down the flows of frames which are queued.
type witness struct {
	marking.None
	hashes []uint32
}

func (w *witness) Enqueue(_ units.Time, _ marking.Queue, p *marking.Packet) (s marking.Sample, ok bool) {
	w.hashes = append(w.hashes, p.Hash())
	return s, false
}

// A congestion point that is shown a frame of a burst is told its flow, wherever the frame came in it.
func TestFlowOfABurst(t *testing.T) {
	var at [2]witness
	c := config(2)
	c.CP = func(p marking.Place) marking.CP { return &at[p.Port] }
	r := newRig(t, c)
	for range 3 {
		at[1].hashes = nil
		var burst [][]byte
		for flow := range uint16(40) {
			burst = append(burst, with(packet(0, 1, 26, wire.ECT0), put16(34, flow)))
		}
		r.burst(0, burst...)
		if len(at[1].hashes) != len(burst) {
			t.Fatalf("%d of %d frames are shown", len(at[1].hashes), len(burst))
		}
		for i, b := range burst {
			var h wire.Header
			if !wire.Parse(b, &h) || at[1].hashes[i] != h.Hash {
				t.Errorf("frame %d is shown as of flow %#x, it is of %#x", i, at[1].hashes[i], h.Hash)
			}
		}
		for len(r.out(1, 32)) > 0 {
		}
		r.out(0, 32)
	}
}

// Of more stations than there are places for some are not learned, and that is counted for good: neither a link nor a
// reload, which make new tables, take anything from the counter.
func TestAddressesWithoutAPlaceAreCounted(t *testing.T) {
	c := config(3)
	c.Learn, c.Age, c.FDBSize = true, 300*units.Second, 1
	r := newRig(t, c)
	v := r.sw.FDB()
	station := 10
	for ; v.Known(r.now) < v.Capacity(); station++ {
		r.in(0, packet(station, 9, 0, 0), 100)
	}
	if n := r.sw.Stats(r.now).Unlearned; n != 0 {
		t.Fatalf("%d were not learned while there was a place", n)
	}
	r.in(0, packet(station, 9, 0, 0), 100)
	last := r.sw.Stats(r.now).Unlearned
	if known := v.Known(r.now); known != v.Capacity() || last == 0 {
		t.Errorf("beyond all places: %d are known, and %d were not learned", known, last)
	}
	r.link(2, false)
	r.link(2, true)
	r.reload(c)
	if n := r.sw.Stats(r.now).Unlearned; n < last {
		t.Errorf("after new tables %d were not learned, and %d before", n, last)
	}
}
