package dpdk

import (
	"fmt"
	"os"
)

// kernelFrames is how many frames the kernel's ring holds unless the port's
// arguments say otherwise: 5 ms of full frames at 10 Gbit/s, for a worker that
// shares its core with others. Longer frames are fewer, so that the two rings of a
// port take no more than 32 MB.
const kernelFrames = 4096

// ringHeader is what the kernel's ring has before a frame, as DPDK's driver counts it (TPACKET2_HDRLEN less a struct
// sockaddr_ll).
const ringHeader = 32

// withRing completes what a packet socket's specification says of the kernel's rings; others it leaves alone.
func withRing(spec string, mtu int) string {
	size := FrameSize(mtu)
	return WithRing(spec, mtu, max(kernelFrames*2048/size&^3, kernelFrames/4))
}

// WithRing adds what a packet socket's specification does not say of the kernel's rings: room for frames of an MTU, in
// blocks of whole frames and whole pages, and for so many of them or a few more. It leaves others alone, and what
// CheckSpec refuses.
func WithRing(spec string, mtu, frames int) string {
	if !isAFPacket(spec) {
		return spec
	}
	size, ok := numberOf(spec, "framesz")
	if !ok {
		size = FrameSize(mtu)
		spec += fmt.Sprintf(",framesz=%d", size)
	}
	if size <= 0 {
		return spec
	}
	block, ok := numberOf(spec, "blocksz")
	if !ok {
		if block = 1 << 16; block%size != 0 && 4*size%os.Getpagesize() == 0 {
			block = 4 * size
		}
		spec += fmt.Sprintf(",blocksz=%d", block)
	}
	if _, ok := argument(spec, "framecnt"); !ok {
		per := max(1, block/size)
		spec += fmt.Sprintf(",framecnt=%d", (frames+per-1)/per*per)
	}
	return spec
}

// checkRing says what the kernel, or DPDK's driver, would not take for the two rings of a packet socket. Their
// arguments are numbers.
func checkRing(spec string, mtu, buffer int) error {
	spec = withRing(spec, mtu)
	size, _ := numberOf(spec, "framesz")
	block, _ := numberOf(spec, "blocksz")
	frames, _ := numberOf(spec, "framecnt")
	page := os.Getpagesize()
	switch {
	case size < mtu+beside:
		return fmt.Errorf("framesz=%d: frames of mtu %d take %d bytes (leave it out)", size, mtu, mtu+beside)
	case size-ringHeader > buffer:
		return fmt.Errorf("framesz=%d: buffers for mtu %d have %d bytes (leave it out)", size, mtu, buffer)
	case size%16 != 0:
		return fmt.Errorf("framesz=%d: the kernel takes multiples of 16 (leave it out)", size)
	case block < size || block%page != 0:
		return fmt.Errorf("blocksz=%d: a block is whole pages of %d bytes, and holds a frame of %d (leave it out)",
			block, page, size)
	case frames%(block/size) != 0:
		return fmt.Errorf("framecnt=%d: a block holds %d frames, so a multiple of that (leave it out)", frames, block/size)
	}
	return nil
}
