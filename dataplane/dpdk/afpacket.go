//go:build dpdk

package dpdk

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// kernelFrames is how many frames the kernel's ring holds unless the port's
// arguments say otherwise: 5 ms of full frames at 10 Gbit/s, for a worker that
// shares its core with others. Longer frames are fewer, so that the two rings of a
// port take no more than 32 MB.
const kernelFrames = 4096

func isAFPacket(spec string) bool { return strings.HasPrefix(spec, "net_af_packet") }

func isAFXDP(spec string) bool { return strings.HasPrefix(spec, "net_af_xdp") }

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

// checkInterface says what is wrong with the interface that a specification names.
func checkInterface(spec string) error {
	iface, ok := argument(spec, "iface")
	if ok && len(iface) >= unix.IFNAMSIZ && !strings.HasPrefix(spec, "net_vhost") {
		return fmt.Errorf("port %s: the kernel's names of interfaces have at most %d characters", spec, unix.IFNAMSIZ-1)
	}
	if !ok && (isAFPacket(spec) || isAFXDP(spec)) {
		name, _, _ := strings.Cut(spec, ",")
		return fmt.Errorf("port %s: it needs the interface it sits on (write it like %s,iface=sw0)", spec, name)
	}
	return nil
}
