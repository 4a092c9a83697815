package agent

import (
	"testing"

	"photon/cnp"
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// PacketLen is the length of the packets that a host sends, whatever they carry.
func TestPacketLen(t *testing.T) {
	for bits := range 32 {
		c := cableConfig(1)
		c.Carry = cnp.Carry{Tag: bits&1 != 0, Stamp: bits&2 != 0, INT: bits&4 != 0, Ack: bits&6 != 0}
		if bits&8 != 0 {
			c.Selective = &Selective{Window: 16, Reorder: 1}
		}
		to := cableAddress(0)
		if bits&16 != 0 {
			to, c.IP = wire.IP{0: 0xFD, 15: 1}, wire.IP{0: 0xFD, 15: 2}
		}
		env := fabric.NewEnv(fabric.NewHeaderPoolOf(512), 1)
		h, err := New(c, env)
		if err != nil {
			t.Fatal(err)
		}
		flow := FlowSpec{Peer: to, PeerMAC: cableMAC(0), QP: 7, Size: units.Size(4 * c.Payload)}
		if _, err := h.AddFlow(0, flow); err != nil {
			t.Fatal(err)
		}
		longest := 0
		var burst [1]fabric.Frame
		for now := units.Time(0); now < units.Millisecond; now += units.Microsecond {
			if h.Transmit(now, 0, burst[:]) == 1 {
				longest = max(longest, int(burst[0].Len))
				env.Free(burst[0])
			}
		}
		if got := c.PacketLen(); got != longest-wire.EthernetLen {
			t.Errorf("%+v, selective %v, to %v: %d, sent were %d",
				c.Carry, c.Selective != nil, to, got, longest-wire.EthernetLen)
		}
	}
}

// What the port's buffers cut off because it is too long is told as that, not as a broken IP header.
func TestPacketsThatAreCutOff(t *testing.T) {
	for _, c := range []struct {
		mtu, length, came int
		spoilt            bool
		why               fabric.Reason
	}{
		{1500, 4000, 1980, false, fabric.DropOversize},
		{1500, 4000, 1515, false, fabric.DropOversize},
		{1500, 1400, 1300, false, fabric.DropBadIP},
		{1500, 1400, 1400, true, fabric.DropBadIP},
		{0, 4000, 1980, false, fabric.DropBadIP},
	} {
		config := cableConfig(1)
		config.MTU = c.mtu
		env := fabric.NewEnv(fabric.NewHeaderPoolOf(4096), 1)
		h, err := New(config, env)
		if err != nil {
			t.Fatal(err)
		}
		f, _ := env.Alloc(c.length)
		b := env.Bytes(&f)
		to := wire.RoCE{
			DstMAC: config.MAC, SrcMAC: cableMAC(0), Src: cableAddress(0), Dst: config.IP, TOS: 26<<2 | wire.ECT0,
		}
		head := to.Encode(b, c.length-wire.EthernetLen-wire.IPv4Len-wire.UDPLen)
		wire.BTH(b[head:]).Encode(wire.OpSendFirst, false, 7, false, 0)
		if c.spoilt {
			b[wire.EthernetLen+11]++
		}
		f.Len = uint16(c.came)
		h.Receive(units.Millisecond, 0, []fabric.Frame{f})
		if s := h.Stats(units.Millisecond); s.Ports[0].Discards[c.why][3] != 1 {
			t.Errorf("%+v: %v", c, s.Ports[0].Discards)
		}
	}
}
