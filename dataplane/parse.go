package dataplane

import (
	"encoding/binary"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// The first stage: what decides where a frame goes is read from its first bytes into a key, as it
// lies there. Frames with one key are treated alike: both addresses, the EtherType, and the two bytes
// behind it, which of an IPv4 packet are version, header length and TOS, of an IPv6 packet version and
// traffic class, and of a tagged frame the tag. Behind a tag the next four bytes say the same of what is
// in it.

// vector is a burst of frames on its way through the stages.
type vector struct {
	match
	acts     [fabric.MaxBurst]action
	present  uint8 // priorities that have some
	admitted uint8 // of these, those for which there is room without a further look
	bypass   uint8 // of these, those of which frames may pass the queues

	pools   uint8       // of these, those that may take something of the pool
	fast    uint8       // of these, those whose frames may be charged together
	away    uint8       // of these, those whose frames for other workers' ports may
	lossy   uint8       // lossy priorities whose frames may be charged together: the pool has room for all of them
	tail    units.Size  // the least limit of their queues, even if all frames of the vector are queued
	charges [8]int64    // to the port, by frames that were queued so
	pooled  int64       // most bytes that the lossy ones may take of the pool
	held    int64       // of the pool, for them: see hold
	port    *switchPort // through which it came
}

// key is what a frame's action depends on.
type key struct {
	first  uint64 // the destination, and the first two bytes of the source
	second uint64 // the source's others, EtherType, and the two bytes behind it
	where  uint64 // the port it came through, or anyPort (12 bits), the epoch of the cache (20), and four bytes behind a tag
}

const (
	leastLen      = wire.EthernetLen + wire.IPv6Len // a frame has at least, to have a key; behind a tag wire.VLANLen more
	noKey         = 1<<64 - 1                       // where of a frame that has none: it is shorter, or longer than the switch takes
	flowLabelBits = 0xF << 56                       // the part of the rest that is of an IPv6 packet's flow label
)

// EtherTypes as they lie in a key's rest.
const (
	keyIPv4  = 0x0008
	keyIPv6  = 0xDD86
	keyVLAN  = 0x0081
	keyQinQ  = 0xA888
	keyCNTag = 0xE922
)

// parseOne makes the key of one frame that came through p.
func (s *Switch) parseOne(p *switchPort, f *fabric.Frame) (k key) {
	b := p.env.Start(f)
	if k.where = noKey; b == nil || f.Len < leastLen {
		return k
	}
	k.first, k.second = binary.LittleEndian.Uint64(b[0:8]), binary.LittleEndian.Uint64(b[8:16])
	where, length := s.keyPort(p)|p.worker.cache.epoch<<epochShift, int32(f.Len)
	switch kind := uint16(k.second >> 32); {
	case kind == keyIPv4:
	case kind == keyIPv6:
		k.second &^= flowLabelBits
	case kind == keyVLAN, kind == keyQinQ, kind == keyCNTag:
		where |= uint64(binary.LittleEndian.Uint32(b[16:20])) << 32
		length -= wire.VLANLen
	}
	if length >= leastLen && length <= int32(p.longest) {
		k.where = where
	}
	if !s.learn {
		k.first, k.second = hideSource(k.first, k.second)
	}
	return k
}

// keyPort is what keys say of the port.
func (s *Switch) keyPort(p *switchPort) uint64 {
	if s.portless {
		return anyPort
	}
	return uint64(p.number)
}

// hideSource leaves of the source only whether a station may have it. Where addresses are not learned
// frames to one destination are then treated alike, wherever they come from.
func hideSource(first, second uint64) (uint64, uint64) {
	source := first >> 48
	first, second, source = first&(1<<48-1), second>>32<<32, source|second<<32
	if source == 0 || source&1 != 0 {
		first |= 1 << 48
	}
	return first, second
}
