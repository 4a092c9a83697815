package fabric

import "unsafe"

// Frame is a frame by value: where its bytes are and what was read from them. Worlds hand over Ref,
// Len, Off and Digest; the rest is for the node that owns the frame and does not travel. It is
// 16 bytes: one load and one store, four to a line of the cache.
type Frame struct {
	Ref uint32 // the bytes, in the world's pool
	Len uint16 // bytes, without FCS
	Off uint16 // where the frame begins in its buffer
	// Digest is Pool.Digest of the frame's first bytes; 0: it is not known. Who writes to these bytes sets it to 0,
	// and a world that needs it computes it when the frame is sent. While a node holds a frame, the digest may be
	// something else of the node's.
	Digest uint32
	In     uint16 // port of the node through which it came in
	Prio   uint8  // 0 to 7, as the node classified it
	Flag   Flag
}

// Flag says what may be done to a frame, and in its lower bits how far from the
// beginning its IP header is; 0: there is none.
type Flag uint8

// The flags, and the mask of the offset.
const (
	// Markable frames are ECN-capable: a congestion point may mark them, unless they are CNPs.
	Markable Flag = 0x80
	// Lossless frames were admitted to a lossless priority.
	Lossless Flag = 0x40

	// OffsetL3 masks the offset of the IP header.
	OffsetL3 Flag = 0x3F // two tags and an Ethernet header are 22
)

// L3 is how many bytes from the frame's beginning its IP header is; 0: there is none.
func (f *Frame) L3() int { return int(f.Flag & OffsetL3) }

// Words are the frame's two halves, as they lie in memory: Ref, Len and Off (Place); Digest, In, Prio and Flag. To load
// what was just stored in other pieces takes 5 ns: on the way of every frame it is read and written by halves.
func (f *Frame) Words() *[2]uint64 { return (*[2]uint64)(unsafe.Pointer(f)) }

// Put writes both halves: a Place, and the rest.
func (f *Frame) Put(where, what uint64) {
	w := f.Words()
	w[0], w[1] = where, what
}

// Copy makes f what g is. An assignment would copy it in other pieces.
func (f *Frame) Copy(g *Frame) {
	from, to := g.Words(), f.Words()
	to[0], to[1] = from[0], from[1]
}

// Begin makes f a frame of which nothing is known but what worlds hand over: its Place and its Digest.
func (f *Frame) Begin(place uint64, digest uint32) { f.Put(place, uint64(digest)) }

// Place is Ref, Len and Off as one word, Ref in the lower half.
func (f *Frame) Place() uint64 { return f.Words()[0] }
