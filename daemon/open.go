package daemon

import (
	"fmt"
	"hash/fnv"

	"photon/config"
	"photon/dataplane/dpdk"
	"photon/wire"
)

// openAll opens the devices of a node's ports, for frames of an MTU each; errors name the
// line of file. None is opened unless all are there; if one cannot be opened all the same, those before it
// are returned. base is the address of the node's first port, if that is not among them.
func openAll(w dpdk.World, file string, ports []config.Port, mtu func(port int) int, base wire.MAC) (devices []dpdk.Device, err error) {
	for i, p := range ports {
		if err := w.Claim(p.Device.V, mtu(i)); err != nil {
			disclaim(w, ports[:i])
			return nil, refused(p.Fail(file, err))
		}
	}
	for i, p := range ports {
		spec := p.Device.V
		switch {
		case !dpdk.WantsMAC(spec):
		case base != 0:
			spec = withMAC(spec, base)
		case i > 0:
			spec = withMAC(spec, devices[0].MAC)
		}
		d, err := w.Open(spec, mtu(i))
		if err != nil {
			disclaim(w, ports[i:])
			return devices, refused(p.Fail(file, err))
		}
		if spec != p.Device.V { // it has claimed for itself
			w.Disclaim(p.Device.V)
		}
		d.Spec = p.Device.V
		devices = append(devices, d)
	}
	return devices, nil
}

// disclaim gives back what was claimed and is not opened.
func disclaim(w dpdk.World, ports []config.Port) {
	for _, p := range ports {
		w.Disclaim(p.Device.V)
	}
}

// withMAC gives a tap an address that is the same at every start. DPDK would draw a new
// one each time, and peers that still have the former one in their ARP caches could not
// reach the programs behind the tap. It derives from the address of the first port, which
// is unique.
func withMAC(device string, first wire.MAC) string {
	h := fnv.New64a()
	fmt.Fprint(h, first, device)
	mac := wire.MAC(h.Sum64()&0xFFFF_FFFF_FFFF)&^(1<<40) | 1<<41 // of a station, and locally administered
	return fmt.Sprintf("%s,mac=%v", device, mac)
}
