package pfc

import (
	"testing"

	"pgregory.net/rapid"

	"photon/wire"
)

func TestProbeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Probe{
			Switch: rapid.Uint64().Draw(t, "switch"), Port: rapid.Uint16().Draw(t, "port"),
			Priority: rapid.Uint8Range(0, 7).Draw(t, "priority"), Hops: rapid.Uint8Range(0, MaxHops-1).Draw(t, "hops"),
		}
		b := make([]byte, ProbeLen)
		p.Encode(b, 0x0200_0000_0001)
		var h wire.Header
		if !wire.Parse(b, &h) || h.EtherType != ProbeType || h.Dst != ProbeDestination || !h.Dst.LinkLocal() || h.Src != 0x0200_0000_0001 {
			t.Fatalf("%+v", h)
		}
		var q Probe
		if !q.Decode(b) || q != p {
			t.Fatalf("%+v came back as %+v", p, q)
		}
	})
}

func FuzzProbe(f *testing.F) {
	b := make([]byte, ProbeLen)
	(&Probe{Switch: 1, Port: 2, Priority: 3}).Encode(b, 4)
	f.Add(b)
	f.Add(b[:29])
	f.Fuzz(func(t *testing.T, b []byte) {
		var p Probe
		if !p.Decode(b) {
			return
		}
		if p.Priority > 7 || p.Hops >= MaxHops {
			t.Errorf("%+v", p)
		}
	})
}

// A probe of a priority that there is not, or that has gone as far as any may, is none.
func TestProbesThatAreNone(t *testing.T) {
	b := make([]byte, ProbeLen)
	for p, want := range map[Probe]bool{
		{Priority: 7, Hops: MaxHops - 1}: true, {Priority: 8}: false, {Priority: 3, Hops: MaxHops}: false,
	} {
		p.Encode(b, 1)
		var got Probe
		if got.Decode(b) != want {
			t.Errorf("%+v: %v, want %v", p, !want, want)
		}
	}
}
