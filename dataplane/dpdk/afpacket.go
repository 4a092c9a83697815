//go:build dpdk

package dpdk

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The driver net_af_packet leaves two things to us: its kernel ring is small,
// and it does not tell what the kernel dropped because the ring was full.

// kernelFrames is how many frames the kernel's ring holds unless the port's
// arguments say otherwise: 5 ms of full frames at 10 Gbit/s, for a worker that
// shares its core with others. Longer frames are fewer, so that the two rings of a
// port take no more than 32 MB.
const kernelFrames = 4096

func isAFPacket(spec string) bool { return strings.HasPrefix(spec, "net_af_packet") }

// argument returns a named argument of a device's specification.
func argument(spec, name string) (value string, ok bool) {
	for a := range strings.SplitSeq(spec, ",") {
		if v, found := strings.CutPrefix(a, name+"="); found {
			return v, true
		}
	}
	return "", false
}

// withRing adds the ring's size to a specification that does not name one.
func withRing(spec string, mtu int) string {
	if _, ok := argument(spec, "framecnt"); ok || !isAFPacket(spec) {
		return spec
	}
	size := FrameSize(mtu)
	block := 1 << 16 // of whole frames and whole pages
	if block%size != 0 {
		block = 4 * size
	}
	return fmt.Sprintf("%s,framesz=%d,blocksz=%d,framecnt=%d", spec, size, block, max(kernelFrames*2048/size&^3, kernelFrames/4))
}

// checkInterface finds out before DPDK does whether a kernel interface is there,
// and lets it take frames of an MTU.
func checkInterface(spec string, mtu int) error {
	if name, ok := argument(spec, "iface"); ok && len(name) >= unix.IFNAMSIZ && !strings.HasPrefix(spec, "net_vhost") {
		return fmt.Errorf("port %s: the kernel's names of interfaces have at most %d characters", spec, unix.IFNAMSIZ-1)
	}
	if !isAFPacket(spec) && !strings.HasPrefix(spec, "net_af_xdp") {
		return nil
	}
	iface, ok := argument(spec, "iface")
	if !ok {
		name, _, _ := strings.Cut(spec, ",")
		return fmt.Errorf("port %s: it needs the interface it sits on (write it like %s,iface=sw0)", spec, name)
	}
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return fmt.Errorf("port %s: there is no network interface %q (`ip link` lists them)", spec, iface)
	}
	if i.MTU < mtu {
		if err := setMTU(iface, mtu); err != nil {
			return fmt.Errorf("port %s: interface %s takes no frames of mtu %d, but of %d at most: %w", spec, iface, mtu, i.MTU, err)
		}
	}
	return nil
}

// setMTU sets the MTU of a kernel interface. The driver would ask the kernel too,
// but for its claim that no frame is longer than 1514 bytes.
func setMTU(iface string, mtu int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq(iface)
	if err != nil {
		return err
	}
	r.SetUint32(uint32(mtu))
	return unix.IoctlIfreq(fd, unix.SIOCSIFMTU, r)
}

// packetSockets returns the packet sockets of this process.
func packetSockets() (fds []int) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN); err == nil && domain == unix.AF_PACKET {
			fds = append(fds, fd)
		}
	}
	return fds
}

// kernelDrops counts what the kernel dropped at a device's packet sockets. The
// kernel's count starts anew whenever it is read.
type kernelDrops struct {
	iface string // empty: no kernel interface
	tap   string // interface of a tap; empty: it is none
	fds   []int
	total uint64
}

// running reports whether the interface is up and has a carrier, which the
// driver does not tell. The socket knows in which namespace to ask.
func (k *kernelDrops) running() bool {
	if k.iface == "" || len(k.fds) == 0 {
		return true
	}
	r, err := unix.NewIfreq(k.iface)
	if err != nil || unix.IoctlIfreq(k.fds[0], unix.SIOCGIFFLAGS, r) != nil {
		return false // it is gone
	}
	if r.Uint16()&unix.IFF_UP == 0 {
		return false
	}
	if carrier, ok := carrier(k.fds[0], k.iface); ok {
		return carrier
	}
	return r.Uint16()&unix.IFF_RUNNING != 0
}

// shared is the interface, if the kernel answers ARP at it, too.
func (k *kernelDrops) shared() string {
	if k.iface == "" || len(k.fds) == 0 {
		return ""
	}
	r, err := unix.NewIfreq(k.iface)
	if err != nil || unix.IoctlIfreq(k.fds[0], unix.SIOCGIFFLAGS, r) != nil || r.Uint16()&unix.IFF_NOARP != 0 {
		return ""
	}
	return k.iface
}

// carrier asks for an interface's carrier. The flag IFF_RUNNING would tell of it
// up to a second later: the kernel brings it up to date no more often.
func carrier(fd int, iface string) (on, ok bool) {
	value := struct{ cmd, data uint32 }{cmd: unix.ETHTOOL_GLINK}
	request := struct { // ifreq
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: unsafe.Pointer(&value)}
	copy(request.name[:unix.IFNAMSIZ-1], iface)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
	return value.data != 0, errno == 0
}

// newSockets are those of a device that were not there before.
func newSockets(spec string, before []int) *kernelDrops {
	k := &kernelDrops{}
	if isAFPacket(spec) {
		k.iface, _ = argument(spec, "iface")
	}
	if strings.HasPrefix(spec, "net_tap") {
		k.tap, _ = argument(spec, "iface")
	}
	for _, fd := range packetSockets() {
		if !slices.Contains(before, fd) {
			k.fds = append(k.fds, fd)
		}
	}
	return k
}

func (k *kernelDrops) read() uint64 {
	for _, fd := range k.fds {
		if s, err := unix.GetsockoptTpacketStats(fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
			k.total += uint64(s.Drops)
		}
	}
	return k.total + tapDrops(k.tap)
}

// tapDrops is how many frames the kernel dropped that were sent into a tap,
// because nobody took the ones before; 0 if the interface is in another namespace.
func tapDrops(iface string) uint64 {
	if iface == "" {
		return 0
	}
	b, err := os.ReadFile("/proc/self/net/dev")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		name, counters, ok := strings.Cut(line, ":")
		if f := strings.Fields(counters); ok && strings.TrimSpace(name) == iface && len(f) >= 12 {
			n, _ := strconv.ParseUint(f[11], 10, 64) // sent by the kernel, dropped
			return n
		}
	}
	return 0
}
