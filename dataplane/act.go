package dataplane

import "math/bits"

// The second stage: each frame's action is looked up by its key. What is not there is worked out by
// slow code (resolve.go), which remembers it here. Actions hold as long as the switch's tables do, and
// where it learns addresses for the second in which it was worked out: so each address that speaks is seen
// once a second, and none is used that is too old.

// action is what becomes of the frames of one key:
//
//	bits 0 to 11   the port through which they leave, or a number by which kind finds it
//	12, 13         kind
//	14, 15         what is done to their tag
//	16 to 31       the tag that they get
//	32 to 63       the last four bytes of Frame: the port they came through, priority, flags
type action uint64

const (
	actPort  action = 0 << 12 // leave through a port
	actGroup action = 1 << 12 // through one of several, by flow hash
	actRoute action = 2 << 12 // are for the router
	actKind  action = 3 << 12

	tagKeep action = 0 << 14
	tagPop  action = 1 << 14
	tagPush action = 2 << 14
	tagSet  action = 3 << 14
	tagOp   action = 3 << 14

	actFrame action = 0xFFFFFFFF << 32
)

func (a action) out() uint   { return uint(a) & (maxPorts - 1) }
func (a action) prio() uint8 { return uint8(a>>48) & 7 }
func (a action) tag() uint16 { return uint16(a >> 16) }

// actionCache has what a worker's frames meet again and again. Two share a line of the processor's.
type actionCache struct {
	lines   []cacheLine // a power of two
	epoch   uint64      // places with another are empty; 1 to lastEpoch
	used    int         // places of this epoch
	second  uint32      // in which addresses were confirmed
	changes uint32      // of the tables: see Switch.changes
}

type cacheLine [2]remembered

type remembered struct {
	key
	action
}

const (
	lastEpoch  = 1<<20 - 2 // noKey has another
	leastLines = 1 << 5
	mostLines  = 1 << 15 // 2 MB
)

// hash spreads keys; its upper bits depend on all of theirs.
func (k *key) hash() uint64 {
	return (k.first ^ bits.RotateLeft64(k.rest*0x9E3779B97F4A7C15, 29) ^ k.where) * 0xE7037ED1A0B428DB
}

// renew forgets everything if the second, where addresses are learned, or the tables are other than
// they were.
func (c *actionCache) renew(second, changes uint32) {
	if c.second == second && c.changes == changes && c.epoch != 0 {
		return
	}
	c.second, c.changes, c.used = second, changes, 0
	if c.epoch++; c.epoch > lastEpoch {
		c.epoch = 1
		clear(c.lines)
	}
}

// look finds the actions of the keys from one on, as far as it knows them, and counts their frames.
func (c *actionCache) look(v *vector, burst []Frame, from int) (end int) {
	lines, shift := c.lines, uint(bits.LeadingZeros64(uint64(len(c.lines)-1)))&63
	keys, acts := v.keys[:len(burst)], v.acts[:len(burst)]
	for i := from; i < len(burst); i++ {
		k := &keys[i]
		b := &lines[k.hash()>>shift]
		e := &b[0]
		if (e.first^k.first)|(e.rest^k.rest)|(e.where^k.where) != 0 {
			if e = &b[1]; (e.first^k.first)|(e.rest^k.rest)|(e.where^k.where) != 0 {
				return i
			}
		}
		a := e.action
		acts[i] = a
		v.sums[a.prio()] += 1<<32 | uint64(burst[i].Len)
		v.seen |= 1 << a.prio()
	}
	return len(burst)
}

// remember keeps an action for the frames of a key.
func (c *actionCache) remember(k *key, a action) {
	if c.used++; c.used > len(c.lines) && len(c.lines) < mostLines {
		c.grow(2 * len(c.lines))
	}
	b := &c.lines[k.hash()>>(bits.LeadingZeros64(uint64(len(c.lines)-1))&63)]
	to := &b[c.used&1] // if both are taken
	for i := range b {
		if b[i].where>>12&(1<<20-1) != c.epoch || b[i].key == *k {
			to = &b[i]
			break
		}
	}
	*to = remembered{*k, a}
}

// grow makes room; what was known is found out again.
func (c *actionCache) grow(lines int) {
	c.lines, c.used = make([]cacheLine, lines), 0
}
