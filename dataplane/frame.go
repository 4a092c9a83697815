package dataplane

// Frame is a frame by value: where its bytes are and what was read from them.
// Worlds hand over Ref, Len and Off; the rest is for the node that owns the
// frame and does not travel.
type Frame struct {
	Ref  uint32 // the bytes, in the world's pool
	Hash uint32 // of the flow
	Len  uint16 // bytes, without FCS
	Off  uint16 // where the frame begins in its buffer
	In   uint16 // port through which it came in
	Prio uint8
	L3   uint8 // offset of the IP header; 0: none
	Flag Flag
	_    [15]byte // 32 bytes: Go copies 20 or 24 as two halves that overlap, and to copy those again at once costs 5 ns
}

// Flag says what may be done to a frame.
type Flag uint8

// Flags.
const (
	// Markable frames are ECN-capable data: a congestion point may mark them.
	Markable Flag = 1 << iota
	// Lossless frames were admitted to a lossless priority.
	Lossless
)
