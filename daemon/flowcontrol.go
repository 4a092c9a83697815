package daemon

import (
	"fmt"

	"photon/config"
	"photon/dataplane/dpdk"
)

// logFlowControl warns of devices that may keep to themselves what lossless priorities live by, and refuses those whose
// drivers say so. The ports are those of the file.
func (d *daemon) logFlowControl(lossless bool, file string, ports []config.Port, devices []dpdk.Device) error {
	if !lossless {
		return nil // it is no loss
	}
	for i := range devices {
		text := devices[i].Trouble()
		if devices[i].Lossy() {
			return refused(ports[i].Fail(file, fmt.Errorf("port %s: %s", ports[i].Device.V, text)))
		}
		if text != "" {
			d.log.Warnf("port %s: %s", PortName(ports[i].Device.V), text)
		}
	}
	return nil
}
