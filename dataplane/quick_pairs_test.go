package dataplane

import (
	"testing"

	"photon/wire"
)

// held is what is remembered of a pair that came through a port.
func (t *pairs) held(b *wire.Quick, port int) (out uint32, ok bool) {
	first, rest := b.Pair()
	return t.beside(place(first, rest, t.mask), first, uint64(rest)|t.mine(port))
}

func pairOf(dst, src wire.MAC) *wire.Quick {
	b := new(wire.Quick)
	dst.Put(b[:])
	src.Put(b[6:])
	return b
}

func TestPairs(t *testing.T) {
	table := newPairs(2)
	p := &table
	p.renew(0, 0)
	if _, ok := p.held(pairOf(0, 0), 0); ok {
		t.Error("an empty place holds a pair")
	}
	for epoch := range uint32(600) { // the number of an epoch comes back
		p.renew(epoch/2, (epoch+1)/2)
		b := pairOf(mac(1), mac(2))
		if _, ok := p.held(b, 7); ok {
			t.Fatalf("known in epoch %d before it was told", epoch)
		}
		p.remember(b, 7, maxPorts-1)
		for range 3 {
			p.renew(epoch/2, (epoch+1)/2)
		}
		if out, ok := p.held(b, 7); !ok || out != maxPorts-1 {
			t.Fatalf("epoch %d: port %d, %v", epoch, out, ok)
		}
		if _, ok := p.held(b, 6); ok {
			t.Fatal("it came through another port")
		}
		if _, ok := p.held(pairOf(mac(2), mac(1)), 7); ok {
			t.Fatal("the other way round")
		}
	}
}

// As many pairs of one place as are in a line do not push each other out, and whatever is pushed out is
// never taken for another.
func TestPairsShareAPlace(t *testing.T) {
	table := newPairs(2)
	p := &table
	p.renew(0, 0)
	var same []*wire.Quick
	at := func(b *wire.Quick) uint {
		first, rest := b.Pair()
		return place(first, rest, p.mask)
	}
	want := at(pairOf(mac(1), mac(0)))
	for i := 0; len(same) < besides+1; i++ {
		if b := pairOf(mac(1), mac(i)); at(b) == want {
			same = append(same, b)
		}
	}
	for round := range 10 {
		for i, b := range same[:besides] {
			if out, ok := p.held(b, 1); !ok && round > 0 || ok && out != uint32(i) {
				t.Fatalf("round %d: pair %d leads to %d, %v", round, i, out, ok)
			} else if !ok {
				p.remember(b, 1, i)
				p.remember(b, 1, i) // takes no second place
			}
		}
	}
	p.remember(same[besides], 1, besides)
	for i, b := range same {
		if out, ok := p.held(b, 1); ok && out != uint32(i) {
			t.Errorf("pair %d leads to %d", i, out)
		}
	}
}

// A congestion point that is shown a frame of a burst is told its flow, which the
// quick way does not read.
func TestFlowOfABurst(t *testing.T) {
	c := config(2)
	c.Learn = false
	r := newRig(t, c)
	var burst []Frame
	for i := range 4 {
		b := packet(0, 1, 26, wire.ECT0)
		b[35] = byte(i) // source port
		f, _ := r.env.Alloc(len(b))
		copy(r.env.Header(f), b)
		burst = append(burst, f)
	}
	r.sw.Receive(r.now, 0, burst)
	p, seen := &r.sw.ports[1], map[uint32]bool{}
	if n := p.queues[3].len(); n != len(burst) {
		t.Fatalf("%d frames queued", n)
	}
	p.queues[3].each(func(f Frame) {
		var h wire.Header
		if p.show(f); !wire.Parse(r.env.Header(f), &h) || p.packet.Hash != h.Hash {
			t.Errorf("shown as of flow %#x, it is of %#x", p.packet.Hash, h.Hash)
		}
		seen[p.packet.Hash] = true
	})
	if len(seen) != len(burst) {
		t.Errorf("%d flows", len(seen))
	}
}

// A table has room for what all ports send to all others.
func TestPairsOfManyPorts(t *testing.T) {
	for _, ports := range []int{2, 4, 16, 64} {
		p := newPairs(ports)
		p.renew(0, 0)
		each := func(do func(b *wire.Quick, from, to int)) {
			for n := range ports * ports {
				if from, to := n/ports, n%ports; from != to {
					do(pairOf(mac(to), mac(from)), from, to)
				}
			}
		}
		each(func(b *wire.Quick, from, to int) { p.remember(b, from, to) })
		lost := 0
		each(func(b *wire.Quick, from, to int) {
			if out, ok := p.held(b, from); !ok {
				lost++
			} else if out != uint32(to) {
				t.Fatalf("%d ports: from %d to %d leads to %d", ports, from, to, out)
			}
		})
		if lost*20 > ports*(ports-1) {
			t.Errorf("%d ports: %d of %d pairs pushed others out", ports, lost, ports*(ports-1))
		}
	}
}
