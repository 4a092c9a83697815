package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"photon/wire"
)

const (
	hosts = 64

	routesAPort = 8
	routerMAC   = wire.MAC(0x0200_00FF_FFFF)
	ttl         = 64

	// ringFrames are sent around in each net_ring: as many as eight bursts, since with two workers some of them are on
	// their way from one to the other. With two bursts in each ring workers waited for frames.
	ringFrames = 512
)

// hostMAC is the address of a host, which is behind port h modulo the number of ports.
func hostMAC(h int) wire.MAC { return 0x0200_0000_0000 | wire.MAC(h) }

func isHost(m wire.MAC) bool { return m&^(hosts-1) == hostMAC(0) }

// neighbourMAC is that of the next hop of a port's route.
func neighbourMAC(port, route int) wire.MAC {
	return 0x0200_0001_0000 | wire.MAC(port)<<8 | wire.MAC(route)
}

// frame is what a template says.
type frame struct {
	wire.RoCE
	vlan   int // 0: no tag
	length int
}

// frame is template i of a port: one of several hosts there sends to one of several
// behind another port, all others in turn.
func (c testCase) frame(port, i int) frame {
	groups := hosts / c.Ports
	out := (port + 1 + i%(c.Ports-1)) % c.Ports
	from, to := i%groups, (7*i+port)%groups
	f := frame{length: c.Bytes}
	if c.tagged { // VLAN v is that of access port 2v, and of every so many hosts behind trunks
		vlans := c.Ports / 2
		v := port / 2
		if trunk(port) {
			v = from % vlans
			out, f.vlan = 2*v, vlanID(v)
		} else {
			out = 1 + 2*(i%vlans)
			to = to/vlans*vlans + v
		}
	}
	prio := c.priority(i)
	if c.mixed {
		f.length = mixLength(i)
	}
	f.TOS = uint8(8*prio+2)<<2 | wire.ECT0
	f.SrcMAC, f.DstMAC = hostMAC(from*c.Ports+port), hostMAC(to*c.Ports+out)
	f.SrcPort = uint16(0xC000 + port*perPort + i)
	route := i % routesAPort
	address := address4
	if c.ipv6 {
		address = address6
	}
	f.Src, f.Dst = address(port, from%routesAPort, from), address(out, route, to)
	if c.routed {
		f.DstMAC = routerMAC
	}
	return f
}

// priority is that of template i.
func (c testCase) priority(i int) int {
	switch {
	case c.lossy:
		return 1
	case c.all:
		return i / (c.Ports - 1) % 8
	}
	return 3
}

// priorities are all there are, as bits.
func (c testCase) priorities() (set uint8) {
	for i := range perPort {
		set |= 1 << c.priority(i)
	}
	return set
}

func trunk(port int) bool     { return port%2 == 1 }
func vlanID(v int) int        { return 10 * (v + 1) }
func mixLength(i int) int     { return [12]int{60, 576, 60, 60, 576, 60, 60, 1500, 60, 576, 60, 576}[i%12] }
func prefix4(p, r int) string { return fmt.Sprintf("10.%d.%d.0/24", p, r) }
func prefix6(p, r int) string { return fmt.Sprintf("fd00:%d:%d::/64", p, r) }

// address4 is that of a host in prefix4.
func address4(port, route, host int) wire.IP {
	return wire.IPv4(10, byte(port), byte(route), byte(host))
}

// address6 is that of a host in prefix6.
func address6(port, route, host int) (a wire.IP) {
	a[0], a[3], a[5], a[15] = 0xFD, byte(port), byte(route), byte(host)
	return a
}

// mean is that of the lengths of a mix.
func (c testCase) mean() int {
	sum := 0
	for i := range perPort {
		sum += mixLength(i)
	}
	return (sum + perPort/2) / perPort
}

// template writes the headers of template i of a port.
func (c testCase) template(port, i int, head []byte) (length int) {
	f := c.frame(port, i)
	b := make([]byte, 2*headLen)
	tag := 0
	if f.vlan > 0 {
		tag = wire.VLANLen
	}
	at := tag + f.Encode(b[tag:], f.length-tag-wire.EthernetLen-f.ipLen()-wire.UDPLen)
	if at+wire.BTHLen <= min(f.length, headLen) {
		wire.BTH(b[at:]).Encode(wire.OpSendMiddle, false, uint32(i), false, 0)
	} else { // too short for RoCEv2: another port of UDP
		binary.BigEndian.PutUint16(b[at-wire.UDPLen+2:], 5001)
	}
	if tag > 0 {
		wire.PushVLANTag(b, uint16(f.vlan)|3<<13)
	}
	copy(head, b)
	return f.length
}

func (f frame) ipLen() int {
	if f.Dst.Is4() {
		return wire.IPv4Len
	}
	return wire.IPv6Len
}

// left says what is wrong with a frame that left through a port.
func (c testCase) left(port int, b []byte, length int) error {
	if len(b) < 60 {
		return fmt.Errorf("it has %d bytes", length)
	}
	dst, src := wire.MACAt(b), wire.MACAt(b[6:])
	tci, tagged := wire.VLANTag(b)
	if tagged != (c.tagged && trunk(port)) {
		return fmt.Errorf("it has a tag: %v", tagged)
	}
	at, added := wire.EthernetLen, 0
	if tagged {
		at, added = at+wire.VLANLen, wire.VLANLen
		if v := int(tci & wire.VLANID); v != vlanID(int(dst&(hosts-1))/c.Ports%(c.Ports/2)) {
			return fmt.Errorf("it is in VLAN %d", v)
		}
	} else if c.tagged {
		added = -wire.VLANLen
	}
	ip, hops := b[at:], uint8(ttl)
	if c.routed {
		hops--
		if src != routerMAC || dst&^(routesAPort-1) != neighbourMAC(port, 0) {
			return errors.New("the router has other addresses for it")
		}
	} else if !isHost(dst) || !isHost(src) || int(dst)%c.Ports != port || int(src)%c.Ports == port {
		return errors.New("it does not belong there")
	}
	is := ip[8]
	if c.ipv6 {
		is = ip[7]
	} else if !wire.IPv4ChecksumOK(ip) {
		return errors.New("its checksum is wrong")
	}
	if is != hops {
		return fmt.Errorf("its time to live is %d", is)
	}
	if want := c.Bytes + added; !c.mixed && length != want {
		return fmt.Errorf("it has %d bytes and not %d", length, want)
	}
	return nil
}

// configuration is the switch's file.
func (c testCase) configuration() string {
	var b strings.Builder
	b.WriteString("rate: 40Gbps\nscheme: {name: pcn}\nports:\n")
	for i := range c.Ports {
		fmt.Fprintf(&b, "- device: %s\n", c.device(i))
	}
	b.WriteString(c.yaml)
	if c.tagged {
		b.WriteString("vlans:\n")
		for v := range c.Ports / 2 {
			fmt.Fprintf(&b, "- {id: %d, untagged: [%d], tagged: [%s]}\n", vlanID(v), 2*v, trunks(c.Ports, "%d"))
		}
	}
	if c.routed {
		fmt.Fprintf(&b, "router: {mac: '%v'}\nroutes:\n", routerMAC)
		c.routes(func(prefix string, port, route int) {
			fmt.Fprintf(&b, "- {prefix: '%s', via: [{port: %d, mac: '%v'}]}\n", prefix, port, neighbourMAC(port, route))
		})
	}
	return b.String()
}

// routes are all there are.
func (c testCase) routes(each func(prefix string, port, route int)) {
	prefix := prefix4
	if c.ipv6 {
		prefix = prefix6
	}
	for port := range c.Ports {
		for route := range routesAPort {
			each(prefix(port, route), port, route)
		}
	}
}

// trunks is a list of them.
func trunks(ports int, format string) string {
	var all []string
	for p := range ports {
		if trunk(p) {
			all = append(all, fmt.Sprintf(format, p))
		}
	}
	return strings.Join(all, ", ")
}
