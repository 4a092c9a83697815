package dataplane

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/lldp"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

const ms = units.Millisecond

func guarded(ports int, a pfc.Action) SwitchConfig {
	c := config(ports)
	c.Watchdog = pfc.WatchdogConfig{Detect: 10 * ms, Restore: 5 * ms, Action: a}
	return c
}

// storm has the peer of port 1 pause it until the watchdog barks, and calls it when the port asked for it.
func storm(r *rig) {
	r.t.Helper()
	from := r.now
	for ; r.now < from+10*ms; r.now += 2 * ms {
		r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
		r.out(1, 8)
	}
	if next := min(r.env.Due(1), r.sw.Next(r.now-1, 1)); next > from+10*ms {
		r.t.Fatalf("port 1 wants to be called at %v, the storm is at %v", next, from+10*ms)
	}
	r.now = from + 10*ms
}

// A peer that pauses for ever does not take the switch with it: the others'
// frames pass again, and none of theirs is lost.
func TestStormIsDropped(t *testing.T) {
	r := newRig(t, guarded(3, pfc.Drop))
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	for range 30 { // more than XOFF, less than the headroom
		r.in(0, packet(0, 1, 26, 0), 1000)
	}
	if len(r.out(0, 4)) != 1 {
		t.Fatal("host 0 is not paused")
	}
	r.in(1, packet(1, 0, 26, 0), 1000) // in the other direction nothing is wrong
	storm(r)
	r.out(1, 8)
	if st := r.stats(1); st.Discards[fabric.DropStorm][3] != 30 || st.QueueBytes[3] != 0 || st.Watchdog.Storm != lossless || st.Watchdog.Storms[3] != 1 {
		t.Fatalf("%+v", st.Watchdog)
	}
	if st := r.stats(0); st.Buffered[3] != 0 {
		t.Errorf("%v are held for port 0", st.Buffered[3])
	}
	if r.env.Due(0) > r.now {
		t.Error("XON does not wake port 0")
	}
	var f pfc.Frame
	if b := r.out(0, 4); len(b) != 2 || f.Decode(b[0]) != nil || f.Quanta[3] != 0 {
		t.Errorf("%d frames at port 0, %+v", len(b), f)
	}
	for range 100 { // several times what the buffer holds
		r.in(0, packet(0, 1, 26, 0), 1000)
		r.in(0, packet(0, 2, 26, 0), 1000)
		r.in(0, packet(0, 1, 0, 0), 100) // other priorities of the port go on
		if len(r.out(2, 8)) != 1 || len(r.out(1, 8)) != 1 {
			t.Fatal("others wait for the storm")
		}
	}
	if n, others := r.stats(1).Discards[fabric.DropStorm][3], r.stats(0); n != 130 || others.Discarded() != [8]uint64{} {
		t.Errorf("%d frames dropped", n)
	}
	// XON, and 5 ms without a pause: frames pass again.
	r.in(1, pauseFrame(3, 0), 60)
	r.in(0, packet(0, 1, 26, 0), 1000)
	if len(r.out(1, 8)) != 0 {
		t.Error("restored at once")
	}
	if next := r.sw.Next(r.now, 1); next != r.now+5*ms {
		t.Errorf("restoration at %v", next)
	}
	r.now += 5 * ms
	r.in(0, packet(0, 1, 26, 0), 1000)
	if st := r.stats(1); len(r.out(1, 8)) != 1 || st.Watchdog.Restored[3] != 1 || st.Watchdog.Storm != 0 {
		t.Errorf("%+v", st.Watchdog)
	}
}

// resumption counts how often a congestion point is told that its queue may send again.
type resumption struct {
	marking.None
	resumptions int
}

func (r *resumption) Resume(units.Time, marking.Queue) { r.resumptions++ }

func TestStormIsForwarded(t *testing.T) {
	c := guarded(2, pfc.Forward)
	points := map[int]*resumption{}
	c.CP = func(q marking.Place) marking.CP {
		points[q.Port] = &resumption{}
		return points[q.Port]
	}
	r := newRig(t, c)
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	r.in(0, packet(0, 1, 26, 0), 1000)
	storm(r)
	if len(r.out(1, 8)) != 1 {
		t.Fatal("the pause is obeyed")
	}
	if points[1].resumptions != 1 || points[0].resumptions != 0 {
		t.Errorf("the congestion points are told %d and %d times that their queues may send", points[0].resumptions, points[1].resumptions)
	}
	r.env.SetDue(1, units.Never)
	r.in(0, packet(0, 1, 26, 0), 1000)
	if r.env.Due(1) > r.now || r.sw.Next(r.now, 1) > r.now || len(r.out(1, 8)) != 1 {
		t.Error("the pause is obeyed by later frames")
	}
	if st := r.stats(1); st.Discarded() != [8]uint64{} || st.Watchdog.Storms[3] != 1 {
		t.Errorf("%+v", st.Watchdog)
	}
}

func TestStormIsTold(t *testing.T) {
	r := newRig(t, guarded(2, pfc.Alert))
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	r.in(0, packet(0, 1, 26, 0), 1000)
	storm(r)
	if st := r.stats(1); len(r.out(1, 8)) != 0 || r.stats(1).Watchdog.Storms[3] != 1 || st.Discarded() != [8]uint64{} {
		t.Errorf("%+v", st.Watchdog)
	}
}

// Storms that come and go in any order: every frame is accounted for, and the
// port is called when its watchdog needs it.
func TestConservationInStorms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ports = 3
		r := &rig{env: fabric.NewEnv(fabric.NewHeaderPool(), ports)}
		c := guarded(ports, pfc.Action(rapid.IntRange(0, 3).Draw(t, "action")))
		c.Watchdog.Detect, c.Watchdog.Restore = 4*us, 2*us
		var err error
		if r.sw, err = NewSwitch(c, []*fabric.Env{r.env}); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			r.now += units.Time(rapid.Int64Range(0, int64(2*us)).Draw(t, "dt"))
			p := rapid.IntRange(0, ports-1).Draw(t, "port")
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				r.in(p, pauseFrame(3, rapid.SampledFrom([]uint16{0, 40, 400}).Draw(t, "quanta")), 60)
			case 2, 3, 4:
				r.in(p, packet(p, rapid.IntRange(0, ports).Draw(t, "to"), rapid.SampledFrom([]uint8{0, 26}).Draw(t, "dscp"), wire.ECT0), 500)
			default:
				r.out(p, 2)
			}
			if err := r.sw.Audit(); err != nil {
				t.Fatal(err)
			}
			for i := range ports {
				sp := &r.sw.ports[i]
				if sp.watchdog.Dropping() != 0 && sp.queues[3].frames != 0 {
					t.Fatal("a queue in a storm holds frames")
				}
				if due := min(r.env.Due(i), r.sw.Next(r.now, i)); sp.watchdog.Next() > r.now && due > sp.watchdog.Next() {
					t.Fatalf("port %d is called at %v, its watchdog at %v", i, due, sp.watchdog.Next())
				}
			}
		}
	})
}

// With drop_both nothing of the priority is taken from the peer that storms either, until it is restored; its other
// priorities pass, and its pauses count.
func TestWatchdogDropsBoth(t *testing.T) {
	r := newRig(t, guarded(3, pfc.DropBoth))
	r.in(0, pauseFrame(3, pfc.MaxQuanta), 60)
	for range 5 {
		r.in(1, packet(1, 0, 26, 0), 500)
	}
	for r.stats(0).Watchdog.Storm == 0 { // refreshed as often as a peer does
		r.now += ms
		r.in(0, pauseFrame(3, pfc.MaxQuanta), 60)
		r.out(0, 8)
	}
	r.out(1, 8)
	before := *r.stats(0)
	r.burst(0, packet(0, 1, 26, 0), packet(0, 1, 0, 0), packet(0, 2, 26, 0), pauseFrame(3, 0))
	r.in(0, packet(0, 1, 26, 0), 100)
	r.in(1, packet(1, 2, 26, 0), 100) // another's
	st := r.stats(0)
	if n := st.Discards[fabric.DropStorm][3] - before.Discards[fabric.DropStorm][3]; n != 3 || before.Discards[fabric.DropStorm][3] != 5 {
		t.Errorf("%d frames of the queue were discarded, and %d that the peer sent", before.Discards[fabric.DropStorm][3], n)
	}
	if a, b := len(r.out(1, 8)), len(r.out(2, 8)); a != 1 || b != 1 {
		t.Errorf("%d frames of another priority and %d of another port pass", a, b)
	}
	r.now += 6 * ms
	r.in(0, packet(0, 1, 26, 0), 100)
	if len(r.out(1, 8)) != 1 || r.stats(0).Watchdog.Restored[3] != 1 {
		t.Error("nothing is taken from the peer after it was restored")
	}
}

// What is for the link's other end alone is of no priority: with drop_both, too, LLDP is heard in a storm. What has the
// type of a probe only is data.
func TestStormLeavesWhatIsOfTheLink(t *testing.T) {
	c := guarded(3, pfc.DropBoth)
	c.Ports[1].Classes = &Classes{Trust: TrustNone, Default: 3}
	r := newRig(t, c)
	lldpFrame := (&lldp.Info{From: 0x020000000001, Port: "sw0", TTL: 121}).Encode(0x020000000001)
	r.sw.Announce(0, 1, &Announcement{Frame: lldpFrame})
	storm(r)
	r.out(1, 8)
	r.in(1, lldpFrame, len(lldpFrame))
	if got := r.sw.TakeAnnouncements(1, func([]byte) {}); got.Received != 1 {
		t.Errorf("%+v of LLDP, %d discarded as of the storm", got, r.stats(1).Discards[fabric.DropStorm][3])
	}
	data := packet(1, 0, 0, 0)
	binary.BigEndian.PutUint16(data[12:], pfc.ProbeType)
	r.in(1, data, len(data))
	if n := len(r.out(0, 8)); n != 0 {
		t.Errorf("%d frames pass", n)
	}
}

// A storm that is found by a burst which itself brings frames for the port: those that wait, and those of the burst,
// are dropped; the others of the burst, which are routed after that, leave whole, and no place of a frame is free twice.
func TestStormIsFoundWithinABurst(t *testing.T) {
	c := routerConfig()
	c.Watchdog = pfc.WatchdogConfig{Detect: 10 * ms, Restore: 5 * ms, Action: pfc.Drop}
	eachCrew(t, c, func(t *testing.T, r *rig) {
		routed := func(to, id int) []byte {
			b := ip("10.0.0.1", fmt.Sprintf("10.0.%d.7", to), 200)
			b[19] = byte(id)
			wire.SetIPv4Checksum(b[14:])
			return b
		}
		for to := 1; to <= 2; to++ { // what becomes of them is known from now on
			r.in(0, routed(to, 0), 200)
			r.in(0, packet(0, to, 26, 0), 64)
			r.poll()
			r.out(to, 4)
		}
		r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
		for range 5 {
			r.in(0, packet(0, 1, 26, 0), 64)
		}
		r.poll()
		for end := r.now + 10*ms; r.now < end; r.now += 2 * ms { // nobody polls the port meanwhile
			r.sw.ports[1].egress.Expire(r.now)
			r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
		}
		var burst [][]byte
		for i := range 24 {
			burst = append(burst, routed(1+i%2, i))
			if i%3 == 0 {
				burst = append(burst, packet(0, 1+i%2, 26, 0))
			}
		}
		r.burst(0, burst...)
		r.poll()
		var ids []byte
		for _, b := range r.out(2, 64) {
			if wire.MACAt(b[6:]) == routerMAC {
				ids = append(ids, b[19])
				if wire.MACAt(b) != mac(2) || !wire.IPv4ChecksumOK(b[14:]) || b[22] != 63 {
					t.Errorf("frame %d is % x", b[19], b[:34])
				}
			}
		}
		if want := []byte{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23}; !slices.Equal(ids, want) {
			t.Errorf("%v leave, want %v", ids, want)
		}
		r.poll()
		if st := r.stats(1); st.Discards[fabric.DropStorm][3] != 5+12+4 || st.QueueFrames[3] != 0 {
			t.Errorf("%d frames are dropped, and %d wait", st.Discards[fabric.DropStorm][3], st.QueueFrames[3])
		}
		if st := r.stats(0); st.Buffered[3] != 0 || st.Discarded() != [8]uint64{} {
			t.Errorf("%v are held for port 0, discarded %v", st.Buffered[3], st.Discarded())
		}
		seen := map[uint32]bool{}
		for _, x := range r.sw.workers {
			for _, s := range x.env.Slots() {
				if seen[s] {
					t.Errorf("place %d is free twice", s)
				}
				seen[s] = true
			}
		}
	})
}

// resumedWith keeps how many frames a congestion point is told of that it will see leave after a pause.
type resumedWith struct {
	marking.None
	frames []int
}

func (r *resumedWith) Resume(_ units.Time, q marking.Queue) { r.frames = append(r.frames, q.Frames) }

// A congestion point does not judge lossy frames: they are not among those that it is told of after a pause, however many
// were queued together.
func TestLossyFramesThatWaitAreNotJudged(t *testing.T) {
	c := config(3)
	none := uint8(0)
	c.Ports[1].Lossless = &none
	c.Buffer, c.Tail = units.GB, units.GB // all fit
	points := map[marking.Place]*resumedWith{}
	c.CP = func(q marking.Place) marking.CP {
		q.Rate = 0
		points[q] = &resumedWith{}
		return points[q]
	}
	r := newRig(t, c)
	r.in(2, pauseFrame(3, pfc.MaxQuanta), 60)
	r.in(0, packet(0, 2, 26, 0), 1000)
	lossy := packet(1, 2, 26, 0)
	const bursts = 1 << 14 // the first finds no action in the cache
	for range bursts {
		r.burst(1, lossy, lossy, lossy, lossy)
	}
	r.in(2, pauseFrame(3, 0), 60)
	if got := points[marking.Place{Port: 2, Prio: 3}].frames; !slices.Equal(got, []int{1}) {
		t.Errorf("it is told of %v frames, and judges one", got)
	}
	if n := r.sw.QueueBytes(2, 3); n != 1000+4*bursts*64 {
		t.Errorf("%v wait", n)
	}
}
