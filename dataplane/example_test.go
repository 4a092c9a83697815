package dataplane_test

import (
	"fmt"

	"photon/dataplane"
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// A world hands a switch what arrives, and asks it for what leaves: here a world
// of one frame, for an address that is known to be behind port 1.
func ExampleSwitch() {
	const there = wire.MAC(0x0200_0000_0001)
	c := dataplane.SwitchConfig{
		Buffer: units.MB, Tail: 100 * units.KB, MTU: 1500, Classes: dataplane.DefaultClasses(), FDBSize: 16,
		Static: []dataplane.StaticEntry{{MAC: there, Ports: []uint16{1}}},
	}
	for i := range 2 {
		c.Ports = append(c.Ports, dataplane.PortConfig{MAC: wire.MAC(0x0200_0000_0010 + i), Link: fabric.Link{Rate: 10 * units.Gbps}})
	}
	env := fabric.NewEnv(fabric.NewHeaderPool(), len(c.Ports))
	sw, err := dataplane.NewSwitch(c, []*fabric.Env{env})
	if err != nil {
		fmt.Println(err)
		return
	}

	f, _ := env.Alloc(64)
	b := env.Header(f)
	copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xB5}) // to, from, EtherType
	sw.Receive(units.Microsecond, 0, []fabric.Frame{f})

	var burst [4]fabric.Frame
	n := sw.Transmit(units.Microsecond, 1, burst[:])
	fmt.Println(n, "frame leaves port 1:", burst[0].Len, "bytes")
	for _, f := range burst[:n] {
		env.Free(f)
	}
	fmt.Println(sw.Audit())
	// Output:
	// 1 frame leaves port 1: 64 bytes
	// <nil>
}
