//go:build dpdk

package dpdk

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// kernelFrames is how many frames the kernel's ring holds unless the port's
// arguments say otherwise: 5 ms of full frames at 10 Gbit/s, for a worker that
// shares its core with others. Longer frames are fewer, so that the two rings of a
// port take no more than 32 MB.
const kernelFrames = 4096

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

// checkSpec says what is wrong with what a specification says.
func checkSpec(spec string, mtu int) error {
	iface, ok := argument(spec, "iface")
	if ok && len(iface) >= unix.IFNAMSIZ && !isVhost(spec) {
		return fmt.Errorf("the kernel's names of interfaces have at most %d characters", unix.IFNAMSIZ-1)
	}
	if !ok && (isAFPacket(spec) || isAFXDP(spec)) {
		name, _, _ := strings.Cut(spec, ",")
		return fmt.Errorf("it needs the interface it sits on (write it like %s,iface=sw0)", name)
	}
	if !isAFPacket(spec) {
		return nil
	}
	if n, ok := argument(spec, "qpairs"); ok && n != "1" {
		return fmt.Errorf("qpairs=%s: photon polls one queue of a port (leave it out)", n)
	}
	if n, ok := argument(spec, "framesz"); ok {
		if size, err := strconv.Atoi(n); err != nil || size < mtu+beside {
			return fmt.Errorf("framesz=%s: frames of mtu %d take %d bytes (leave it out)", n, mtu, mtu+beside)
		}
	}
	return nil
}
