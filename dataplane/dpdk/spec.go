package dpdk

import (
	"fmt"
	"regexp"
	"strings"
)

// MaxPorts is how many devices DPDK has room for as Debian builds it (RTE_MAX_ETHPORTS).
const MaxPorts = 32

// pciAddress is a card's name, with the driver's arguments behind it.
var pciAddress = regexp.MustCompile(`^(?:pci:)?([0-9a-fA-F]{4,8}:)?([0-9a-fA-F]{2}:[01][0-9a-fA-F]\.[0-7])(?:,.*)?$`)

// IsPCI reports whether a specification names a card.
func IsPCI(spec string) bool { return pciAddress.MatchString(spec) }

func isAFPacket(spec string) bool { return strings.HasPrefix(spec, "net_af_packet") }

func isAFXDP(spec string) bool { return strings.HasPrefix(spec, "net_af_xdp") }

func isTap(spec string) bool { return strings.HasPrefix(spec, "net_tap") }

func isVhost(spec string) bool { return strings.HasPrefix(spec, "net_vhost") }

func isMemif(spec string) bool { return strings.HasPrefix(spec, "net_memif") }

// isMemifClient goes by the words that the driver knows for a server; it takes a
// device without a role to be a client.
func isMemifClient(spec string) bool {
	role, _ := argument(spec, "role")
	return isMemif(spec) && !strings.Contains(role, "server") && !strings.Contains(role, "master")
}

// memifSocket is where a memif's server listens; the default is the driver's.
func memifSocket(spec string) string {
	if path, ok := argument(spec, "socket"); ok {
		return path
	}
	return "/run/memif.sock"
}

// argument returns a named argument of a device's specification.
func argument(spec, name string) (value string, ok bool) {
	for a := range strings.SplitSeq(spec, ",") {
		if v, found := strings.CutPrefix(a, name+"="); found {
			return v, true
		}
	}
	return "", false
}

// Claims are what a device has for itself, in words: no other port can have it.
func Claims(spec string) (all []string) {
	name, _, _ := strings.Cut(spec, ",")
	if a := pciAddress.FindStringSubmatch(spec); a != nil {
		domain := a[1]
		if domain == "" {
			domain = "0000:"
		}
		name = strings.ToLower(domain + a[2])
	}
	all = append(all, "device "+name)
	iface, ok := argument(spec, "iface")
	switch {
	case ok && isVhost(spec):
		all = append(all, "socket "+iface)
	case ok && (isAFPacket(spec) || isAFXDP(spec) || isTap(spec)):
		all = append(all, "interface "+iface)
	case isMemif(spec):
		id, role := "0", "server"
		if n, ok := argument(spec, "id"); ok {
			id = n
		}
		if isMemifClient(spec) {
			role = "client"
		}
		all = append(all, fmt.Sprintf("socket %s, id %s, as %s", memifSocket(spec), id, role))
	}
	return all
}

// WantsMAC reports whether a device makes up an address whenever it is opened.
func WantsMAC(spec string) bool {
	_, has := argument(spec, "mac")
	return isTap(spec) && !has
}
