package agent_test

import (
	"bytes"
	"testing"

	"photon/agent"
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// An application that has not spoken since the NIC began gets a frame now and then, and
// all of them once it has answered; of what is for others, no more than that passes,
// and nothing is answered for them.
func TestNICAsksForStrangers(t *testing.T) {
	b := newBench(t, func(c *agent.NICConfig) { c.Known = nil })
	to := func(host int) []byte { return udpFrame(t, 9, host, 5, 6, ce, 100) }
	delivered := func(frames ...[]byte) int {
		t.Helper()
		b.receive(agent.Wire, frames...)
		return len(b.transmit(agent.Application))
	}
	// Ten frames a millisecond for each of three addresses, for a second.
	got := map[byte]int{}
	for range 1000 {
		for range 10 {
			b.receive(agent.Wire, to(1), to(2), to(3))
		}
		for _, f := range b.transmit(agent.Application) {
			got[f[5]]++
		}
		b.now += ms
	}
	for host := byte(1); host <= 3; host++ {
		if got[host] != 10 {
			t.Errorf("%d frames for host %d pass in a second, expected 10", got[host], host)
		}
	}
	expect(t, "discarded", b.discards(agent.Wire, fabric.DropUnknown), 30_000-30)
	if n := len(b.transmit(agent.Wire)); n != 0 {
		t.Errorf("%d frames are sent about strangers", n)
	}
	if delivered(to(1), to(1)) != 1 || delivered(to(1)) != 0 {
		t.Error("two frames in a tenth of a second")
	}
	b.receive(agent.Application, udpFrame(t, 1, 9, 6, 5, dscp26, 100)) // the answer
	b.transmitAll()
	if n := delivered(to(1), to(1), to(1)); n != 3 {
		t.Errorf("%d of 3 frames for an application that has answered", n)
	}
	// Addresses without end: all passes that there is room for, and no more, and who is
	// known is not forgotten for it.
	passed := 0
	for i := range 100_000 {
		f := to(2)
		wire.MAC(0x02_00_00_01_00_00 + i).Put(f)
		passed += delivered(f)
		b.now += units.Microsecond
	}
	if passed < 200 || passed > 1000 {
		t.Errorf("%d frames for 100 000 strangers pass in 100 ms", passed)
	}
	if delivered(to(1)) != 1 {
		t.Error("the application was forgotten")
	}
}

// Frames between NICs and switches are of no use to an application, even to one that has never sent.
func TestNICDoesNotAskWithControl(t *testing.T) {
	a := newBench(t, nil)
	b := newBench(t, func(c *agent.NICConfig) { c.Known = []wire.MAC{mac(2)} })
	a.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, dscp26, 100))
	frames := a.transmitAll()
	frames[0][15] |= wire.CE
	b.receive(agent.Wire, frames...)
	cnps := b.transmit(agent.Wire)
	if len(cnps) != 1 {
		t.Fatalf("%d CNPs", len(cnps))
	}
	stranger := newBench(t, func(c *agent.NICConfig) { c.Known = nil })
	stranger.receive(agent.Wire, bytes.Clone(cnps[0]))
	if n := len(stranger.transmit(agent.Application)); n != 0 {
		t.Error("an application gets a CNP")
	}
}
