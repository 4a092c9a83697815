package dataplane

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
)

// The loop for bursts finds, counts and leaves what the stages of single frames do, whatever the frames are: with
// tags, short, long, of IPv6, from nobody, from addresses that are learned or not, wherever they are in their buffers.
func TestBurstsAreLookedUpLikeSingleFrames(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		c := config(3)
		c.Static, c.FDBSize = nil, 1024
		c.Learn = rapid.Bool().Draw(t, "learn")
		r := newRig(outer, c)
		number := rapid.IntRange(0, 2).Draw(t, "port")
		p := &r.sw.ports[number]
		r.sw.renew(0, p.worker, r.sw.counts.Changes.Load())
		if rapid.Bool().Draw(t, "any port") {
			r.sw.portless = true
		}
		var frames []fabric.Frame
		for range rapid.IntRange(1, fabric.MaxBurst).Draw(t, "frames") {
			f := r.frame(number, anyHeader(t), rapid.SampledFrom([]int{40, 53, 54, 57, 58, 64, 100, 1518, 1522, 1600}).Draw(t, "length"))
			f.Off += uint16(rapid.SampledFrom([]int{0, 0, 0, 4, 60, 200}).Draw(t, "further"))
			frames = append(frames, f)
			var k key
			if k = r.sw.parseOne(p, &f); k.where != noKey && rapid.IntRange(0, 9).Draw(t, "remembered") > 0 {
				p.worker.cache.remember(&k, action(rapid.Uint64().Draw(t, "action")))
			}
		}
		var one, all match
		for from := 0; from < len(frames); from++ {
			var ones, alls [fabric.MaxBurst]action
			one, all = match{}, match{}
			n, m := r.sw.knownOneByOne(p, &one, frames[from:], ones[:]), r.sw.known(p, &all, frames[from:], alls[:])
			if n != m || !slices.Equal(ones[:n], alls[:m]) || one.sums != all.sums || one.all != all.all || one.longest != all.longest {
				t.Fatalf("from %d on: one by one %d %v, together %d %v", from, n, one, m, all)
			}
			if from+n < len(frames) && one.key.where != all.key.where || all.key.where != noKey && one.key != all.key && from+n < len(frames) {
				t.Fatalf("the first unknown: one by one %x, together %x", one.key, all.key)
			}
		}
	})
}

// anyHeader is the beginning of a frame of few stations, so that some are alike.
func anyHeader(t *rapid.T) []byte {
	b := packet(rapid.IntRange(0, 2).Draw(t, "from"), rapid.IntRange(0, 2).Draw(t, "to"), uint8(rapid.IntRange(0, 63).Draw(t, "dscp")), uint8(rapid.IntRange(0, 3).Draw(t, "ecn")))
	switch rapid.IntRange(0, 9).Draw(t, "source") {
	case 0:
		clear(b[6:12])
	case 1:
		b[6] |= 1
	case 2:
		clear(b[8:12]) // only some of it is 0
	case 3:
		clear(b[6:8])
	}
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		b = over6(b)
		b[15] = uint8(rapid.IntRange(0, 255).Draw(t, "class and label"))
	case 1:
		b = withTag(b, rapid.Uint16().Draw(t, "tag"))
		et := rapid.SampledFrom([]uint16{0x8100, 0x88A8, 0x22E9, 0x9100}).Draw(t, "tag protocol")
		b[12], b[13] = uint8(et>>8), uint8(et)
	case 2:
		et := rapid.Uint16().Draw(t, "EtherType")
		b[12], b[13] = uint8(et>>8), uint8(et)
	}
	return b
}

// What a burst's first two stages cost: compare with benchstat.
func BenchmarkLookUp(b *testing.B) {
	t := newTraffic(b, 4, 1, 64)
	burst := make([]fabric.Frame, fabric.MaxBurst)
	for range 1000 { // the cache of actions grows until all are in it
		t.round(burst)
	}
	for i := range t.frames[0] {
		copy(t.rig.env.Start(&t.frames[0][i])[:32], t.heads[0][i])
	}
	p := &t.rig.sw.ports[0]
	v := &scratchOf(p.env.Pool).vector
	perFrame(b, fabric.MaxBurst, func() {
		if t.rig.sw.known(p, &v.match, t.frames[0], v.acts[:]) != fabric.MaxBurst {
			b.Fatal("some are not known")
		}
		v.match = match{}
	})
}
