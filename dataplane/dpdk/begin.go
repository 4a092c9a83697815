//go:build dpdk

package dpdk

// #include "ph.h"
import "C"

import (
	"fmt"
	"strings"
)

// waiting is more than waits in a device at its start; one of which there are always
// more is left at that.
const waiting = 2 * mostDescriptors

// begin makes frames arrive, when all workers poll. Earlier frames are old, and would be a burst
// without any XOFF before it: they are discarded.
func (k *worker) begin() error {
	k.world.counting.Lock()
	defer k.world.counting.Unlock()
	for _, p := range k.ports {
		p.clear()
	}
	for _, p := range k.ports {
		if err := k.world.startReceiving(p); err != nil {
			return err
		}
	}
	if k.world.deaf.Add(-1) == 0 {
		close(k.world.started)
	}
	return nil
}

// clear discards earlier frames. Those of a file have not come by themselves.
func (p *port) clear() {
	if p.device != nil && p.c.kind != C.PH_MEMIF && p.c.packet == nil && !strings.Contains(p.device.Spec, ",rx_pcap=") {
		p.before = uint64(C.ph_drain(p.c.rx_dev, p.c.rx_queue, waiting))
	}
}

// startReceiving begins reception at a kernel interface.
func (w *world) startReceiving(p *port) error {
	if p.device == nil || w.kernel[p.device.ID] == nil {
		return nil
	}
	if err := w.kernel[p.device.ID].begin(); err != nil {
		return fmt.Errorf("port %s: %w", p.device.Spec, err)
	}
	return nil
}
