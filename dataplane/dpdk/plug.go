//go:build dpdk

package dpdk

// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"photon/fabric"
	"photon/units"
)

// errStarting: workers that are about to poll for the first time look at the ports they have.
var errStarting = errors.New("photon is starting: try again")

// begins reports whether all workers have polled.
func (w *world) begins() bool {
	select {
	case <-w.started:
		return true
	default:
		return false
	}
}

func (w *world) Plug(at fabric.End, worker int, d Device, link fabric.Link) error {
	if !w.begins() {
		return errStarting
	}
	w.counting.Lock() // no other goroutine reads the ports, and Close waits
	defer w.counting.Unlock()
	m := &w.nodes[at.Node]
	switch {
	case w.closed:
		return errors.New("dpdk: the world is closed")
	case m.port[at.Port].device != nil || m.port[at.Port].peer != nil:
		return fmt.Errorf("dpdk: port %d of %s is connected twice", at.Port, m.name)
	}
	p := m.newPort(at.Port, worker)
	if err := p.attach(d, link); err != nil {
		return err
	}
	p.lay()
	p.clear()
	w.DoBriefly(func(units.Time) {
		p.node = m.node // it may have been replaced
		m.port[at.Port] = p
		w.ports = append(w.ports, p)
		w.workers[worker].take(p)
	})
	return w.startReceiving(p)
}

func (w *world) Unplug(at fabric.End) (last DeviceStats, err error) {
	if !w.begins() {
		return last, errStarting
	}
	w.counting.Lock()
	defer w.counting.Unlock()
	m := &w.nodes[at.Node]
	p := m.port[at.Port]
	switch {
	case w.closed:
		return last, errors.New("dpdk: the world is closed")
	case p.device == nil:
		return last, fmt.Errorf("dpdk: port %d of %s has no device", at.Port, m.name)
	}
	blank := m.newPort(at.Port, 0)
	w.DoBriefly(func(units.Time) {
		blank.node = m.node
		m.port[at.Port] = blank
		w.ports = slices.DeleteFunc(w.ports, func(q *port) bool { return p == q })
		w.workers[p.worker].drop(p)
		p.giveBack()
	})
	last = w.deviceOf(p) // after the last poll: what came since is missed
	p.release()
	w.close(p.device.ID)
	return last, nil
}

// release gives the port's memory back, which no worker looks at any more.
func (p *port) release() {
	C.free(unsafe.Pointer(p.c))
	p.c = nil
}
