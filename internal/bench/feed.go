package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

//go:embed feed.c
var feedSource []byte

// What feed.c knows by the same names.
const (
	headLen      = 64
	perPort      = 64 // templates
	maxPorts     = 4
	maxThreads   = 16
	samplesAPort = 32
)

// mode is what the feed does.
type mode uint32

const (
	hold mode = iota
	teach
	seed
	sample
	run
)

// memory mirrors struct feed of feed.c, which refuses another size.
type memory struct {
	size, hz          uint64
	mode, seeds, news uint32
	_                 [36]byte
	threads           [maxThreads]struct {
		id, frames, ticks, bursts, torn uint64
		_                               [24]byte
	}
	ports [maxPorts]struct {
		heads                   [perPort][headLen]byte
		lengths                 [perPort]uint16
		taught, seeded, sampled uint32
		_                       [52]byte
		samples                 [samplesAPort]struct {
			head   [headLen]byte
			length uint32
			_      [60]byte
		}
	}
}

// feed is what one contestant gets to see: feed.c in its process, and the memory
// that both share.
type feed struct {
	*memory
	file  string
	ports int
}

// buildFeed compiles the library.
func buildFeed(dir string) (library string, err error) {
	source, library := filepath.Join(dir, "feed.c"), filepath.Join(dir, "feed.so")
	if err := os.WriteFile(source, feedSource, 0o600); err != nil {
		return "", err
	}
	flags, err := exec.Command("pkg-config", "--cflags", "libdpdk").Output()
	if err != nil {
		return "", fmt.Errorf("pkg-config libdpdk: %w", err)
	}
	arguments := []string{"-O3", "-Wall", "-shared", "-fPIC", "-o", library, source}
	arguments = append(arguments, strings.Fields(string(flags))...)
	arguments = append(arguments, "-lrte_ethdev", "-lrte_mbuf", "-lrte_mempool", "-lrte_ring", "-lrte_eal")
	if out, err := exec.Command("gcc", arguments...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("gcc: %w: %s", err, out)
	}
	return library, nil
}

// newFeed writes the templates of a case for one contestant.
func newFeed(c testCase, file string) (*feed, error) {
	const size = int(unsafe.Sizeof(memory{}))
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(int64(size)); err != nil {
		return nil, err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	m := &feed{(*memory)(unsafe.Pointer(&b[0])), file, c.Ports}
	m.size = uint64(size)
	for port := range c.Ports {
		for k := range perPort {
			m.memory.ports[port].lengths[k] = uint16(c.template(port, k, m.memory.ports[port].heads[k][:]))
		}
	}
	if c.kind.bridges() {
		m.news = perPort
	}
	if c.Vdev == "net_ring" {
		m.seeds = ringFrames
	}
	return m, nil
}

// environment is what the process that is fed needs in its own.
func (f *feed) environment(library string) []string {
	return append(os.Environ(), "LD_PRELOAD="+library, "BENCH_FEED="+f.file)
}

func (f *feed) close() {
	syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(f.memory)), unsafe.Sizeof(memory{})))
}

func (f *feed) set(m mode) { atomic.StoreUint32(&f.mode, uint32(m)) }

// learn lets the contestant, which runs, hear of all hosts.
func (f *feed) learn() error {
	f.set(teach)
	defer f.set(hold)
	return f.all("hosts heard of", f.news, func(port int) *uint32 { return &f.memory.ports[port].taught })
}

// circulate lets it have frames from now on. Where devices make none, there are some in its rings.
func (f *feed) circulate() error {
	defer f.set(run)
	if f.seeds == 0 {
		return nil
	}
	f.set(seed)
	return f.all("frames made", f.seeds, func(port int) *uint32 { return &f.memory.ports[port].seeded })
}

// all waits until every port counts so many, and the contestant has had time for the last of them.
func (f *feed) all(what string, want uint32, count func(port int) *uint32) error {
	for port := range f.ports {
		if err := wait(func() error {
			if n := atomic.LoadUint32(count(port)); n < want {
				return fmt.Errorf("port %d: %d %s, and not %d", port, n, what, want)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	time.Sleep(50 * time.Millisecond)
	return nil
}

// sampled shows what came back on each port's ring: what the contestant, which runs,
// sent there. It is as much as fits of each frame, and the frame's length.
func (f *feed) sampled(each func(port int, head []byte, length int) error) error {
	f.set(sample)
	defer f.set(run)
	count := func(port int) *uint32 { return &f.memory.ports[port].sampled }
	if err := f.all("frames that came back", samplesAPort, count); err != nil {
		return err
	}
	for port := range f.ports {
		for i := range f.memory.ports[port].samples {
			s := &f.memory.ports[port].samples[i]
			if err := each(port, s.head[:min(s.length, headLen)], int(s.length)); err != nil {
				return fmt.Errorf("port %d sends % x: %w", port, s.head, err)
			}
		}
	}
	return nil
}

// fed is what a thread received so far.
type fed struct {
	frames uint64
	ticks  uint64
}

// threads are those that receive, by the kernel's number.
func (f *feed) threads() map[int]fed {
	all := map[int]fed{}
	for i := range f.memory.threads {
		if t := &f.memory.threads[i]; atomic.LoadUint64(&t.id) != 0 {
			all[int(t.id)] = fed{atomic.LoadUint64(&t.frames), atomic.LoadUint64(&t.ticks)}
		}
	}
	return all
}

// received is what all threads did.
func (f *feed) received() (sum uint64) {
	for _, t := range f.threads() {
		sum += t.frames
	}
	return sum
}

// time is what ticks of the time stamp counter are.
func (f *feed) time(ticks uint64) time.Duration {
	return time.Duration(float64(ticks) / float64(f.hz) * 1e9)
}
