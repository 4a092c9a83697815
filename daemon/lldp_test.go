package daemon

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"photon/fabric"
	"photon/lldp"
	"photon/units"
)

// Each thing that a port and its neighbour disagree about is logged once, also when another is put right before it, and
// again only if they have agreed about it meanwhile.
func TestMismatchesAreLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	d := &daemon{log: newLog(Options{Log: &log})}
	d.setNames("p0")
	x := &announced{logged: map[string][]string{}, own: dcbx(0b1000, 50)}
	for _, look := range []struct {
		peer lldp.DCBX
		pfc  int // lines of the log about it
		ets  int
	}{
		{dcbx(0b0001, 90), 1, 1},
		{dcbx(0b0001, 90), 0, 0},
		{dcbx(0b1000, 90), 0, 0}, // PFC is put right
		{dcbx(0b0001, 90), 1, 0}, // and wrong again
		{dcbx(0b0001, 50), 0, 0},
		{dcbx(0b1000, 50), 0, 0},
		{dcbx(0b1000, 90), 0, 1},
	} {
		d.neighbours.table.Update(time.Now(), 0, &lldp.Info{Chassis: "peer", Port: "1", TTL: 120, DCBX: look.peer})
		log.Reset()
		d.logMismatches(0, x)
		pfc, ets := 0, 0
		for line := range strings.Lines(log.String()) {
			switch {
			case !strings.Contains(line, "disagree:"):
			case strings.Contains(line, "PFC is on"):
				pfc++
			default:
				ets++
			}
		}
		if pfc != look.pfc || ets != look.ets {
			t.Errorf("%d lines about PFC, %d about shares; should be %d and %d:\n%s", pfc, ets, look.pfc, look.ets, &log)
		}
	}
}

// dcbx is what a port says that has PFC for some priorities, and gives two classes a share and the rest.
func dcbx(pfc, share uint8) (x lldp.DCBX) {
	x.PFC = &lldp.PFC{Priority: pfc}
	x.ETS = &lldp.ETS{Class: [8]uint8{1: 1}, Bandwidth: [8]uint8{share, 100 - share}, Algorithm: [8]uint8{lldp.Shares, lldp.Shares}}
	return x
}

// A reload that changes how often LLDP is sent has effect, also if what is sent says the same for as long as before.
func TestIntervalOfLLDPChanges(t *testing.T) {
	x := newLinked(t, "lldp: {interval: 30s, hold: 4}\n")
	for _, every := range []units.Time{30, 60, 20, 30} {
		x.write(fmt.Sprintf("lldp: {interval: %ds, hold: %d}\n", every, 120/every))
		if _, err := x.reload(); err != nil {
			t.Fatal(err)
		}
		x.watchNeighbours(time.Now())
		x.announced(10 * units.Second) // the first come sooner
		if got, want := x.announced(1200*units.Second), int(1200/every); got < want-1 || got > want+1 {
			t.Errorf("%d frames in 20 minutes, one every %d s", got, every)
		}
	}
}

// If LLDP leaves the file and returns before the switch has looked again, the port, which has taken its leave by then,
// greets its neighbours at the next look, and goes on, whether it says the same as before or something else.
func TestLLDPReturnsAtOnce(t *testing.T) {
	for _, again := range []string{
		"lldp: {interval: 30s}\n", "lldp: {interval: 20s}\n", "lldp: {}\npfc: {priorities: [4]}\n",
	} {
		x := newLinked(t, "lldp: {interval: 30s}\n")
		reload := func(rest string) {
			x.write(rest)
			if _, err := x.reload(); err != nil {
				t.Fatal(err)
			}
			x.watchNeighbours(time.Now())
		}
		reload("lldp: {interval: 30s}\n")
		x.announced(10 * units.Second)
		reload("")
		if n := x.announced(200 * units.Millisecond); n != 1 {
			t.Fatalf("%d frames of farewell", n)
		}
		reload(again)
		if n := x.announced(200 * units.Millisecond); n != 1 {
			t.Errorf("%q: %d frames at the look after its return", again, n)
		}
		for range 3 {
			x.watchNeighbours(time.Now())
		}
		if n := x.announced(10 * units.Second); n != 3 {
			t.Errorf("%q: %d frames in the seconds after that, not 3", again, n)
		}
		if n := x.announced(100 * units.Second); n < 2 {
			t.Errorf("%q: %d frames from then on", again, n)
		}
	}
}

// A look that finds nothing new does not work out anew what the configuration says: five times a second that would be
// garbage, for whose collection peers are paused.
func TestLooksForNeighboursLeaveLittle(t *testing.T) {
	x := newLinked(t, "lldp: {}\n")
	x.watchNeighbours(time.Now())
	look := testing.AllocsPerRun(20, func() { x.watchNeighbours(time.Now()) })
	if all := testing.AllocsPerRun(20, func() { x.loaded.conf.Announced() }); look > all/2 {
		t.Errorf("a look allocates %v times, and what the configuration says takes %v", look, all)
	}
}

// announced lets time pass, and returns how many frames the first port sent.
func (x *linked) announced(span units.Time) (frames int) { return x.announcedAt(0, span) }

// announcedAt is the same of any port.
func (x *linked) announcedAt(port int, span units.Time) (frames int) {
	end := x.world.now + span
	burst := make([]fabric.Frame, 8)
	for {
		at := x.sw.Next(x.world.now, port)
		if at > end {
			x.world.now = end
			return frames
		}
		x.world.now = at
		for _, f := range burst[:x.sw.Transmit(at, port, burst)] {
			frames++
			x.env.Free(f)
		}
	}
}
