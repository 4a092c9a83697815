package topology_test

import (
	"fmt"

	"photon/fabric"
	"photon/lab/topology"
	"photon/units"
)

// A leaf-spine network: the way between two hosts, and by how many ports of equal
// cost a ToR reaches another's host.
func Example() {
	host := fabric.Link{Rate: 10 * units.Gbps, Delay: units.Microsecond}
	trunk := fabric.Link{Rate: 40 * units.Gbps, Delay: 2 * units.Microsecond}
	p := topology.Clos(topology.ClosSize{Pods: 1, ToRs: 2, Hosts: 4, Spines: 2, Uplinks: 1}, host, trunk)
	from, _ := p.Find("H0")
	to, _ := p.Find("H7")
	tor, _ := p.Find("T0")
	for _, end := range p.Path(from, to) {
		fmt.Print(p.Nodes[end.Node].Name, " ")
	}
	fmt.Println(p.Delay(from, to), len(p.Routes().Ports(tor, to)))
	// Output:
	// T0 C0 T1 H7 6us 2
}
