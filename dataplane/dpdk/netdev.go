//go:build dpdk

package dpdk

// #include "ph.h"
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// netdev is the kernel's interface that a device sits on, or that it makes.
type netdev struct {
	name   string
	device uint16 // DPDK's number
	open   bool   // it has one
	packet bool   // net_af_packet: it has a packet socket
	tap    bool   // net_tap: the interface comes with it
	bypass bool   // its frames pass the kernel's queue by, as the driver's do if it is not told otherwise
	mtu    int    // of the port
	route  *netlink.Handle
	asks   int // socket for ioctls; like route, of the namespace in which the device was opened

	claims   int    // socket whose name says that the interface is taken
	space    uint64 // number of the network namespace
	begun    bool
	lowered  bool               // setUp has taken it down
	last     *netlink.LinkAttrs // what find returned
	attached uint64             // how often an interface that came later was taken
	refused  string             // why the present interface was not attached; empty: it was, or there is none

	short bool // its MTU is less than the port's

	carrier *nl.NetlinkSocket // asks how often the interface lost its carrier
	counted int               // index of the interface whose losses these are; 0: it has gone
	losses  uint32            // how often it had when it was last asked
	downs   uint64            // how often the port's link went down since the device was opened

	notices []Notice // not fetched yet
	named   bool     // super-frames or open checksums were reported

	dropped        uint64 // what the kernel counted as dropped after it had taken it, once for each try
	silent         uint64 // frames of these that it took for sent
	longest        uint32 // frames that the other end takes, as the log has said; 0: all
	receivedAtOpen uint64 // frames that the interface had received when the device was opened
	before         uint64 // frames that came until it was polled
	missed         uint64 // frames that the kernel dropped because its ring was full
}

// newNetdev looks at the interface of a device; nil: it has none that is known.
func newNetdev(spec string, mtu int) (*netdev, error) {
	n := &netdev{packet: isAFPacket(spec), tap: isTap(spec), mtu: mtu, asks: -1, claims: -1}
	bypass, ok := argument(spec, "qdisc_bypass")
	n.bypass = !ok || bypass == "1"
	if n.name, ok = argument(spec, "iface"); !ok || !n.packet && !n.tap && !isAFXDP(spec) {
		return nil, nil
	}
	var err error
	if n.route, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
		return nil, err
	}
	if n.asks, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err != nil {
		n.close()
		return nil, err
	}
	if n.tap {
		if l, err := n.route.LinkByName(n.name); err == nil && l.Type() != "tuntap" {
			n.close()
			return nil, fmt.Errorf("there is an interface %s already, and it is no tap: name another one, "+
				"which photon makes", n.name)
		}
		return n, nil
	}
	if n.carrier, err = nl.Subscribe(unix.NETLINK_ROUTE); err != nil { // to nothing
		n.close()
		return nil, err
	}
	l := n.find()
	if l == nil {
		err = fmt.Errorf("there is no network interface %q (`ip link` lists them)", n.name)
	} else {
		err = n.claim(l.Index)
	}
	if err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

// claim takes an interface for this process, if no other photon has it. The name, which
// nothing but the kernel keeps, is one of a network namespace, as the interface's number is.
func (n *netdev) claim(index int) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var at unix.Stat_t
	if err := unix.Stat("/proc/thread-self/ns/net", &at); err != nil {
		unix.Close(fd)
		return err
	}
	if n.space == 0 { // later it may be another thread's, in another namespace
		n.space = at.Ino
	}
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("@photon/port/%d/%d", n.space, index)})
	if err != nil {
		unix.Close(fd)
		if err == unix.EADDRINUSE {
			err = fmt.Errorf("interface %s is a port already, of another photon or of this one: end that, or name another interface", n.name)
		}
		return err
	}
	if n.claims >= 0 {
		unix.Close(n.claims)
	}
	n.claims = fd
	return nil
}

// prepare has the interface be as the port needs it.
func (n *netdev) prepare() error {
	if n == nil || n.tap {
		return nil
	}
	l := n.find()
	if l == nil {
		return fmt.Errorf("interface %s has gone", n.name)
	}
	return n.fit(l)
}

func (n *netdev) close() {
	if n == nil {
		return
	}
	if n.lowered {
		_ = n.setUp(true) // as it was found: a later photon cannot know
	}
	if n.claims >= 0 {
		unix.Close(n.claims)
	}
	if n.route != nil {
		n.route.Close()
	}
	if n.carrier != nil {
		n.carrier.Close()
	}
	if n.asks >= 0 {
		unix.Close(n.asks)
	}
}

// flaps counts how often the carrier was lost since the last call: a link may be up again
// by the next check, while the peer has forgotten its pauses. An interface that has gone took its link with it, once;
// one that has its name since counts for itself.
func (n *netdev) flaps(l *netlink.LinkAttrs) {
	if l == nil || l.Index != n.counted {
		n.left()
		return
	}
	was := n.losses
	if n.carrier != nil && n.countCarrier(l.Index) {
		n.downs += uint64(n.losses - was)
	}
}

// left counts that the interface has gone, unless that is known.
func (n *netdev) left() {
	if n.counted != 0 {
		n.counted = 0
		n.downs++
	}
}

// taken begins to count with what an interface has lost by now.
func (n *netdev) taken(l *netlink.LinkAttrs) {
	n.counted = l.Index
	if n.carrier != nil {
		n.countCarrier(l.Index)
	}
}

// countCarrier reads how often an interface has lost its carrier.
func (n *netdev) countCarrier(index int) bool {
	ask := nl.NewNetlinkRequest(unix.RTM_GETLINK, 0)
	ask.Sockets = map[int]*nl.SocketHandle{unix.NETLINK_ROUTE: {Socket: n.carrier}}
	about := nl.NewIfInfomsg(unix.AF_UNSPEC)
	about.Index = int32(index)
	ask.AddData(about)
	answers, err := ask.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWLINK)
	if err != nil || len(answers) != 1 {
		return false
	}
	attributes, err := nl.ParseRouteAttr(answers[0][unix.SizeofIfInfomsg:])
	if err != nil {
		return false
	}
	for _, a := range attributes {
		if a.Attr.Type == unix.IFLA_CARRIER_DOWN_COUNT && len(a.Value) >= 4 {
			n.losses = binary.NativeEndian.Uint32(a.Value)
			return true
		}
	}
	return false
}

// find returns what the kernel says of the interface; nil: it is not there.
func (n *netdev) find() *netlink.LinkAttrs {
	l, err := n.route.LinkByName(n.name)
	switch {
	case err == nil:
		n.learn(l)
	case errors.As(err, &netlink.LinkNotFoundError{}):
		n.last = nil
	} // else the kernel has no time or no memory for the answer, and the interface is what it was
	return n.last
}

// learn stores what the kernel says of the interface.
func (n *netdev) learn(link netlink.Link) {
	l := link.Attrs()
	switch {
	case n.last == nil:
	case n.last.Index == l.Index:
		n.dropped += l.Statistics.TxDropped - n.last.Statistics.TxDropped
	default: // which has not counted the last tries of the one before
		n.dropped = max(n.dropped, n.silent+uint64(n.peerDrops().refusals))
	}
	n.last = l
	if n.packet && n.open {
		C.ph_packet_limit(C.uint16_t(n.device), C.uint(l.MTU))
		C.ph_packet_direct(C.uint16_t(n.device), flag(n.bypass && link.Type() == "veth"))
	}
}

// opened is called when DPDK has opened the device.
func (n *netdev) opened(device uint16) {
	n.device, n.open = device, true
	if l := n.find(); l != nil {
		n.receivedAtOpen = l.Statistics.RxPackets
		n.taken(l)
	}
}

// begin makes frames arrive; before, the socket receives none.
func (n *netdev) begin() error {
	l := n.find()
	n.begun = true
	if !n.packet || l == nil {
		return nil
	}
	n.before = l.Statistics.RxPackets - n.receivedAtOpen
	return n.bind(l)
}

// bind has the device use the interface as it is there now.
func (n *netdev) bind(l *netlink.LinkAttrs) error {
	if r := C.ph_packet_bind(C.uint16_t(n.device), C.int(l.Index)); r < 0 {
		return fmt.Errorf("interface %s: %w", n.name, unix.Errno(-r))
	}
	return nil
}

// follow has the device use the interface that has its name, if that is another than
// the one it uses: a container's is created again whenever it starts. It returns a line
// for the log.
func (n *netdev) follow() (notices []Notice) {
	if !n.packet || !n.begun {
		return nil
	}
	notices, n.notices = n.notices, nil
	l, bound := n.find(), int(C.ph_packet_bound(C.uint16_t(n.device)))
	switch {
	case l == nil:
		n.refused = ""
		if bound != 0 { // it is there, and has another name now
			C.ph_packet_unbind(C.uint16_t(n.device))
			notices = append(notices, Notice{Text: fmt.Sprintf("the interface has another name now: it is not heard until one is called %s", n.name), Bad: true})
		}
	case l.Index == bound:
		if was := n.short; was != (l.MTU < n.mtu) {
			n.short = !was
			if n.short {
				notices = append(notices, Notice{Text: fmt.Sprintf("the interface takes no frames of mtu %d, but of %d at most: `ip link set %s mtu %d`", n.mtu, l.MTU, n.name, n.mtu), Bad: true})
			} else {
				notices = append(notices, Notice{Text: fmt.Sprintf("the interface takes frames of mtu %d again", n.mtu)})
			}
		}
		notices = append(notices, n.warnShort()...)
	default:
		err := n.claim(l.Index)
		if err == nil {
			err = n.fit(l)
		}
		if err == nil {
			err = n.bind(l)
		}
		switch {
		case err == nil:
			n.attached++
			n.left() // the one before
			n.taken(l)
			n.refused = ""
			notices = append(notices, Notice{Text: "the interface was made anew: attached to it"})
		case err.Error() != n.refused:
			n.refused = err.Error()
			notices = append(notices, Notice{Text: "the interface was made anew, and cannot be used: " + n.refused, Bad: true})
		}
	}
	return notices
}

// warnOffloads warns when the first super-frames or open checksums have arrived.
func (n *netdev) warnOffloads(several, open uint64) (notices []Notice) {
	if n.named || several == 0 && open == 0 {
		return nil
	}
	n.named = true
	what := "frames without their checksum come, which receivers drop"
	if several > 0 {
		what = "super-frames come, several in one, which are dropped"
	}
	return []Notice{{Text: what + ": offloads are on at the other end of the cable (there, if it is eth0: `ethtool -K eth0 tx off tso off gso off`)", Bad: true}}
}

// mergers are the offloads by which the kernel merges frames before a packet socket sees
// them, and how each is read and set.
var mergers = []struct {
	name     string
	get, set uint32
	bit      uint32
}{
	{"gro", unix.ETHTOOL_GGRO, unix.ETHTOOL_SGRO, 1},
	{"lro", unix.ETHTOOL_GFLAGS, unix.ETHTOOL_SFLAGS, 1 << 15}, // ETH_FLAG_LRO
}

// fit makes the interface accept frames of the port's MTU, and not merge them.
func (n *netdev) fit(l *netlink.LinkAttrs) error {
	for _, m := range mergers {
		now, err := n.ethtool(m.get, 0)
		if err != nil || now&m.bit == 0 {
			continue
		}
		notice := Notice{Text: m.name + " was on at the interface, by which the kernel merges frames: switched off"}
		if _, err := n.ethtool(m.set, now&^m.bit); err != nil {
			notice = Notice{Text: fmt.Sprintf("%s is on at the interface, by which the kernel merges frames, and cannot be switched off: %v", m.name, err), Bad: true}
		}
		n.notices = append(n.notices, notice)
	}
	if l.MTU >= n.mtu {
		return nil
	}
	// The driver would ask the kernel too, but for its claim that no frame is longer than 1514 bytes.
	if err := n.setMTU(); err != nil {
		return fmt.Errorf("interface %s takes no frames of mtu %d, but of %d at most: %w", n.name, n.mtu, l.MTU, err)
	}
	return nil
}

// setMTU gives the interface the port's MTU.
func (n *netdev) setMTU() error {
	l, err := n.route.LinkByName(n.name)
	if err != nil {
		return err
	}
	return n.route.LinkSetMTU(l, n.mtu)
}

// running reports whether the interface is up and has a carrier, which the driver
// does not report.
func (n *netdev) running() bool {
	if !n.packet {
		return true
	}
	l := n.find()
	if l == nil || l.RawFlags&unix.IFF_UP == 0 {
		return false
	}
	if n.begun && int(C.ph_packet_bound(C.uint16_t(n.device))) != l.Index {
		return false // it came later, and is not used yet
	}
	// The flag IFF_RUNNING would show the carrier up to a second late: the kernel
	// updates it only so often.
	if carrier, err := n.ethtool(unix.ETHTOOL_GLINK, 0); err == nil {
		return carrier != 0
	}
	return l.RawFlags&unix.IFF_RUNNING != 0
}

// setUp takes the interface up or down. One that is not there has neither.
func (n *netdev) setUp(up bool) error {
	n.lowered = !up
	l := n.find()
	if l == nil || up == (l.RawFlags&unix.IFF_UP != 0) {
		return nil
	}
	set, word := n.route.LinkSetDown, "down"
	if up {
		set, word = n.route.LinkSetUp, "up"
	}
	if err := set(&netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: l.Index}}); err != nil {
		return fmt.Errorf("interface %s does not go %s: %w", n.name, word, err)
	}
	return nil
}

// shared is the interface, if the kernel answers ARP at it, too.
func (n *netdev) shared() string {
	if l := n.find(); !n.packet || l == nil || l.RawFlags&unix.IFF_NOARP != 0 {
		return ""
	}
	return n.name
}

// queue is how many frames of programs wait in a tap until they are polled; what comes then is dropped. 0: it is not known.
func (n *netdev) queue() int {
	if n == nil {
		return 0
	}
	if l := n.find(); l != nil {
		return max(l.TxQLen, 0)
	}
	return 0
}

// pauses reports whether the card of the interface acts on pauses, or sends some by itself. ok: there is a card, unlike
// for a veth or a bridge.
func (n *netdev) pauses() (acts, ok bool) {
	if n == nil || n.tap {
		return false, false
	}
	p := struct{ order, negotiates, rx, tx uint32 }{order: unix.ETHTOOL_GPAUSEPARAM}
	if n.ask(unsafe.Pointer(&p)) != nil {
		return false, false
	}
	return p.rx|p.tx != 0, true
}

// ethtool sets or reads a value of a numbered ethtool command.
func (n *netdev) ethtool(order, number uint32) (uint32, error) {
	value := struct{ order, number uint32 }{order, number}
	err := n.ask(unsafe.Pointer(&value))
	return value.number, err
}

// ask makes the kernel execute an ethtool command on its structure.
func (n *netdev) ask(value unsafe.Pointer) error {
	request := struct { // ifreq
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: value}
	copy(request.name[:unix.IFNAMSIZ-1], n.name)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(n.asks), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}

// count adds what the kernel counted at the interface.
func (n *netdev) count(d *DeviceStats) {
	l := n.find()
	d.RxBefore += n.before
	if n.tap {
		d.TxErrors = 0 // the driver counts each try to send what the tap refuses, which is in TxDropped
		if l != nil {  // it is in another namespace by now if there is none
			d.RxMissed += l.Statistics.TxDropped // sent by programs while the queue was full
		}
	}
	if !n.packet {
		return
	}
	// Reading resets the kernel's count.
	if s, err := unix.GetsockoptTpacketStats(n.socket(), unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		n.missed += uint64(s.Drops)
	}
	d.RxMissed += n.missed
	n.flaps(l)
	d.Downs = n.downs
	lost := n.peerDrops()
	// Not while the worker asks the kernel to send: a try that is counted there may not be among the refusals yet.
	if tries := n.silent + uint64(lost.refusals); lost.asking == 0 && n.dropped > tries { // else there were some since
		n.silent += n.dropped - tries
	}
	d.Attached, d.TxDropped = n.attached, n.silent+uint64(lost.frames)
	d.TxErrors = uint64(C.ph_packet_refused(C.uint16_t(n.device))) // the driver's count has what went at the second try
}

// peerDrops is what the other end of the cable did not take, of what the kernel offers again.
func (n *netdev) peerDrops() (l C.struct_ph_lost) {
	if n.packet && n.open {
		C.ph_packet_lost(C.uint16_t(n.device), &l)
	}
	return l
}

// warnShort warns when the other end of the cable takes no frames as long as some that left.
func (n *netdev) warnShort() (notices []Notice) {
	longest := uint32(n.peerDrops().from)
	if longest > 0 && (n.longest == 0 || longest < n.longest) && n.running() {
		notices = []Notice{{Text: fmt.Sprintf("the other end of the cable drops frames of %d bytes: its MTU is less than the port's (there, if it is eth0: `ip link set eth0 mtu %d`)", longest, n.mtu), Bad: true}}
	}
	n.longest = longest
	return notices
}

func (n *netdev) socket() int { return int(C.ph_packet_socket(C.uint16_t(n.device))) }
