package dataplane

import (
	"bytes"
	"fmt"
	"testing"

	"photon/marking"
	"photon/pfc"
	"photon/units"
)

// spanner is another Spanner than the one that is asked without a call.
type spanner struct{ marking.NPECN }

// The frames of a burst are in their queues as if they had come one by one: of many
// queues, in rings that are as good as full, and begin anywhere.
func TestBurstOverManyQueues(t *testing.T) {
	cps := map[string]func(marking.Place) marking.CP{
		"none":  nil,
		"npecn": func(marking.Place) marking.CP { return marking.NewNPECN() },
		"span":  func(marking.Place) marking.CP { return new(spanner) },
		"red": func(p marking.Place) marking.CP {
			return marking.NewRED(marking.REDParams{Kmin: 100, Kmax: 2000, Pmax: 0.5}, uint64(p.Port))
		},
	}
	for name, cp := range cps {
		for _, xoff := range []units.Size{500_000, 500} { // where no peer is paused, and where they are
			t.Run(fmt.Sprint(name, "/", xoff), func(t *testing.T) { testBurstOverManyQueues(t, cp, xoff) })
		}
	}
}

func testBurstOverManyQueues(t *testing.T, cp func(marking.Place) marking.CP, xoff units.Size) {
	const ports, prios = 70, 8
	c := config(ports)
	c.Lossless, c.FDBSize, c.Buffer, c.CP = 0xFF, 256, 1<<30, cp
	for p := range c.PFC {
		c.PFC[p] = pfc.Thresholds{XOFF: xoff, XON: xoff / 5, Headroom: 100_000}
	}
	var rigs [2]*rig
	for i := range rigs {
		rigs[i] = newRig(t, c)
		rigs[i].sw.general = i == 1
		rigs[i].sw.Reserve(16)
	}
	for round := range 200 {
		in := round % ports
		var arriving [][]byte
		for i := range 1 + round%quickBurst {
			// Every tenth goes to whatever port is next.
			to, dscp := []int{1, 33, 65, 2}[i*(1+round%3)%4], i*(round%5)%prios<<3
			if i%10 == 9 {
				to = (round + i) % ports
			}
			if to == in {
				to = (in + 1) % ports
			}
			b := packet(in, to, uint8(dscp), uint8(i%3)) // not to be marked, or ECT
			b[36], b[37] = byte(round), byte(i)
			if i == 20 {
				b[12] = 0x86 // something that is not plain, in between
			}
			arriving = append(arriving, b)
		}
		for _, r := range rigs {
			r.now += us
			var burst []Frame
			for _, b := range arriving {
				f, _ := r.env.Alloc(len(b))
				copy(r.env.Header(f), b)
				burst = append(burst, f)
			}
			r.sw.Receive(r.now, in, burst)
		}
		for port := range ports {
			room := (round + port) % 5 * 10 // sometimes nothing, so that queues become longer than their rings
			if want, got := fmt.Sprint(rigs[1].sw.ports[port].waiting), fmt.Sprint(rigs[0].sw.ports[port].waiting); want != got {
				t.Fatalf("round %d: port %d has priorities %s waiting, want %s", round, port, got, want)
			}
			want := rigs[1].out(port, room)
			if got := rigs[0].out(port, room); !equal(got, want) {
				t.Fatalf("round %d: port %d sends %x, want %x", round, port, got, want)
			}
		}
	}
	for port := range ports {
		if got, want := rigs[0].stats(port), rigs[1].stats(port); got != want {
			t.Errorf("port %d: %+v, want %+v", port, got, want)
		}
	}
}

func equal(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// A pool in several pieces has no beginnings to find, and frames outside of what
// was asked for have none.
func TestStart(t *testing.T) {
	p := NewHeaderPool()
	var frames []Frame
	for _, n := range []int{53, 54, 100, 101} {
		f, _ := p.Alloc(n)
		frames = append(frames, f)
	}
	frames = append(frames, Frame{Ref: 1 << 31, Len: 60, Off: 4}, Frame{Ref: frames[0].Ref, Len: 60, Off: HeaderLen - 53})
	for i, want := range []bool{false, true, true, false, false, false} {
		start := p.start(&frames[i], 100)
		if got := start != NoStart; got != want {
			t.Errorf("frame %d of %d bytes: found %v", i, frames[i].Len, got)
		} else if got && (p.At(start) != p.Quick(&frames[i]) || p.Where(&frames[i]) != start) {
			t.Errorf("frame %d is elsewhere", i)
		}
	}
	for range chunkSlots {
		p.Alloc(60)
	}
	if p.start(&frames[1], 100) != NoStart {
		t.Error("found in one of two pieces")
	}
}
