package dataplane

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"photon/fabric"
	"photon/marking"
	"photon/units"
	"photon/wire"
)

// expired is a packet of which a router says that its time is exceeded.
func expired(from int, length int) []byte {
	b := ip(fmt.Sprintf("10.0.%d.1", from), "10.0.3.7", length)
	b[15], b[22] = 0, 1
	wire.SetIPv4Checksum(b[14:])
	return b
}

// turning is a packet whose priority is that of ICMP errors, and which leaves through the port by which it came.
func turning(id uint16) []byte {
	b := ip("10.0.0.1", "10.0.0.7", 200)
	b[15] = 48 << 2
	binary.BigEndian.PutUint16(b[18:], id)
	wire.SetIPv4Checksum(b[14:])
	return b
}

// echoRequest asks the router itself.
func echoRequest() []byte {
	b := ip("10.0.0.1", "10.0.9.1", 200)
	b[15], b[23] = 48<<2, 1
	copy(b[34:], []byte{8, 0, 0, 0})
	binary.BigEndian.PutUint16(b[36:], ^sum(b[34:]))
	wire.SetIPv4Checksum(b[14:])
	return b
}

// insistent is a congestion point that has CNPs due from the first frame on, and has one, or none, whenever it is
// asked.
type insistent struct {
	marking.CP
	due   units.Time
	notes bool
}

func (c *insistent) Dequeue(now units.Time, _ marking.Queue, _ *marking.Packet) marking.Mark {
	c.due = now
	return marking.Unchanged
}
func (c *insistent) Next() units.Time                                         { return c.due }
func (c *insistent) Poll(units.Time, marking.Queue) (f marking.Flow, ok bool) { return f, c.notes }

// A congestion point that breaks its word would be asked at the same instant for ever: the switch says so instead.
func TestCNPsThatAreDueForEver(t *testing.T) {
	for _, notes := range []bool{false, true} {
		c := config(2)
		c.CP = func(marking.Place) marking.CP { return &insistent{marking.NewNPECN(), units.Never, notes} }
		r := newRig(t, c)
		r.in(0, packet(0, 1, 26, wire.ECT0), 1000)
		r.out(1, 1)
		said := func() (said string) {
			defer func() { said = fmt.Sprint(recover()) }()
			r.out(1, 1)
			return said
		}()
		if want := "congestion point *dataplane.insistent of port 1, priority 3: "; !strings.HasPrefix(said, want) {
			t.Errorf("a notice %v: %s", notes, said)
		}
	}
}

// What a router says of a packet, or answers, leaves behind what came before that packet, and before what came after
// it, wherever in a burst it is.
func TestAnswersKeepTheirPlace(t *testing.T) {
	for what, b := range map[string][]byte{"an error": expired(0, 120), "an answer": echoRequest()} {
		for at := range 10 {
			c := routerConfig()
			c.Tail = units.MB
			c.Router.ICMP = ICMP{Rate: 1_000_000, Burst: 100, DSCP: 48}
			r := newRig(t, c)
			r.in(0, turning(0), 200) // its action is known from now on
			r.out(0, 1)
			var burst [][]byte
			for i := range uint16(10) {
				burst = append(burst, turning(i))
			}
			r.burst(0, slices.Insert(burst, at, b)...)
			out := r.out(0, 20)
			if len(out) != 11 {
				t.Fatalf("%s: %d frames leave", what, len(out))
			}
			for i, got := range out {
				if icmp := got[23] == 1; icmp != (i == at) {
					t.Errorf("%s that was frame %d of its burst: frame %d that leaves is of protocol %d", what, at, i, got[23])
				}
			}
		}
	}
}

// chatty asks for a CNM for every frame that is queued, and notes the queue lengths that it gets.
type chatty struct {
	marking.None
	resumed []int
}

func (c *chatty) Enqueue(units.Time, marking.Queue, *marking.Packet) (marking.Sample, bool) {
	return marking.Sample{QntzFb: 1}, true
}

func (c *chatty) Resume(_ units.Time, q marking.Queue) { c.resumed = append(c.resumed, q.Frames) }

// An error goes to whom it is for although frames before its packet cause notices at other ports.
func TestErrorsBesideNotices(t *testing.T) {
	c := routerConfig()
	c.Router.ICMP = ICMP{Rate: 1_000_000, Burst: 100, DSCP: 48}
	c.CP = func(marking.Place) marking.CP { return &chatty{} }
	r := newRig(t, c)
	r.in(0, packet(0, 1, 26, 0), 100)
	r.in(0, expired(0, 120), 120)
	r.out(0, 10)
	r.out(1, 10)
	r.burst(0, packet(0, 1, 26, 0), packet(0, 1, 26, 0), expired(0, 120), packet(0, 1, 26, 0))
	if n := len(r.out(1, 10)); n != 3 {
		t.Errorf("%d frames leave through port 1, want the three for it", n)
	}
	icmp := 0
	out := r.out(0, 10)
	for _, b := range out {
		if b[12] == 8 && b[23] == 1 {
			icmp++
		}
	}
	if len(out) != 4 || icmp != 1 {
		t.Errorf("%d frames leave through port 0, %d of them errors; want three notices and an error", len(out), icmp)
	}
}

// A congestion point is told at a pause's end how many frames wait that it will see, which are not those that the
// switch itself made.
func TestOwnFramesAreNotJudged(t *testing.T) {
	c := routerConfig()
	c.Router.ICMP = ICMP{Rate: 1_000_000, Burst: 100, DSCP: 26}
	var points [4]*chatty
	c.CP = func(p marking.Place) marking.CP {
		points[p.Port] = &chatty{}
		return points[p.Port]
	}
	r := newRig(t, c)
	r.in(0, pauseFrame(3, 1000), 60)
	r.in(0, expired(0, 120), 120)
	r.link(0, false) // nothing of what waited is left
	r.link(0, true)
	points[0].resumed = nil
	r.in(0, pauseFrame(3, 1000), 60)
	r.in(0, expired(0, 120), 120) // its error is of the priority that is paused
	r.in(1, packet(1, 0, 26, 0), 100)
	r.in(1, packet(1, 0, 26, 0), 100)
	if st := r.stats(0); st.QueueFrames[3] != 3 {
		t.Fatalf("%d frames wait", st.QueueFrames[3])
	}
	r.in(0, pauseFrame(3, 0), 60)
	if got := points[0].resumed; !slices.Equal(got, []int{2}) {
		t.Errorf("the congestion point is told of %v frames", got)
	}
}

// briefSolicitation asks whether the router is still there, without the link-layer address of who asks: the answer is
// 8 bytes longer. It has the traffic class of a lossless priority.
func briefSolicitation() []byte {
	b := make([]byte, wire.SolicitLen)
	wire.Solicit(b, mac(0), routerMAC, netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00:9::1"))
	b = b[:len(b)-8]
	ip := b[14:]
	wire.SetDSCP(ip, 26)
	wire.SetECN(ip, wire.ECT0)
	ip[5] -= 8
	ip[42], ip[43] = 0, 0
	binary.BigEndian.PutUint16(ip[42:], ^wire.ICMPv6Sum(ip))
	return b
}

// An error takes room in the pool that later lossless frames of its burst then do not have, and so does an answer that
// is longer than what asked for it: never is more in the pool than fits.
func TestErrorsTakeRoomInTheirTurn(t *testing.T) {
	e := expired(0, 64) // what is said of it is longer than it, and of another priority
	e[15] = 26 << 2
	wire.SetIPv4Checksum(e[14:])
	for name, e := range map[string][]byte{"errors": e, "answers": briefSolicitation()} {
		t.Run(name, func(t *testing.T) { takeRoomInTheirTurn(t, e) })
	}
}

// takeRoomInTheirTurn sends frames, of which the switch says something, among others, for pools of any size.
func takeRoomInTheirTurn(t *testing.T, e []byte) {
	const xoff = 1000
	for pool := units.Size(1000); pool < 11_000; pool += 10 {
		c := routerConfig()
		c.Router.ICMP = ICMP{Rate: 1_000_000, Burst: 100, DSCP: 48}
		c.PFC[3].XOFF, c.PFC[3].XON, c.PFC[3].Headroom, c.PFC[3].Alpha = xoff, 0, 0, 1000
		c.Buffer = c.Reserved() + pool
		r := newRig(t, c)
		b := ip("10.0.0.1", "10.0.1.7", 1000)
		for _, b := range [][]byte{b, ip("fd00::1", "fd00:1::7", 120)} { // what becomes of frames like them is known from now on
			r.in(0, b, len(b))
			r.out(1, 1)
		}
		many := slices.Repeat([][]byte{e}, 8)
		r.burst(0, slices.Concat([][]byte{b, e, e, b}, many, [][]byte{b, e, b, b}, many, [][]byte{b}, many, [][]byte{b, e, b})...)
		st, free := r.sw.Stats(r.now), r.sw.pool.Free()
		if free < 0 {
			t.Fatalf("pool of %v: %d bytes more than there are", pool, -free)
		}
		held := units.Size(0)
		for i := range st.Ports {
			for _, n := range st.Ports[i].QueueBytes {
				held += n
			}
		}
		if held -= xoff; held != pool-units.Size(free) {
			t.Errorf("pool of %v: %v of it are queued, and %d bytes are free", pool, held, free)
		}
		if n := st.Ports[0].Discards[fabric.DropHeadroom][3]; free >= 1010 && n > 0 { // alpha leaves a thousandth
			t.Errorf("pool of %v: %d frames are discarded although %d bytes are free", pool, n, free)
		}
	}
}

// A frame that gets a tag is charged with it: a burst that would just reach XOFF without is beyond it.
func TestTagsCountForXOFF(t *testing.T) {
	c := config(2)
	c.CP = nil
	c.VLANs = []VLAN{{ID: 10, Untagged: []uint16{0}, Tagged: []uint16{1}}}
	for i := range c.Static {
		c.Static[i].VLAN = 10
	}
	c.PFC[3].XOFF, c.PFC[3].XON, c.PFC[3].Headroom = 640, 0, 0
	r := newRig(t, c)
	r.in(0, packet(0, 1, 26, 0), 64)
	r.out(1, 1)
	var burst [][]byte
	for range 10 {
		burst = append(burst, packet(0, 1, 26, 0)) // 64 bytes each
	}
	r.burst(0, burst...)
	if st := r.stats(0); st.Buffered[3] != 9*68 || st.Discards[fabric.DropHeadroom][3] != 1 {
		t.Errorf("%v are charged and %d frames discarded, want 612 bytes and 1", st.Buffered[3], st.Discards[fabric.DropHeadroom][3])
	}
}

// An XON falls due when a frame that the switch made leaves the pool, and is sent at once.
func TestOwnFrameLeavesThePool(t *testing.T) {
	c := routerConfig()
	c.Router.ICMP = ICMP{Rate: 1_000_000, Burst: 100, DSCP: 48}
	c.PFC[3].XOFF, c.PFC[3].XON, c.PFC[3].Alpha, c.PFC[3].Headroom = 1000, 1000, 1, 5000
	c.Buffer = c.Reserved() + 10_000
	r := newRig(t, c)
	r.in(1, expired(1, 600), 600)
	made := int64(r.stats(1).QueueBytes[6])
	r.sendUntilPaused(0, 2)
	for {
		var st *fabric.PortStats
		if st = r.stats(0); st.Ingress.Headroom[3] == 0 {
			if raised := 1000 + r.sw.pool.Free(); int64(st.Buffered[3]) <= raised {
				t.Fatal("the XON is due before")
			} else if int64(st.Buffered[3]) <= raised+made {
				break
			}
		}
		if len(r.out(2, 1)) == 0 {
			t.Fatal("no frame waits")
		}
	}
	r.env.SetDue(0, units.Never)
	if n := len(r.out(1, 1)); n != 1 {
		t.Fatalf("%d frames leave", n)
	}
	if r.env.Due(0) > r.now {
		t.Errorf("port 0 is not woken for the XON that is due")
	}
	if r.out(0, 1); r.stats(0).Ingress.PausedNow != 0 {
		t.Error("no XON leaves")
	}
}

// A congestion point's own CNP takes, of several equal ways, that which its receiver's would.
func TestOwnCNPsTakeTheWayOfOthers(t *testing.T) {
	c := config(4)
	c.Static = []StaticEntry{{MAC: mac(9), Ports: []uint16{1, 2, 3}}}
	r := newRig(t, c)
	share := map[int]int{}
	for i := range 60 {
		flow := marking.Flow{
			SrcMAC: mac(9), DstMAC: mac(0), Src: wire.IPv4(10, 0, 1, byte(i)), Dst: wire.IPv4(10, 0, 0, 1), QP: uint32(i),
		}
		r.sw.sendCNP(r.now, &r.sw.ports[0], 3, flow)
		var where []int
		take := func() (b []byte) {
			for p := range 4 {
				for _, b = range r.out(p, 4) {
					where = append(where, p)
					return b
				}
			}
			return nil
		}
		if b := take(); b != nil {
			r.in(0, b, len(b))
			take()
		}
		if len(where) != 2 || where[0] != where[1] {
			t.Fatalf("flow %d: the switch's CNP and another's leave through %v", i, where)
		}
		share[where[0]]++
	}
	if len(share) != 3 {
		t.Errorf("CNPs leave through %v only", share)
	}
}

// A priority that was strict between two reloads begins its turns anew: it keeps nothing of before.
func TestTurnsBeginAnew(t *testing.T) {
	c := config(2)
	c.Tail, c.CP = 10*units.MB, nil
	c.Buffer = 20 * units.MB
	c.Weights = [8]int{0: 1, 1: 50}
	r := newRig(t, c)
	for range 300 {
		r.in(0, packet(0, 1, 0, 0), 1000)
		r.in(0, packet(0, 1, 8, 0), 1000)
	}
	run := func() (n int) { // of frames of priority 1, till one of priority 0 comes
		for {
			if b := r.out(1, 1); len(b) == 0 || b[0][15]>>5 == 0 {
				return n
			}
			n++
		}
	}
	run()
	first := run()
	for range first / 2 {
		r.out(1, 1)
	}
	c.Weights = [8]int{0: 1}
	r.reload(c)
	c.Weights = [8]int{0: 1, 1: 50}
	r.reload(c)
	if n := run(); n != 0 && n != first {
		t.Errorf("%d frames leave before it is another's turn, want none or the %d of a whole turn", n, first)
	}
	if n := run(); n != first {
		t.Errorf("a turn is %d frames, was %d before", n, first)
	}
	for len(r.out(1, 32)) > 0 {
	}
}
