package pfc_test

import (
	"fmt"

	"photon/pfc"
	"photon/units"
)

// One direction of a link: the receiving end accounts what it holds and says
// when the peer must stop; the sending end obeys.
func Example() {
	const rate, prio = 10 * units.Gbps, 3
	c := pfc.IngressConfig{Enabled: 1 << prio, Rate: rate}
	c.Thresholds[prio] = pfc.Thresholds{XOFF: 100 * units.KB, XON: 97 * units.KB, Headroom: pfc.Headroom(rate, 500*units.Nanosecond, 0, 1500)}
	in, out := pfc.NewIngress(c), pfc.NewEgress(1<<prio, rate)

	var frame pfc.Frame
	for n := 0; in.Next(0) == units.Never; n++ {
		in.Admit(prio, 1058)
		if in.Next(0) != units.Never {
			fmt.Println("XOFF is due after", n+1, "frames,", in.Bytes(prio))
		}
	}
	in.Poll(0, &frame)
	out.Receive(0, &frame)
	fmt.Printf("paused %08b, by itself until %v\n", out.Paused(), pfc.Duration(frame.Quanta[prio], rate))

	for in.Bytes(prio) > 97*units.KB {
		in.Release(prio, 1058)
	}
	in.Poll(units.Microsecond, &frame)
	out.Receive(units.Microsecond, &frame)
	fmt.Printf("XON at %v: paused %08b\n", in.Bytes(prio), out.Paused())
	// Output:
	// XOFF is due after 95 frames, 100.51KB
	// paused 00001000, by itself until 3.355392ms
	// XON at 96.278KB: paused 00000000
}

// What has to be kept free for what still comes after an XOFF, by cause.
func ExampleHeadroomOf() {
	fmt.Printf("%+v\n", pfc.HeadroomOf(10*units.Gbps, 500*units.Nanosecond, 10*units.Microsecond, 0, 1500))
	// Output: {Frames:4.572KB Pause:84B Peer:4.288KB Cable:1.25KB Own:12.5KB Ring:0B MACPHY:0B Cells:0B}
}
