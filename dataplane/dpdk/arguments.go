package dpdk

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"photon/wire"
)

// A driver is one of DPDK's for virtual devices, with the arguments that its devices have (DPDK 22.11, the drivers' own
// lists). The drivers themselves refuse what they do not understand without a word, take it for something else, or end
// the process.
type driver struct {
	needs     string // an argument that must be there, and how it may be written; empty: none
	needed    string // what that names
	longest   int    // name of a device, from which the driver makes names of its own; 0: as long as any
	arguments map[string]value
}

// A value says what is wrong with the text of an argument, or what it has to be; empty: it is right.
type value func(text string) (wrong string)

var drivers = map[string]driver{
	"net_af_packet": {needs: "iface=sw0", needed: "the interface it sits on", arguments: map[string]value{
		"iface": interfaceName, "qpairs": oneQueue, "framesz": number(1, 1<<20), "blocksz": number(1, 1<<30),
		"framecnt": number(1, 1<<20), "qdisc_bypass": bit,
	}},
	"net_af_xdp": {needs: "iface=sw0", needed: "the interface it sits on", arguments: map[string]value{
		"iface": interfaceName, "start_queue": number(0, math.MaxUint16), "queue_count": oneQueue, "shared_umem": bit,
		"xdp_prog": anything, "busy_budget": number(0, math.MaxUint16), "force_copy": bit,
	}},
	"net_tap": {longest: 22, arguments: map[string]value{
		"iface": interfaceName, "mac": fixedOrAddress, "remote": interfaceName,
	}},
	"net_memif": {arguments: map[string]value{
		"id": number(0, math.MaxUint32), "role": oneOf("client", "server", "slave", "master"),
		"bsize": number(1, math.MaxUint16), "rsize": number(1, 14), "socket": socketPath,
		"socket-abstract": oneOf("yes", "no"),
		"mac":             address, "zero-copy": oneOf("yes", "no"), "secret": anything,
	}},
	"net_vhost": {needs: "iface=/run/vm.sock", needed: "a socket", arguments: map[string]value{
		"iface": socketPath, "queues": number(1, 128), "client": bit, "iommu-support": bit, "postcopy-support": bit,
		"tso":           bit,
		"linear-buffer": bit, "ext-buffer": bit, "legacy-ol-flags": bit,
	}},
	"net_null": {arguments: map[string]value{"size": number(1, math.MaxUint16), "copy": bit, "no-rx": bit}},
	"net_ring": {longest: 17, arguments: map[string]value{"nodeaction": anything}},
}

// others are DPDK's further drivers for devices that are no cards, whichever of them were built. What their devices can be
// told is not known here.
var others = []string{
	"net_bonding", "net_dpaa", "net_enetfec", "net_failsafe", "net_kni", "net_mvneta", "net_mvpp2", "net_netvsc", "net_octeontx", "net_pcap",
	"net_pfe", "net_softnic", "net_tun", "net_vdev_netvsc", "net_virtio_user",
}

// longestName is that of a device (RTE_DEV_NAME_MAX_LEN).
const longestName = 63

func anything(text string) string {
	if text == "" {
		return "a value"
	}
	return ""
}

func number(least, most int) value {
	return func(text string) string {
		if n, err := strconv.Atoi(text); err == nil && n >= least && n <= most {
			return ""
		}
		return fmt.Sprintf("a number from %d to %d", least, most)
	}
}

func oneQueue(text string) string {
	if text == "1" {
		return ""
	}
	return "photon polls one queue of a port (leave it out)"
}

func oneOf(words ...string) value {
	return func(text string) string {
		if slices.Contains(words, text) {
			return ""
		}
		return strings.Join(words[:2], " or ")
	}
}

var bit = oneOf("0", "1")

// interfaceName is what the kernel takes for a name (IFNAMSIZ).
func interfaceName(text string) string {
	switch {
	case text == "":
		return "the name of an interface"
	case len(text) > 15:
		return "the kernel's names of interfaces have at most 15 characters"
	}
	return ""
}

// socketPath is what the kernel takes for the name of a unix socket. The driver of vhost-user cuts off the rest.
func socketPath(text string) string {
	if len(text) > 107 {
		return "a path of a socket has at most 107 characters"
	}
	return anything(text)
}

func address(text string) string {
	var m wire.MAC
	if m.UnmarshalText([]byte(text)) != nil {
		return "an address like 02:00:00:00:00:01"
	}
	return ""
}

func fixedOrAddress(text string) string {
	if text == "fixed" {
		return ""
	}
	return address(text)
}

// driverOf is the driver that takes a device of this name, as DPDK chooses it: by how the name begins.
func driverOf(name string) (d driver, known bool) {
	for begins, d := range drivers {
		if strings.HasPrefix(name, begins) {
			return d, true
		}
	}
	return driver{}, false
}

// CheckSpec says what is wrong with a device's specification, as far as that is known before it is opened: for frames
// of an MTU, in buffers of so many bytes. Cards have arguments of their drivers' own, which it does not know.
func CheckSpec(spec string, mtu, buffer int) error {
	if IsPCI(spec) {
		return nil
	}
	name, arguments, _ := strings.Cut(spec, ",")
	d, known := driverOf(name)
	of := func(driver string) bool { return strings.HasPrefix(name, driver) }
	if strings.HasPrefix(name, "net_") && !known && !slices.ContainsFunc(others, of) {
		return errors.New("there is no driver for such a device (net_af_packet0, net_tap0, net_memif0 and net_vhost0 have one)")
	}
	if longest := cmp.Or(d.longest, longestName); len(name) > longest {
		return fmt.Errorf("%s: DPDK takes names of at most %d characters for such a device", name, longest)
	}
	said := map[string]bool{}
	for a := range strings.SplitSeq(arguments, ",") {
		if a == "" {
			continue
		}
		key, text, has := strings.Cut(a, "=")
		switch {
		case !has:
			return fmt.Errorf("%q is no argument: it needs a value (write it like %s=...)", a, key)
		case said[key]:
			return fmt.Errorf("%s is there twice", key)
		}
		said[key] = true
		if !known {
			continue
		}
		if err := d.check(key, text); err != nil {
			return err
		}
	}
	if key, _, _ := strings.Cut(d.needs, "="); key != "" && !said[key] {
		return fmt.Errorf("it needs %s (write it like %s,%s)", d.needed, name, d.needs)
	}
	if isAFPacket(spec) {
		return checkRing(spec, mtu, buffer)
	}
	if size, ok := numberOf(spec, "size"); ok && known && size > buffer { // of net_null's frames
		return fmt.Errorf("size=%d: buffers for mtu %d have %d bytes", size, mtu, buffer)
	}
	return nil
}

// check says what is wrong with an argument.
func (d *driver) check(key, text string) error {
	value, ok := d.arguments[key]
	if !ok {
		return fmt.Errorf("it has no argument %q (but %s)", key, strings.Join(slices.Sorted(maps.Keys(d.arguments)), ", "))
	}
	if wrong := value(text); wrong != "" {
		return fmt.Errorf("%s=%s: %s", key, text, wrong)
	}
	return nil
}

// numberOf is a number that a specification says; 0, if it is none.
func numberOf(spec, key string) (n int, ok bool) {
	text, ok := argument(spec, key)
	n, _ = strconv.Atoi(text)
	return n, ok
}
