//go:build dpdk

package dpdk

/*
#include <stdlib.h>
#include <rte_eth_ring.h>
#include "ph.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// noDevice is the number of none.
const noDevice = 1<<16 - 1

// tapMTU is what the driver gives its interfaces.
const tapMTU = 1500

// fastest are the rates of links, in Mbit/s, by the length of a device's speed_capa: RTE_ETH_LINK_SPEED_10M_HD is its
// second bit. 0: the driver does not say.
var fastest = [...]units.Rate{
	0, 0, 10, 10, 100, 100, 1000, 2500, 5000, 10000, 20000, 25000, 40000, 50000, 56000, 100000, 200000,
}

// flag is a bool of C's.
func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// kindOf is how a device is served.
func kindOf(d *Device) C.enum_ph_kind {
	switch {
	case !d.Virtual:
		return C.PH_CARD
	case isAFPacket(d.Spec):
		return C.PH_PACKET
	case isTap(d.Spec):
		return C.PH_TAP
	case isVhost(d.Spec):
		return C.PH_VHOST
	case isMemif(d.Spec):
		return C.PH_MEMIF
	}
	return C.PH_OTHER
}

// lacking names the capabilities that net_af_packet and net_tap need, of those that this process does not have.
func lacking() (names []string) {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if unix.Capget(&head, &have[0]) != nil {
		return nil
	}
	for _, c := range []struct {
		name string
		bit  uint
	}{{"NET_ADMIN", unix.CAP_NET_ADMIN}, {"NET_RAW", unix.CAP_NET_RAW}, {"IPC_LOCK", unix.CAP_IPC_LOCK}} {
		if have[0].Effective>>c.bit&1 == 0 {
			names = append(names, c.name)
		}
	}
	return names
}

// Claim changes nothing of the interface.
func (w *world) Claim(spec string, mtu int) error {
	w.counting.Lock()
	defer w.counting.Unlock()
	return w.claim(spec, mtu)
}

func (w *world) claim(spec string, mtu int) error {
	if _, ok := w.claimed[spec]; ok {
		return nil
	}
	if FrameSize(mtu) > eal.size {
		return fmt.Errorf("port %s: frames of mtu %d do not fit in buffers of %d bytes", spec, mtu, eal.size)
	}
	if err := CheckSpec(spec, mtu, eal.size); err != nil {
		return fmt.Errorf("port %s: %w", spec, err)
	}
	if folder := filepath.Dir(socketOf(spec)); folder != "." {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return fmt.Errorf("port %s: there is no folder %s for its socket", spec, folder)
		}
	}
	if IsPCI(spec) && !eal.cards {
		return fmt.Errorf("port %s: DPDK was started without its bus for cards, as no port was one: start photon again with this one", spec)
	}
	n, err := newNetdev(spec, mtu)
	if err != nil {
		return fmt.Errorf("port %s: %w", spec, err)
	}
	w.claimed[spec] = n
	return nil
}

// socketOf is the path at which a device makes or looks for a socket when it is opened; empty: there is none.
func socketOf(spec string) string {
	switch abstract, _ := argument(spec, "socket-abstract"); {
	case isMemif(spec) && abstract == "no":
		return memifSocket(spec)
	case isVhost(spec):
		if client, _ := argument(spec, "client"); client != "1" {
			path, _ := argument(spec, "iface")
			return path
		}
	}
	return ""
}

// Open attaches a device by its specification and starts it.
func (w *world) Open(spec string, mtu int) (Device, error) {
	w.counting.Lock()
	defer w.counting.Unlock()
	if err := w.claim(spec, mtu); err != nil {
		return Device{}, err
	}
	kernel := w.claimed[spec]
	delete(w.claimed, spec)
	d, err := w.open(spec, mtu, kernel)
	if err != nil {
		if d.ID == noDevice {
			kernel.close()
		} else {
			w.close(d.ID)
		}
		return Device{}, fmt.Errorf("port %s: %w", spec, err)
	}
	return d, nil
}

// open leaves the number of a device that DPDK has opened in d, in any case.
func (w *world) open(spec string, mtu int, kernel *netdev) (d Device, err error) {
	name, _, _ := strings.Cut(spec, ",")
	d = Device{Spec: spec, Virtual: strings.HasPrefix(name, "net_") || strings.HasPrefix(name, "virtio_user"), ID: noDevice, Node: -1}
	if err := clearSocket(spec); err != nil {
		return d, err
	}
	if err := kernel.prepare(); err != nil {
		return d, err
	}
	cname, cspec := C.CString(name), C.CString(withRing(spec, mtu))
	defer C.free(unsafe.Pointer(cname))
	defer C.free(unsafe.Pointer(cspec))
	heard := listen()
	id := C.ph_open(cname, cspec, kindOf(&d))
	if said := heard(); id < 0 {
		return d, fmt.Errorf("DPDK cannot open it: %s", whyClosed(int(-id), strings.HasPrefix(name, "net_"), said))
	}
	d.ID = uint16(id)
	w.kernel[d.ID] = kernel
	if isMemifClient(spec) {
		w.clients = append(w.clients, memifClient{d.ID, memifSocket(spec)})
	}
	var info C.struct_rte_eth_dev_info
	C.rte_eth_dev_info_get(C.uint16_t(id), &info)
	d.Driver = C.GoString(info.driver_name)
	rx := descriptors
	if !d.Virtual {
		rx = Descriptors(fastest[min(bits.Len32(uint32(info.speed_capa)), len(fastest)-1)]*units.Mbps, w.options.Gap)
	}
	heard = listen()
	client := flag(isMemifClient(spec))
	n := C.ph_start(C.uint16_t(id), 1, C.uint16_t(mtu), C.uint16_t(rx), descriptors, eal.pool, client)
	if said := heard(); n < 0 {
		return d, fmt.Errorf("it does not start: %s", because(strerror(-int(n)), said))
	}
	var firmware [64]C.char
	if C.rte_eth_dev_fw_version_get(C.uint16_t(id), &firmware[0], C.size_t(len(firmware))) == 0 {
		d.Firmware = C.GoString(&firmware[0])
	}
	d.FlowControl = flowControlOff(d.ID, kernel).flowControlOf(d.Virtual)
	most := C.uint16_t(0)
	C.rte_eth_dev_get_mtu(C.uint16_t(id), &most)
	if int(most) < mtu && !isAFPacket(spec) { // there it is the kernel's
		return d, fmt.Errorf("it takes no frames of mtu %d, but of %d at most", mtu, most)
	}
	if kernel != nil && kernel.tap && mtu < tapMTU { // so that programs send nothing longer
		if err := kernel.setMTU(); err != nil {
			return d, fmt.Errorf("interface %s does not take mtu %d: %w", kernel.name, mtu, err)
		}
	}
	if n, ok := argument(withRing(spec, mtu), "framecnt"); ok && isAFPacket(spec) { // the kernel's ring
		d.Ring, _ = strconv.Atoi(n)
	}
	if isTap(spec) {
		d.Ring = kernel.queue()
	}
	if !d.Virtual {
		d.Ring = int(C.ph_ring(C.uint16_t(id)))
		d.Node = int(C.rte_eth_dev_socket_id(C.uint16_t(id)))
	}
	var mac C.struct_rte_ether_addr
	if C.rte_eth_macaddr_get(C.uint16_t(id), &mac) == 0 {
		d.MAC = wire.MACAt(C.GoBytes(unsafe.Pointer(&mac), 6))
	}
	var s DeviceStats
	deviceStats(d.ID, &s)
	d.Up, d.Rate = s.LinkUp, s.Rate
	if kernel != nil {
		kernel.opened(d.ID)
		d.Shared = kernel.shared()
		d.Up = d.Up && kernel.running()
	}
	return d, nil
}

// flowControlOff tells the device to leave pauses alone. One on an interface of the kernel leaves it to that.
func flowControlOff(id uint16, kernel *netdev) driverSays {
	var says C.struct_ph_flow_control
	C.ph_flow_control_off(C.uint16_t(id), &says)
	s := driverSays{got: int(says.got), acts: says.acts != 0, taken: int(says.taken)}
	if acts, ok := kernel.pauses(); ok {
		s.kernels, s.acts = true, acts
	}
	return s
}

// because adds what a driver says to what its error number means.
func because(why, said string) string {
	if said == "" {
		return why + " (the EAL argument --log-level=*:debug shows why)"
	}
	return why + ": " + said
}

// whyClosed is what an error number of DPDK's means where a device was to be opened, and the driver said that.
func whyClosed(n int, virtual bool, said string) string {
	why := strerror(n)
	switch {
	case syscall.Errno(n) == syscall.EFAULT: // no bus knows the name
		return why + ": there is no driver for such a device"
	case syscall.Errno(n) == syscall.ENODEV && !virtual:
		return why + ": there is no such card, or no driver of DPDK has it (dpdk-devbind.py --status-dev net shows them)"
	case syscall.Errno(n) == syscall.EPERM && lacking() != nil: // also root's, in a container
		return why + " (this process lacks the capabilities " + strings.Join(lacking(), ", ") + ", which interfaces of the kernel take)"
	case os.Geteuid() != 0:
		return why + " (photon does not run as root, and may lack CAP_NET_ADMIN, CAP_NET_RAW or the device)"
	}
	return because(why, said)
}

// close gives a device back that no port has any more.
func (w *world) close(id uint16) {
	C.ph_close(C.uint16_t(id))
	w.kernel[id].close()
	delete(w.kernel, id)
	w.clients = slices.DeleteFunc(w.clients, func(c memifClient) bool { return c.id == id })
}

func (w *world) Disclaim(spec string) {
	w.counting.Lock()
	defer w.counting.Unlock()
	w.claimed[spec].close()
	delete(w.claimed, spec)
}

func (w *world) Discard(d Device) {
	w.counting.Lock()
	defer w.counting.Unlock()
	w.close(d.ID)
}

// deviceStats reads what the driver counts.
func deviceStats(id uint16, d *DeviceStats) {
	var s C.struct_rte_eth_stats
	C.rte_eth_stats_get(C.uint16_t(id), &s)
	d.RxMissed, d.RxNoBuffer = uint64(s.imissed), uint64(s.rx_nombuf)
	d.RxErrors, d.TxErrors = uint64(s.ierrors), uint64(s.oerrors)
	var up C.int
	var mbps C.uint32_t
	C.ph_link(C.uint16_t(id), &up, &mbps)
	d.Downs = uint64(C.ph_downs(C.uint16_t(id)))
	d.LinkUp, d.Rate = up != 0, units.Rate(mbps)*units.Mbps
}

// mostCounters is more than any driver has of a port with one queue.
const mostCounters = 1024

func (w *world) Counters(at fabric.End) map[string]uint64 {
	w.counting.Lock() // Close waits
	defer w.counting.Unlock()
	p := w.nodes[at.Node].port[at.Port]
	if w.closed || p.device == nil {
		return nil
	}
	names, counters := make([]C.struct_rte_eth_xstat_name, mostCounters), make([]C.struct_rte_eth_xstat, mostCounters)
	named := C.rte_eth_xstats_get_names(C.uint16_t(p.device.ID), &names[0], mostCounters)
	n := C.rte_eth_xstats_get(C.uint16_t(p.device.ID), &counters[0], mostCounters)
	all := map[string]uint64{}
	if max(named, n) > mostCounters {
		return all
	}
	for _, c := range counters[:max(n, 0)] {
		all[C.GoString(&names[c.id].name[0])] = uint64(c.value)
	}
	return all
}

func (w *world) SetUp(at fabric.End, up bool) (can bool, err error) {
	w.counting.Lock() // Close waits
	defer w.counting.Unlock()
	p := w.nodes[at.Node].port[at.Port]
	if w.closed || p.device == nil {
		return false, nil
	}
	if k := w.kernel[p.device.ID]; k != nil && k.packet {
		return true, k.setUp(up)
	}
	n := int(C.ph_set_up(C.uint16_t(p.device.ID), flag(up)))
	if n < 0 {
		err = errors.New(strerror(-n))
	}
	return n != 0, err
}

// cable is one direction between two ports: a queue of a ring device.
type cable struct{ dev, queue uint16 }

// freeCables are those that no world uses. A ring device has several queues,
// since DPDK allows 32 devices only.
var freeCables struct {
	list    []cable
	devices int
}

// MostLinks is how many links between nodes of a process there can be, if it has no other devices.
func MostLinks() int { return C.RTE_MAX_ETHPORTS * C.RTE_PMD_RING_MAX_RX_RINGS / 2 }

// cableSize is more than a port can stage in a round.
const cableSize = 1024

func takeCable() (cable, error) {
	eal.Lock()
	defer eal.Unlock()
	if len(freeCables.list) == 0 {
		const queues = C.RTE_PMD_RING_MAX_RX_RINGS
		name := C.CString(fmt.Sprintf("cables%d", freeCables.devices))
		defer C.free(unsafe.Pointer(name))
		id := C.ph_cables(name, queues, cableSize)
		if id < 0 {
			return cable{}, fmt.Errorf("no more cables: %s", strerror(-int(id)))
		}
		if n := C.ph_start(C.uint16_t(id), queues, 0, 0, 0, eal.pool, 0); n < 0 {
			return cable{}, fmt.Errorf("cables do not start: %s", strerror(-int(n)))
		}
		freeCables.devices++
		for q := range uint16(queues) {
			freeCables.list = append(freeCables.list, cable{uint16(id), queues - 1 - q})
		}
	}
	last := len(freeCables.list) - 1
	c := freeCables.list[last]
	freeCables.list = freeCables.list[:last]
	return c, nil
}

// giveCable takes back a cable and frees what is still in it.
func giveCable(c cable) (drained int) {
	drained = int(C.ph_drain(C.uint16_t(c.dev), C.uint16_t(c.queue), 2*cableSize))
	eal.Lock()
	defer eal.Unlock()
	freeCables.list = append(freeCables.list, c)
	return drained
}
