package dataplane

import (
	"math/bits"
	"unsafe"

	"photon/internal/memory"
)

// Pool is one worker's access to frame buffers. The buffers are slots in large
// chunks of memory, and a Ref is a slot's number: an index, so that frames hold
// no pointers. The same code serves the simulator, whose slots hold headers
// only, and DPDK, whose slots are mbufs.
type Pool struct {
	chunks     [][]byte
	bases      []unsafe.Pointer // of the chunks
	reach      int              // the last place in each chunk for StartLen bytes
	chunkShift uint8            // Ref >> chunkShift is the chunk
	chunkMask  uint32           // the rest of Ref is within it
	unitShift  uint8            // Ref is in units of 1<<unitShift bytes within its chunk
	slot       uint16           // bytes from a Ref to the end of its slot
	off        uint16           // where a new frame begins
	free       []uint32
	least      int         // free slots there were at a time, since the last refill
	refill     func(*Pool) // called when free is empty; may leave it empty
	own        int         // slots of a pool of headers: those that are free, and those that were taken out
	common     *common     // with other pools; nil: it is alone
}

// common is what pools of headers have together. Pools of DPDK's workers have nothing of
// the kind: those lock nothing.
type common struct {
	lock   Lock
	chunks [][]byte
	spare  []uint32 // slots that are nobody's
}

// NewPool describes memory that is there already: one chunk, in which a Ref
// counts units of 1<<unitShift bytes. Frames begin off bytes after their Ref and
// end at most slot bytes after it. refill appends free slots with Give.
func NewPool(memory []byte, unitShift uint8, slot, off uint16, refill func(*Pool)) *Pool {
	p := &Pool{chunks: [][]byte{memory}, chunkShift: 32, chunkMask: 1<<32 - 1, unitShift: unitShift, slot: slot, off: off, refill: refill}
	p.measure()
	return p
}

const (
	headerSlotShift = 7 // HeaderLen
	headerOff       = 4 // room to insert a tag
	chunkSlots      = 1 << 12
	line            = 64 // of the cache
)

// HeaderLen is how many bytes hold all headers of a frame, with room for a tag.
const HeaderLen = 1 << headerSlotShift

// NewHeaderPool returns a pool that keeps the first bytes of each frame and
// grows as needed.
func NewHeaderPool() *Pool { return NewHeaderPoolOf(HeaderLen) }

// NewHeaderPoolOf is NewHeaderPool for headers of at least HeaderLen bytes: those
// of packets that are inside others are longer than usual.
func NewHeaderPoolOf(bytes int) *Pool {
	shift := uint8(max(headerSlotShift, bits.Len(uint(bytes-1))))
	return &Pool{chunkShift: 12, chunkMask: 1<<12 - 1, unitShift: shift, slot: 1 << shift, off: headerOff, refill: growHeaders}
}

// Lock is a sync.Locker.
type Lock interface {
	Lock()
	Unlock()
}

// Another returns a pool of headers for another goroutine, without any slots. What one of
// them allocated the other can read and free, if it has fetched it. The lock is for the
// moments in which one needs more slots, or has too many; it is that of the first call for
// all.
func (p *Pool) Another(lock Lock) *Pool {
	if p.common == nil {
		p.common = &common{lock: lock, chunks: p.chunks}
	}
	q := &new(struct {
		_ [64]byte // another goroutine's: nothing else is in its lines of the cache
		Pool
		_ [64]byte
	}).Pool
	*q = Pool{chunkShift: p.chunkShift, chunkMask: p.chunkMask, unitShift: p.unitShift, slot: p.slot, off: p.off, refill: p.refill, common: p.common}
	return q
}

func growHeaders(p *Pool) {
	if c := p.common; c != nil {
		c.lock.Lock()
		defer c.lock.Unlock()
		p.chunks = c.chunks
		if n := min(len(c.spare), chunkSlots); n > 0 {
			p.free = append(p.free, c.spare[len(c.spare)-n:]...)
			c.spare = c.spare[:len(c.spare)-n]
			p.own += n
			p.measure()
			return
		}
		defer func() { c.chunks = p.chunks }()
	}
	first := uint32(len(p.chunks)) << p.chunkShift
	// A frame begins with a line of the cache: all headers of most are in it. These
	// lines are every other one of a chunk, and of the next chunk those between, so that
	// many frames do not compete for half of the places of the caches.
	before := line - headerOff + len(p.chunks)%2*line
	p.chunks = append(p.chunks, make([]byte, before+chunkSlots*int(p.slot))[before:])
	for r := first + chunkSlots; r > first; r-- {
		p.free = append(p.free, r-1)
	}
	p.own += chunkSlots
	p.least = len(p.free)
	p.measure()
}

// Fetch gets at a frame that another pool allocated, and asks for its headers.
func (p *Pool) Fetch(ref uint32) {
	if uint64(ref)>>(p.chunkShift&63) >= uint64(len(p.chunks)) {
		p.FetchAll()
	}
	memory.PrefetchToWrite(unsafe.Pointer(unsafe.SliceData(p.chunk(ref)[p.place(ref)+int(p.off):])), 1)
}

// FetchAll gets at all frames that other pools allocated.
func (p *Pool) FetchAll() {
	p.common.lock.Lock()
	p.chunks = p.common.chunks
	p.common.lock.Unlock()
	p.measure()
}

// Share has the other pools have what is left over of free slots, if that is many.
func (p *Pool) Share() {
	n := len(p.free) - chunkSlots
	if n < chunkSlots {
		return
	}
	p.common.lock.Lock()
	p.common.spare = append(p.common.spare, p.free[chunkSlots:]...)
	p.common.lock.Unlock()
	p.free = p.free[:chunkSlots]
	p.own -= n
}

// measure notes where the memory is.
func (p *Pool) measure() {
	for _, c := range p.chunks[len(p.bases):] {
		p.bases, p.reach = append(p.bases, unsafe.Pointer(unsafe.SliceData(c))), len(c)-StartLen
	}
}

// Peak is the most frames of a pool of headers that were in use at a time.
func (p *Pool) Peak() int { return p.own - p.least }

// Held is how many frames of a pool of headers are in use. Of pools that have frames of
// each other only the sum is known.
func (p *Pool) Held() int { return p.own - len(p.free) }

// Alloc returns a frame of length bytes with undefined content. It reports
// false if the pool has run dry.
func (p *Pool) Alloc(length int) (f Frame, ok bool) {
	if len(p.free) == 0 {
		if p.refill(p); len(p.free) == 0 {
			return Frame{}, false
		}
	}
	last := len(p.free) - 1
	f = Frame{Ref: p.free[last], Len: uint16(length), Off: p.off}
	p.free = p.free[:last]
	p.least = min(p.least, last)
	return f, true
}

// AllocAt is Alloc of a frame that is not copied, see Bytes.
func (p *Pool) AllocAt(f *Frame, length int) bool {
	last := len(p.free) - 1
	if last < 0 {
		var ok bool
		*f, ok = p.Alloc(length)
		return ok
	}
	f.Begin(p.free[last], uint16(length), p.off, 0)
	p.free = p.free[:last]
	p.least = min(p.least, last)
	return true
}

// Whole reports whether all of a new frame of length bytes is kept, not the headers only.
func (p *Pool) Whole(length int) bool { return int(p.off)+length <= int(p.slot) }

// Free gives a frame's buffer back.
func (p *Pool) Free(f Frame) { p.free = append(p.free, f.Ref) }

// Clone returns a copy of f, its bytes included.
func (p *Pool) Clone(f Frame) (g Frame, ok bool) {
	g, ok = p.Alloc(int(f.Len))
	if !ok {
		return g, false
	}
	ref := g.Ref
	g = f
	g.Ref, g.Off = ref, p.off
	copy(p.Header(g), p.Header(f))
	return g, true
}

// Header returns the bytes at hand of a frame: all of them, or the headers if
// the world keeps no payload.
func (p *Pool) Header(f Frame) []byte { return p.Bytes(&f) }

// Bytes is Header of a frame that is not copied: to load as a whole what was just stored
// in pieces takes as long as all that is to be stored before.
func (p *Pool) Bytes(f *Frame) []byte {
	at := p.place(f.Ref)
	return p.chunk(f.Ref)[at+int(f.Off) : at+min(int(f.Off)+int(f.Len), int(p.slot))]
}

// chunk is the memory in which a slot lies, and place is where.
func (p *Pool) chunk(ref uint32) []byte { return p.chunks[uint64(ref)>>(p.chunkShift&63)] }
func (p *Pool) place(ref uint32) int    { return int(ref&p.chunkMask) << (p.unitShift & 63) }

// Start returns the first bytes of a slot's frame; nil: there are fewer. What is
// beyond the frame's length is undefined.
func (p *Pool) Start(f *Frame) *[StartLen]byte {
	at := p.place(f.Ref) + int(f.Off)
	if f.Off > p.slot-StartLen || at > p.reach {
		return nil
	}
	return (*[StartLen]byte)(unsafe.Add(p.bases[uint64(f.Ref)>>(p.chunkShift&63)], at))
}

// StartLen is how many bytes Start returns.
const StartLen = 64

// Slots returns the free slots at hand, for the world that manages them.
func (p *Pool) Slots() []uint32 { return p.free }

// SetSlots replaces the free slots at hand.
func (p *Pool) SetSlots(free []uint32) { p.free = free }
