package dataplane

import (
	"testing"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// sendUntilPaused lets frames of 1000 bytes arrive until the port sends an XOFF, and then as many more as headroom is
// for: the peer obeys as late as it may. One that is paused sends nothing.
func (r *rig) sendUntilPaused(port, to int) {
	r.t.Helper()
	if r.stats(port).Ingress.PausedNow != 0 {
		return
	}
	headroom := int(r.sw.thresholds(port, 3).Headroom)
	for i := 0; r.stats(port).Ingress.PausedNow == 0; i++ {
		if i > 10_000 {
			r.t.Fatalf("port %d is never paused", port)
		}
		r.in(port, packet(port, to, 26, 0), 1000)
		r.out(port, 1)
	}
	for range headroom/1000 - 1 { // the one that crossed the threshold is in headroom, too
		r.in(port, packet(port, to, 26, 0), 1000)
	}
	for p := range r.sw.ports {
		if n := r.stats(p).Discarded()[3]; n != 0 {
			r.t.Fatalf("%d lossless frames of port %d are lost", n, p)
		}
	}
}

// A port is resumed because others emptied the pool; they fill it again, and the first frames of the resumed peer find
// a threshold far below what is buffered: the whole headroom is before them, again and again.
func TestNothingIsLostAfterAnXONByOthers(t *testing.T) {
	for _, alpha := range []float64{0.125, 0.5, 1, 8} {
		c := config(5)
		c.PFC[3] = pfc.Thresholds{XOFF: 2_000, XON: 1_000, Headroom: 20_000, Alpha: alpha}
		c.Buffer = c.Reserved() + 200_000
		r := newRig(t, c)
		resumed := 0
		for round := range 30 {
			r.now += us
			r.sendUntilPaused(1, 3)
			r.sendUntilPaused(0, 2)
			r.out(2, round) // from nothing to its headroom, and a little more
			for len(r.out(3, 32)) > 0 {
			}
			if r.out(0, 1); r.stats(0).Ingress.PausedNow == 0 {
				resumed++
			}
			r.out(1, 1)
			r.sendUntilPaused(4, 3) // another fills the pool meanwhile
			r.sendUntilPaused(1, 3)
			r.sendUntilPaused(0, 2)
			for p := range 5 {
				for len(r.out(p, 32)) > 0 {
				}
			}
			for p := range 5 { // the XONs that this made due
				r.out(p, 32)
			}
		}
		if resumed == 0 {
			t.Errorf("alpha %v: nobody was resumed by others", alpha)
		}
	}
}

// However short lossy frames are and however many come: memory for the frames that the buffer holds, and a few more, is
// enough for lossless ones, for the XOFF that they ask for, and for control frames.
func TestShortLossyFramesLeaveBuffers(t *testing.T) {
	for _, cell := range []units.Size{0, 200, 256} {
		c := config(3)
		c.Buffer, c.Tail, c.Cell = 6_600_000, 100*units.MB, cell
		r := newCrewOf(t, c, 1, c.Frames()+64)
		r.sw.Reserve()
		blocks := r.blocks()
		for range max(33_000, c.Frames()) + 1000 {
			r.in(0, packet(0, 1, 0, 0), 60)
		}
		if st := r.stats(0); st.Discards[fabric.DropBuffer][0] < 1000 {
			t.Errorf("cells of %v: %d of the lossy frames are discarded", cell, st.Discards[fabric.DropBuffer][0])
		}
		for range 22 { // XOFF is at 20 KB, and cells are more than their frames
			r.in(0, packet(0, 2, 26, 0), 1000)
		}
		var f pfc.Frame
		if b := r.out(0, 1); len(b) != 1 || f.Decode(b[0]) != nil || f.Quanta[3] == 0 {
			t.Fatalf("cells of %v: no XOFF leaves", cell)
		}
		for range 15 {
			r.in(0, packet(0, 2, 26, 0), 1000)
		}
		if r.in(2, pauseFrame(3, 100), 60); r.sw.Paused(2) != lossless || r.stats(0).Discarded()[3] != 0 {
			t.Errorf("cells of %v: lossless frames are lost, or a pause not heard", cell)
		}
		if n := r.blocks(); n != blocks {
			t.Errorf("cells of %v: %d blocks of frames are reserved, there are %d: a worker allocated", cell, blocks, n)
		}
	}
}

// Short lossless frames, up to the last of headroom, in as many queues as there are: what Reserve made is enough.
func TestReservedBlocksAreEnough(t *testing.T) {
	c := config(4)
	c.Lossless, c.Tail = 0xFF, units.MB
	for p := range c.PFC {
		c.PFC[p] = pfc.Thresholds{XOFF: 10_000, XON: 5_000, Headroom: 10_000}
	}
	c.Buffer = c.Reserved()
	r := newRig(t, c)
	r.sw.Reserve()
	blocks := r.blocks()
	for i := range c.Frames() + 1000 {
		r.in(i%4, packet(i%4, (i%4+1+i/4%3)%4, uint8(i/16%8*8), 0), 60)
	}
	if n := r.sw.Queued(); n < c.Frames()*9/10 {
		t.Errorf("%d frames are queued, the buffer has room for %d", n, c.Frames())
	}
	if n := r.blocks(); n != blocks {
		t.Errorf("%d blocks of frames are reserved, there are %d", blocks, n)
	}
}

// blocks counts all blocks of frames, in queues and not.
func (r *rig) blocks() (n int) {
	for _, w := range r.sw.workers {
		for b := w.store.free; b != nil; b = b.next {
			n++
		}
	}
	for i := range r.sw.queues {
		q := &r.sw.queues[i]
		for b := q.head; b != nil; b = b.next {
			if n++; b == q.tail {
				break
			}
		}
	}
	return n
}

// A frame that passes without being queued was in its queue all the same: the watermark knows the longest.
func TestWatermarkOfWhatPasses(t *testing.T) {
	c := config(2)
	c.CP = nil
	eachWay(t, c, func(t *testing.T, r *rig) {
		r.in(0, packet(0, 1, 26, wire.ECT0), 100) // the first of a key is queued
		r.out(1, 1)
		r.env.Exit(1).Frames = make([]fabric.Frame, 4)
		for _, length := range []int{300, 900, 500} {
			r.in(0, packet(0, 1, 26, wire.ECT0), length)
		}
		e := r.env.Exit(1)
		if left := r.env.UsedExits(); len(left) != 1 || left[0] != 1 || e.N != 3 || r.sw.Queued() != 0 {
			t.Fatalf("%d frames pass", e.N)
		}
		for _, f := range e.Frames[:e.N] {
			r.env.Free(f)
		}
		if st := r.stats(1); st.QueuePeak != [8]units.Size{3: 900} || st.QueueBytes != [8]units.Size{} || st.TxFrames[3] != 4 {
			t.Errorf("watermarks %v", st.QueuePeak)
		}
	})
}
