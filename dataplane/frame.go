package dataplane

import "unsafe"

// Frame is a frame by value: where its bytes are and what was read from them.
// Worlds hand over Ref, Len and Off; the rest is for the node that owns the
// frame and does not travel. It is 16 bytes: one load and one store, four to a
// line of the cache.
type Frame struct {
	Ref  uint32 // the bytes, in the world's pool
	Len  uint16 // bytes, without FCS
	Off  uint16 // where the frame begins in its buffer
	Hash uint32 // of the flow; 0: nobody has asked yet, perhaps
	In   uint16 // port through which it came in
	Prio uint8
	Flag Flag // what may be done to it, and where its IP header is
}

// Flag says what may be done to a frame, and in its lower bits how far from the
// beginning its IP header is; 0: there is none.
type Flag uint8

// Flags.
const (
	// Markable frames are ECN-capable data: a congestion point may mark them.
	Markable Flag = 0x80
	// Lossless frames were admitted to a lossless priority.
	Lossless Flag = 0x40

	offsetL3 Flag = 0x3F // two tags and an Ethernet header are 22
)

// l3 is the offset of the IP header; 0: none.
func (f *Frame) l3() int { return int(f.Flag & offsetL3) }

// setL3 changes it.
func (f *Frame) setL3(offset int) { f.Flag = f.Flag&^offsetL3 | Flag(offset) }

// read is what was read from a frame: its last four fields, as they lie in memory
// where the least significant byte comes first.
type read uint64

func newRead(port uint16, prio uint8, flag Flag) read {
	return read(port)<<32 | read(prio)<<48 | read(flag)<<56
}

// ownerOf is of a frame's last four fields what tells from which account it is: the port, and
// whether it is lossless.
const ownerOf = read(1<<16-1)<<32 | read(Lossless)<<56

// where is what worlds hand over of a frame, and what is what was read from it: its halves, as
// they lie in memory.
func (f *Frame) where() read { return (*[2]read)(unsafe.Pointer(f))[0] }
func (f *Frame) what() read  { return (*[2]read)(unsafe.Pointer(f))[1] }

// length is Len, of the first half.
func (r read) length() uint16 { return uint16(r >> 32) }

// put writes both halves.
func (f *Frame) put(where, what read) {
	to := (*[2]read)(unsafe.Pointer(f))
	to[0], to[1] = where, what
}

// set writes the last four fields at once: whoever copies the frame soon after
// would have to wait for several stores.
func (f *Frame) set(r read) { *(*read)(unsafe.Pointer(&f.Hash)) = r }

// Begin makes f one of which nothing is known but what worlds hand over. Each half is
// written at once, as copy reads it.
func (f *Frame) Begin(ref uint32, length, off uint16) {
	halves := (*[2]read)(unsafe.Pointer(f))
	halves[0], halves[1] = read(ref)|read(length)<<32|read(off)<<48, 0
}

// copy makes f what g is, in two halves as they were written: to load what was just
// stored in smaller pieces takes 5 ns.
func (f *Frame) copy(g *Frame) { f.put(g.where(), g.what()) }
