package fabric

import (
	"math/bits"
	"unsafe"

	"photon/internal/memory"
)

// Pool is one worker's access to frame buffers. The buffers are slots in large pieces of memory, and a
// Ref is where a slot begins, in units of 64 bytes: an index, so that frames hold no pointers. The
// same code serves the simulator, whose slots hold headers only, and DPDK, whose slots are mbufs.
type Pool struct {
	pieces [][]byte         // of pieceLen bytes and more: the last slot of one may reach into the next
	bases  []unsafe.Pointer // of the pieces
	slot   uint16           // bytes from a Ref to the end of its slot
	off    uint16           // where a new frame begins
	free   []uint32
	least  int         // the fewest free slots there were at a time, since the last refill
	refill func(*Pool) // called when free is empty; may leave it empty
	own    int         // slots of a pool of headers: those that are free here, and those that were given out
	common *common     // with other pools; nil: it is alone
	// Scratch is memory that nodes need only during a call: all of one kind share it, if one goroutine has them. The
	// first that finds none puts it here.
	Scratch any
}

// common is what pools of headers have together. Pools of DPDK's workers have nothing of
// the kind: those lock nothing.
type common struct {
	lock   Lock
	pieces [][]byte
	free   []uint32 // free slots
}

// Where a Ref leads, for assembly, which finds frames by itself: its bits from PieceShift on are the number of a piece,
// and those of PieceMask say where in it the slot begins, in units of 1<<UnitShift bytes.
const (
	UnitShift  = 6
	PieceShift = 12
	PieceMask  = 1<<PieceShift - 1
)

const (
	pieceLen  = 1 << (UnitShift + PieceShift) // bytes
	headerOff = 4                             // room to insert a tag
)

// HeaderLen is how many bytes hold all headers of a frame, with room for a tag.
const HeaderLen = 128

// NewPool describes memory that is there already. Frames begin off bytes after their Ref and end at most
// slot bytes after it. refill appends free slots with SetSlots.
func NewPool(memory []byte, slot, off uint16, refill func(*Pool)) *Pool {
	p := isolatedPool(Pool{slot: slot, off: off, refill: refill})
	for at := 0; at < len(memory); at += pieceLen {
		p.pieces = append(p.pieces, memory[at:])
	}
	p.measure()
	return p
}

// NewHeaderPool returns a pool that keeps the first bytes of each frame and
// grows as needed.
func NewHeaderPool() *Pool { return NewHeaderPoolOf(HeaderLen) }

// NewHeaderPoolOf is NewHeaderPool for headers of at least HeaderLen bytes: those
// of packets that are inside others are longer than usual.
func NewHeaderPoolOf(bytes int) *Pool {
	return &Pool{slot: 1 << bits.Len(uint(max(bytes, HeaderLen)-1)), off: headerOff, refill: growHeaders}
}

// Lock is a sync.Locker: the world's, so that nodes, which know this package, know no package of locks.
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
		p.common = &common{lock: lock, pieces: p.pieces}
	}
	return isolatedPool(Pool{slot: p.slot, off: p.off, refill: p.refill, common: p.common})
}

// isolatedPool puts a pool where nothing else is in its lines of the cache: it is another goroutine's.
func isolatedPool(p Pool) *Pool {
	q := &new(struct {
		_ [memory.Line]byte
		Pool
		_ [memory.Line]byte
	}).Pool
	*q = p
	return q
}

// slots is how many slots a piece has.
func (p *Pool) slots() int { return pieceLen / int(p.slot) }

func growHeaders(p *Pool) {
	if c := p.common; c != nil {
		c.lock.Lock()
		defer c.lock.Unlock()
		p.pieces = c.pieces
		if n := min(len(c.free), p.slots()); n > 0 {
			p.free = append(p.free, c.free[len(c.free)-n:]...)
			c.free = c.free[:len(c.free)-n]
			p.own += n
			p.measure()
			return
		}
		defer func() { c.pieces = p.pieces }()
	}
	first := uint32(len(p.pieces)) << PieceShift
	// A frame begins with a line of the cache: all headers of most are in it. These
	// lines are every other one of a piece, and of the next piece those between, so that
	// many frames do not compete for half of the places of the caches.
	before := memory.Line - headerOff + len(p.pieces)%2*memory.Line
	p.pieces = append(p.pieces, make([]byte, before+pieceLen)[before:])
	for i := p.slots() - 1; i >= 0; i-- {
		p.free = append(p.free, first+uint32(i)*uint32(p.slot>>UnitShift))
	}
	p.own += p.slots()
	p.least = len(p.free)
	p.measure()
}

// Fetch makes a frame of which another pool gave out the slot readable here, and prefetches its headers. The world
// calls it before a node gets the frame.
func (p *Pool) Fetch(ref uint32) {
	if int(ref>>PieceShift) >= len(p.pieces) {
		p.FetchAll()
	}
	memory.PrefetchToWrite(unsafe.Add(p.bases[ref>>PieceShift], place(ref)+int(p.off)), 1)
}

// Ask prefetches the headers of a frame that is to be looked at soon; place is its Frame.Place. It changes nothing.
func (p *Pool) Ask(place uint64) {
	memory.Prefetch(unsafe.Add(p.bases[uint32(place)>>PieceShift], place&PieceMask<<UnitShift+place>>48), 1)
}

// AskAll is Ask for some frames.
func (p *Pool) AskAll(frames []Frame) {
	for i := range frames {
		p.Ask(frames[i].Place())
	}
}

// FetchAll makes all frames readable here of which other pools have given out the slots until now.
func (p *Pool) FetchAll() {
	p.common.lock.Lock()
	p.pieces = p.common.pieces
	p.common.lock.Unlock()
	p.measure()
}

// Share gives the other pools the free slots that this one has beyond those of a piece, if these are a piece's or more.
// The world calls it now and then.
func (p *Pool) Share() {
	keep := p.slots()
	n := len(p.free) - keep
	if n < keep {
		return
	}
	p.common.lock.Lock()
	p.common.free = append(p.common.free, p.free[keep:]...)
	p.common.lock.Unlock()
	p.free = p.free[:keep]
	p.own -= n
}

// measure notes where the memory is.
func (p *Pool) measure() {
	for _, b := range p.pieces[len(p.bases):] {
		p.bases = append(p.bases, unsafe.Pointer(unsafe.SliceData(b)))
	}
}

// Peak is the most frames of a pool of headers that were in use at a time.
func (p *Pool) Peak() int { return p.own - p.least }

// InUse is how many frames of a pool of headers are in use. Of pools that have frames of
// each other only the sum is known.
func (p *Pool) InUse() int { return p.own - len(p.free) }

// Alloc returns a frame of length bytes, at most Most of which are kept, with undefined content. It reports
// false if there is no free slot.
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

// AllocAt is Alloc into a frame that the caller has, see Bytes.
func (p *Pool) AllocAt(f *Frame, length int) bool {
	last := len(p.free) - 1
	if last < 0 {
		var ok bool
		*f, ok = p.Alloc(length)
		return ok
	}
	f.Put(uint64(p.free[last])|uint64(uint16(length))<<32|uint64(p.off)<<48, 0)
	p.free = p.free[:last]
	p.least = min(p.least, last)
	return true
}

// Whole reports whether all of a new frame of length bytes is kept, not the headers only.
func (p *Pool) Whole(length int) bool { return int(p.off)+length <= int(p.slot) }

// Most is the longest new frame of which all is kept.
func (p *Pool) Most() int { return int(p.slot) - int(p.off) }

// Free gives a frame's buffer back.
func (p *Pool) Free(f Frame) { p.free = append(p.free, f.Ref) }

// Clone returns a copy of f, its bytes included. It reports false, as Alloc does, if there is no free slot.
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

// Bytes is Header of a frame that is not passed by value: to copy a frame whose fields were just stored
// one by one, the processor waits until all of them are stored.
func (p *Pool) Bytes(f *Frame) []byte {
	first := (*byte)(unsafe.Add(p.bases[f.Ref>>PieceShift], place(f.Ref)+int(f.Off)))
	return unsafe.Slice(first, min(int(f.Len), int(p.slot)-int(f.Off)))
}

// place is where in its piece a slot begins.
func place(ref uint32) int { return int(ref&PieceMask) << UnitShift }

// Start returns the first StartLen bytes of a frame; nil: its slot ends before. What is
// beyond the frame's length is undefined.
func (p *Pool) Start(f *Frame) *[StartLen]byte {
	if f.Off > p.slot-StartLen {
		return nil
	}
	return (*[StartLen]byte)(unsafe.Add(p.bases[f.Ref>>PieceShift], place(f.Ref)+int(f.Off)))
}

// AskToWrite prefetches the lines of the cache that another core has written last, to write to them: the frame's first,
// and that in which the world describes its buffer.
func (p *Pool) AskToWrite(f *Frame) {
	if slot := unsafe.Add(p.bases[f.Ref>>PieceShift], place(f.Ref)); f.Off < p.slot {
		memory.PrefetchToWrite(slot, 1)
		memory.PrefetchToWrite(unsafe.Add(slot, int(f.Off)), 1)
	}
}

// Pieces are where the pieces of memory begin, and where in its slot a frame may begin at the latest for Start to
// return its bytes: for assembly, which finds them by itself.
func (p *Pool) Pieces() (begin []unsafe.Pointer, last uint16) { return p.bases, p.slot - StartLen }

// StartLen is how many bytes Start returns.
const StartLen = 64

// Slots returns the free slots at hand, for a world that manages them itself (NewPool).
func (p *Pool) Slots() []uint32 { return p.free }

// SetSlots replaces the free slots at hand, for a world that manages them itself; refill calls it.
func (p *Pool) SetSlots(free []uint32) { p.free = free }
