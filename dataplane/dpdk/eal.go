//go:build dpdk

package dpdk

/*
#cgo pkg-config: libdpdk
#cgo LDFLAGS: -lrte_net_ring -lrte_net_vhost
#include <stdlib.h>
#include "ph.h"
*/
import "C"

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Available tells whether this build has DPDK.
const Available = true

// Version is DPDK's.
func Version() string { return C.GoString(C.rte_version()) }

// eal is what a process has once: DPDK's environment, and the pool of frame
// buffers, made for the first world and used by all.
var eal struct {
	sync.Mutex
	up     bool
	err    error
	pool   *C.struct_rte_mempool
	base   unsafe.Pointer // lowest mbuf
	span   uintptr        // bytes from it to the end of the highest
	frames int
	most   int        // it may grow to so many
	next   *C.uint8_t // where it goes on
	cards  bool       // the PCI bus is there
	size   int        // bytes of an mbuf's data room beyond the headroom
	worlds int        // that are not closed
	words  *os.File   // what drivers have against a device; nil: they say it themselves (see listen)
}

// initEAL starts DPDK, the first time, for a world with options o.
func initEAL(o Options) error {
	eal.Lock()
	defer eal.Unlock()
	if eal.up || eal.err != nil {
		return eal.err
	}
	eal.err = startEAL(o)
	eal.up = eal.err == nil
	return eal.err
}

func startEAL(o Options) error {
	args := []string{"photon", "--no-telemetry", "--log-level=*:critical", "--file-prefix", fmt.Sprintf("photon%d", os.Getpid())}
	// DPDK keeps its own threads off the cores of what it takes for its only one,
	// which does not run: the workers have those.
	args = append(args, "--lcores", fmt.Sprintf("0@(%s)", strings.Trim(strings.ReplaceAll(fmt.Sprint(o.Cores[:o.Workers]), " ", ","), "[]")))
	if o.Hugepages {
		args = append(args, "--in-memory")
	} else {
		megabytes := 64 + (o.Frames*(o.FrameSize+512))>>20
		if left := memory() >> 20; left > 0 && uint64(megabytes) > left {
			return fmt.Errorf("no memory for %d frame buffers of %d bytes: they take %d MB, and %d MB are left (a smaller buffer, or fewer `frames`)", o.Frames, o.FrameSize, megabytes, left)
		}
		if o.grows() {
			megabytes = 64 + o.Most*16>>20 // the buffers are elsewhere
		}
		args = append(args, "--no-huge", "--no-shconf", "-m", fmt.Sprint(megabytes))
	}
	if len(o.PCI) == 0 {
		args = append(args, "--no-pci")
	}
	for _, address := range o.PCI {
		args = append(args, "-a", address)
	}
	args = append(args, o.EAL...)
	argv := (*[1 << 16]*C.char)(C.malloc(C.size_t(len(args)+1) * C.size_t(unsafe.Sizeof(uintptr(0))))) // DPDK keeps it
	for i, a := range args {
		argv[i] = C.CString(a)
	}
	argv[len(args)] = nil
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	said, err := unix.MemfdCreate("dpdk", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	words := os.NewFile(uintptr(said), "what DPDK says")
	defer words.Close()
	n := C.ph_eal_init(C.int(len(args)), &argv[0], C.int(said))
	if n < 0 {
		said := firstLine(words, "EAL: ", "photon: ") // that is none of its pages of help
		if said != "" {
			said = " (" + said + ")"
		}
		return fmt.Errorf("DPDK does not start (%s): %s%s", strings.Join(args[1:], " "), strerror(-int(n)), said)
	}
	_, _ = io.Copy(os.Stderr, io.NewSectionReader(words, 0, 1<<20)) // whatever it may be
	name := C.CString("photon")
	defer C.free(unsafe.Pointer(name))
	room := C.uint16_t(o.FrameSize + C.RTE_PKTMBUF_HEADROOM)
	frames, most := C.uint(o.Frames), o.Frames
	if o.grows() {
		most = o.Most
		eal.pool = C.ph_pool(name, frames, C.uint(most), room, 0, &eal.next) // of the field alone, says cgo
	} else {
		eal.pool = C.ph_pool(name, frames, frames, room, flag(o.Hugepages), nil)
	}
	if eal.pool == nil {
		return fmt.Errorf("no memory for %d frame buffers of %d bytes: %s (fewer frames, or more memory by the EAL argument -m)", o.Frames, o.FrameSize, rteError())
	}
	var low, high *C.uint8_t
	C.ph_span(eal.pool, &low, &high)
	eal.base = unsafe.Pointer(low)
	eal.span = uintptr(unsafe.Pointer(high)) - uintptr(eal.base)
	eal.span += uintptr(most-o.Frames) * uintptr(C.ph_object(eal.pool)) // where it may grow
	eal.frames, eal.most, eal.size, eal.cards = o.Frames, most, o.FrameSize, len(o.PCI) > 0
	if !slices.ContainsFunc(o.EAL, func(a string) bool { return strings.HasPrefix(a, "--log-level") }) {
		if fd, err := unix.MemfdCreate("drivers", unix.MFD_CLOEXEC); err == nil {
			eal.words = os.NewFile(uintptr(fd), "what drivers say")
		}
	}
	return nil
}

// listen keeps what drivers say, which are silent otherwise, until the function it returns is called. That returns the
// first line. If the operator has asked for DPDK's log, it has what they say.
func listen() (heard func() string) {
	if eal.words == nil || eal.words.Truncate(0) != nil {
		return func() string { return "" }
	}
	C.ph_listen(C.int(eal.words.Fd()))
	return func() string {
		C.ph_listened()
		return firstLine(eal.words, "")
	}
}

// firstLine is the first line of what DPDK has said that begins so, blank ones left out; empty: there is none.
func firstLine(words io.ReaderAt, begins ...string) string {
	lines := bufio.NewScanner(io.NewSectionReader(words, 0, 1<<20))
	for lines.Scan() {
		l := strings.TrimSpace(lines.Text())
		if l != "" && slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(l, b) }) {
			return l
		}
	}
	return ""
}

// memory is how much of it the machine has left, in bytes; 0: it is not known.
func memory() (left uint64) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemAvailable:" {
			left, _ = strconv.ParseUint(f[1], 10, 64)
		}
	}
	return left << 10
}

func strerror(n int) string { return C.GoString(C.rte_strerror(C.int(n))) }

func rteError() string { return strerror(int(C.ph_errno())) }

// affinity returns the cores this process may use.
func affinity() (cores []int) {
	var set unix.CPUSet
	_ = unix.SchedGetaffinity(0, &set)
	for core := range 8 * int(unsafe.Sizeof(set)) {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores
}

// grows reports whether the pool can get more buffers later.
func (o *Options) grows() bool { return o.Most > 0 && o.Most >= o.Frames && !o.Hugepages }

// growPool adds buffers to the pool until there are so many, if there is memory for them.
func growPool(frames int) error {
	eal.Lock()
	defer eal.Unlock()
	if frames <= eal.frames || eal.worlds > 0 {
		return nil
	}
	bytes := uint64(frames-eal.frames) * uint64(C.ph_object(eal.pool))
	if left := memory(); left > 0 && bytes > left {
		return fmt.Errorf("no memory for %d frame buffers: %d more take %d MB, and %d MB are left",
			frames, frames-eal.frames, bytes>>20, left>>20)
	}
	if n := C.ph_grow(eal.pool, C.uint(frames), &eal.next); n < 0 {
		return fmt.Errorf("no memory for %d frame buffers: %s", frames, strerror(-int(n)))
	}
	eal.frames = frames
	return nil
}

// freeFrames is how many buffers are in the pool, caches included.
func freeFrames() int { return int(C.rte_mempool_avail_count(eal.pool)) }

// processors counts the workers of this process that hold a P.
var processors struct {
	sync.Mutex
	reserved, before int
}

// spareProcessors is the number of Ps for workers that lost theirs.
const spareProcessors = 4

// reserve makes n more Ps, for workers that will hold them; release takes them back.
func reserve(n int) (release func()) {
	change := func(by int) {
		p := &processors
		p.Lock()
		defer p.Unlock()
		if p.reserved == 0 {
			p.before = runtime.GOMAXPROCS(0)
		}
		if p.reserved += by; p.reserved == 0 {
			runtime.GOMAXPROCS(p.before)
		} else {
			runtime.GOMAXPROCS(p.before + p.reserved + spareProcessors)
		}
	}
	change(n)
	return func() { change(-n) }
}

// ticksPerSecond is the rate of the time stamp counter, by the kernel's clock over 50 ms. It is measured once. DPDK's
// own estimate is rounded to 10 MHz, which is up to half a percent off, and so would be every rate and every time.
var ticksPerSecond = sync.OnceValue(func() uint64 {
	ticks, at := bothClocks()
	time.Sleep(50 * time.Millisecond)
	ticks2, at2 := bothClocks()
	ours, theirs := uint64(float64(ticks2-ticks)/at2.Sub(at).Seconds()+0.5), uint64(C.rte_get_tsc_hz())
	if ours <= theirs/50*49 || ours >= theirs/50*51 {
		return theirs // the clock was set meanwhile
	}
	return ours
})

// bothClocks is one instant by both clocks: of a few readings the one that took the least time.
func bothClocks() (ticks uint64, at time.Time) {
	least := uint64(math.MaxUint64)
	for range 50 {
		before, now := uint64(C.rte_rdtsc()), time.Now()
		if took := uint64(C.rte_rdtsc()) - before; took < least {
			least, ticks, at = took, before+took/2, now
		}
	}
	return ticks, at
}
