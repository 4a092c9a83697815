package daemon

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/telemetry/node"
	"photon/units"
	"photon/wire"
)

// ticking is a world in which time passes when a test says so.
type ticking struct {
	*still
	tick   func(now units.Time)
	behind units.Time
}

func (w *ticking) Behind() units.Time { return w.behind }

func (w *ticking) Every(_ units.Time, do func(now units.Time)) { w.tick = do }
func (w *ticking) Follow(units.Rebaser)                        {}

// bed is a switch that a testbed asks.
func bed(t *testing.T) (*testbedNode, *ticking) {
	x := newLinked(t, "")
	w := &ticking{still: x.world}
	x.daemon.world = w
	return &testbedNode{d: x.daemon}, w
}

// What cannot be recorded is refused, whatever its numbers are: the workers would end with a request that makes
// them take more memory than there is, or too long for samples that are past.
func TestImpossibleRecordings(t *testing.T) {
	n, w := bed(t)
	for _, c := range []node.Watch{
		{From: w.now, Every: node.WatchTick, Samples: 0},
		{From: w.now, Every: node.WatchTick, Samples: node.MostWatched},
		{From: w.now, Every: node.WatchTick, Samples: 1 << 62},
		{From: w.now, Every: node.WatchTick, Samples: math.MaxInt},
		{From: w.now, Every: node.WatchTick + 1, Samples: 1},
		{From: w.now, Every: math.MaxInt64 / node.WatchTick * node.WatchTick, Samples: 1},
		{From: w.now - units.Second, Every: node.WatchTick, Samples: 1000},
	} {
		if err := n.Watch(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
		if r := n.Recorded(); r.Names != nil {
			t.Errorf("%+v: it records %v", c, r.Names)
		}
	}
}

// A recording is known by its start, so that nobody takes that of another experiment for his own.
func TestRecordingIsKnown(t *testing.T) {
	n, w := bed(t)
	if r := n.Recorded(); r.From != 0 || r.Done {
		t.Errorf("%+v", r)
	}
	for _, from := range []units.Time{w.now, w.now + units.Second} {
		if err := n.Watch(node.Watch{From: from, Every: node.WatchTick, Samples: 3}); err != nil {
			t.Fatal(err)
		}
		if r := n.Recorded(); r.From != from || r.Done {
			t.Errorf("%+v", r)
		}
	}
	w.tick(w.now + units.Second + 3*node.WatchTick)
	if r := n.Recorded(); !r.Done || len(r.Values[0]) != 3 || r.From != w.now+units.Second {
		t.Errorf("%+v", r)
	}
}

// A node that did not poll for a while takes the samples that are due all at once, and says so.
func TestLateSamples(t *testing.T) {
	n, w := bed(t)
	if err := n.Watch(node.Watch{From: w.now, Every: node.WatchTick, Samples: 6}); err != nil {
		t.Fatal(err)
	}
	begin := w.now
	for _, c := range []struct{ ticks, behind, late units.Time }{
		{1, 0, 0}, {2, 3, 3}, {3, 2, 3}, {5, 1, 3}, {6, 7, 7}, // at the fifth the fourth comes, too
	} {
		w.behind = c.behind * node.WatchTick
		w.tick(begin + c.ticks*node.WatchTick)
		if got := n.Recorded().Late; got != c.late*node.WatchTick {
			t.Errorf("after %d ticks: %v late", c.ticks, got)
		}
	}
}

// What is recorded of an agent is what its host and the list of its flows say at the same instant, and begins with what
// they said when it was ordered. A flow that is not there is one line.
func TestRecordingsOfAnAgent(t *testing.T) {
	o := sending(t, 2)
	d, h := o.d, o.d.host
	w := &ticking{still: d.world.(*still)}
	d.world = w
	n := &testbedNode{d: d, host: h, node: o.node}
	peer := o.traffic.List(w.now, 0, 1)[0].Peer
	watch := node.Watch{
		From: w.now, Every: node.WatchTick, Samples: 3, Flows: []uint64{2, 1},
		Received: []node.PeerFlow{{From: peer, QP: 77}, {From: peer, QP: 5}},
	}
	wrong := watch
	if wrong.Flows = []uint64{1, 77}; n.Watch(wrong) == nil || n.Watch(wrong).Error() != "there is no flow 77" {
		t.Errorf("a flow that is not there: %v", n.Watch(wrong))
	}
	if err := n.Watch(watch); err != nil {
		t.Fatal(err)
	}
	says := func() map[string]int64 {
		list := o.traffic.List(w.now, 0, 2)
		say := map[string]int64{"sent": int64(h.DataSent()), "paused": int64(h.Paused())}
		for i, f := range []agent.Ordered{list[1], list[0]} {
			active := int64(0)
			if f.Stage.String() == "running" {
				active = 1
			}
			for name, v := range map[string]int64{
				"allowed": int64(f.Allowed), "sending": int64(f.Bytes),
				"notified": int64(f.Notified), "repeated": int64(f.Repeated), "active": active,
			} {
				say[fmt.Sprintf("%s.%d", name, i)] = v
			}
		}
		for i, qp := range []uint32{77, 5} {
			say[fmt.Sprintf("received.%d", i)] = int64(h.Received(peer, qp).Bytes)
		}
		return say
	}
	want := []map[string]int64{says()}
	receive := func(length int, fill func(b []byte)) {
		f, _ := w.env.Alloc(length)
		fill(w.env.Header(f))
		h.Receive(w.now, 0, []fabric.Frame{f})
	}
	head := wire.RoCE{DstMAC: o.node.Config.MAC, Src: peer, Dst: o.ip, SrcPort: 50000, TOS: o.node.Config.DataDSCP << 2}
	for i := range 3 {
		w.now += units.Second
		o.traffic.Step(w.now)
		var out [1]fabric.Frame
		for range 3 + i {
			h.Transmit(w.now, 0, out[:])
			w.now = max(w.now, min(h.Next(w.now, 0), w.now+units.Microsecond))
		}
		receive(1058, func(b []byte) { // data of another flow; of its payload nobody asks
			at := head.Encode(b, wire.BTHLen+1000+wire.ICRCLen)
			wire.BTH(b[at:]).Encode(wire.OpSendOnly, false, 5, false, uint32(100*i))
		})
		if i == 1 {
			receive(cnp.MaxLen, func(b []byte) {
				cnp.Encode(b, head, o.traffic.List(w.now, 0, 1)[0].QP, cnp.Notice{})
			})
			if _, err := o.traffic.Stop(w.now, 1); err != nil {
				t.Fatal(err)
			}
		}
		if i == 2 {
			receive(pfc.FrameLen, func(b []byte) { (&pfc.Frame{Enable: 8, Quanta: [8]uint16{3: 65535}}).Encode(b, 9) })
		}
		w.tick(watch.From + units.Time(i+1)*node.WatchTick) // first: the list looks at what it shows
		want = append(want, says())
	}
	r := n.Recorded()
	if !r.Done || len(r.Names) != len(want[0]) || want[3]["sent"] <= want[1]["sent"] || want[3]["paused"] != 8 ||
		want[3]["received.1"] == 0 || want[2]["active.1"] != 0 || want[3]["sending.0"] == want[3]["sending.1"] {
		t.Fatalf("%v of %v", r.Names, want)
	}
	for at, name := range r.Names {
		got := append([]int64{r.Begin[at]}, r.Values[at]...)
		for i := range want {
			if v, there := want[i][name]; !there || got[i] != v {
				t.Errorf("%s, sample %d: %d, not %d", name, i, got[i], v)
			}
		}
	}
}

// What a testbed says of its network, a node's scheme is made for: a link that telemetry cannot name is refused by
// those, too, that are not at it, as in virtual time. Who says nothing gets a scheme for the node's own links.
func TestSchemeForATestbedsNetwork(t *testing.T) {
	sw, _ := bed(t)
	o := sending(t, 0)
	host := &testbedNode{d: o.d, host: o.d.host, node: o.node}
	odd := node.Network{Line: 10 * units.Gbps, Rates: []units.Rate{10 * units.Gbps, 30 * units.Gbps}, Hops: 2}
	named := odd
	named.Rates = odd.Rates[:1]
	for _, c := range []struct {
		network *node.Network
		want    string
	}{{&odd, "30Gbps"}, {&named, ""}, {nil, ""}} {
		for name, n := range map[string]*testbedNode{"switch": sw, "agent": host} {
			err := n.SetScheme(node.Scheme{Name: "hpcc", Network: c.network})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %+v: %v", name, c.network, err)
			}
		}
	}
	for _, wrong := range []node.Network{
		{}, {Line: -units.Gbps}, {Line: units.Gbps, Hops: -1}, {Line: units.Gbps, RTT: -1},
	} {
		if sw.SetScheme(node.Scheme{Name: "pcn", Network: &wrong}) == nil {
			t.Errorf("%+v is taken for a network", wrong)
		}
	}
	slow := named
	slow.Line = 50 * units.Mbps // less than DCQCN's least rate, which is for the hosts' lines
	if err := sw.SetScheme(node.Scheme{Name: "dcqcn", Network: &slow}); err == nil {
		t.Error("a switch goes by its fastest port, where the hosts are slower")
	}
}

// A switch takes what a testbed says of priorities and flows with the scheme, and forgets it with the next.
func TestSchemeOfATestbed(t *testing.T) {
	n, _ := bed(t)
	shares := []node.Share{
		{From: wire.IPv4(10, 0, 0, 1), To: wire.IPv4(10, 0, 0, 9), QP: 7, Weight: 2.5},
		{From: wire.IPv4(10, 0, 0, 2), To: wire.IPv4(10, 0, 0, 9), QP: 1<<24 - 1, Weight: 1, Cap: units.Mbps},
	}
	if err := n.SetScheme(node.Scheme{Name: "af-qcn", Priorities: []int{0, 3}, Shares: shares}); err != nil {
		t.Fatal(err)
	}
	now, err := n.d.loaded.conf.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	one := func(last byte) netip.Prefix { return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, last}), 32) }
	want := []marking.ShareRule{
		{From: one(1), To: one(9), QP: 7, Share: marking.Share{Weight: 2.5}},
		{From: one(2), To: one(9), QP: 1<<24 - 1, Share: marking.Share{Weight: 1, Max: units.Mbps}},
	}
	if !slices.Equal(now.Shares, want) || n.d.sw.Buffer().Judged != 1<<0|1<<3 {
		t.Errorf("%+v, not %+v; the scheme is in %08b", now.Shares, want, n.d.sw.Buffer().Judged)
	}
	if err := n.SetScheme(node.Scheme{Name: "pcn"}); err != nil {
		t.Fatal(err)
	}
	if now, err = n.d.loaded.conf.Resolve(nil); err != nil || now.Shares != nil || n.d.sw.Buffer().Judged != 1<<3 {
		t.Errorf("%v, %+v; the scheme is in %08b", err, now.Shares, n.d.sw.Buffer().Judged)
	}
	if err := n.SetScheme(node.Scheme{Name: "pcn", Shares: shares}); err == nil {
		t.Error("pcn has shares")
	}
}
