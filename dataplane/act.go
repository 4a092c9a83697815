package dataplane

import (
	"math/bits"

	"photon/fabric"
	"photon/fdb"
	"photon/units"
	"photon/wire"
)

// The second stage: each frame's action is looked up by its key. An unknown action is computed by
// slow code (resolve.go), and remembered here. Actions are valid until the switch's tables change, and
// if addresses are learned, for the second in which they were computed: so the source address of each
// frame is seen once a second, and no entry that is too old is used.

// action is what happens to the frames of one key:
//
//	bits 0 to 2    their priority
//	3 to 14        the port through which they leave, or a number by which kind finds it
//	15, 16         kind
//	17, 18         what is done to their tag
//	19 to 30       the VLAN that it names then
//	31             whether the port is another worker's
//	32 to 63       the last four bytes of Frame: the port they came through, priority, flags
type action uint64

const (
	actPort  action = 0 << 15 // leave through a port
	actGroup action = 1 << 15 // through one of several, by flow hash
	actRoute action = 2 << 15 // are for the router
	actKind  action = 3 << 15
	actAway  action = 1 << 31 // leave through a port of another worker

	tagKeep action = 0 << 17
	tagPop  action = 1 << 17
	tagPush action = 2 << 17
	tagSet  action = 3 << 17
	tagOp   action = 3 << 17

	actOut   action = (maxPorts - 1) << 3
	actFrame action = 0xFFFFFFFF << 32
)

// maxPorts bounds the numbers of ports and of groups, noPort is no port's number.
const (
	maxPorts = fdb.MaxPorts
	noPort   = -1
)

// anyPort is the port in the keys of a switch where nothing depends on it: addresses are not learned, and there are no
// VLANs. One entry is then for the frames of all ports; its action does not name the ingress port.
const anyPort = maxPorts - 2

// ownFrame is the In of a frame that the switch itself made.
const ownFrame = 1<<16 - 1

// actionOf is one that leaves a frame what was read from it.
func actionOf(f *fabric.Frame) action {
	return action(f.Words()[1])&actFrame | action(f.Prio&7)
}

// to is the action with another port or number, and tagged with something done to the tag.
func (a action) to(out uint16) action              { return a&^actOut | action(out)<<3 }
func (a action) retag(op action, id uint16) action { return a | op | action(id)<<19 }

func (a action) prio() uint8  { return uint8(a) & 7 }
func (a action) out() uint    { return uint(a>>3) & (maxPorts - 1) }
func (a action) queue() uint  { return uint(a) & (8*maxPorts - 1) }
func (a action) vlan() uint16 { return uint16(a>>19) & wire.VLANID }

// actionCache has the actions of a worker's recent keys. Two of them share a cache line.
type actionCache struct {
	lines   []cacheLine // a power of two
	epoch   uint64      // places with another are empty; 1 to lastEpoch
	most    int         // lines
	used    int         // places of this epoch
	until   units.Time  // actions hold: where addresses are learned, as long as the second in which they were confirmed
	changes uint32      // of the tables: see fdb.Counts
	groups  [][]hop     // of routes, as far as their neighbours are known
}

type cacheLine [2]remembered

type remembered struct {
	key
	action
}

const (
	epochShift = 12 // in a key's where
	epochMask  = 1<<20 - 1
	lastEpoch  = epochMask - 1 // noKey has another
	leastLines = 1 << 5
	mostLines  = 1 << 15 // 2 MB
)

// What keys are mixed by: odd numbers without a pattern.
const (
	mixSecond = 0x9E3779B97F4A7C15
	mixAll    = 0xE7037ED1A0B428DB
	mixRotate = 29
)

// hash spreads keys; its upper bits depend on all of theirs.
func (k key) hash() uint64 {
	return (k.first ^ bits.RotateLeft64(k.second*mixSecond, mixRotate) ^ k.where) * mixAll
}

// shift leaves of a hash which line a key is in.
func (c *actionCache) shift() uint { return uint(bits.LeadingZeros64(uint64(len(c.lines)-1))) & 63 }

// renew forgets everything: the tables have changed, or a second is over and addresses are learned.
func (c *actionCache) renew(until units.Time, changes uint32) {
	c.until, c.changes, c.used = until, changes, 0
	if c.epoch++; c.epoch > lastEpoch {
		c.epoch = 1
		clear(c.lines)
	}
}

// find returns the action of one key.
func (c *actionCache) find(k key) (a action, ok bool) {
	l := &c.lines[k.hash()>>c.shift()]
	if l[0].is(k) {
		return l[0].action, true
	}
	return l[1].action, l[1].is(k)
}

func (r *remembered) is(k key) bool {
	return (r.first^k.first)|(r.second^k.second)|(r.where^k.where) == 0
}

// remember keeps an action for the frames of a key. A cache that is half full grows. Where addresses are learned
// it forgets everything each second, so that it is as large as the flows of a second need it; elsewhere keys are few.
func (c *actionCache) remember(k *key, a action) {
	if c.used++; c.used > len(c.lines) && len(c.lines) < c.most {
		c.grow(2 * len(c.lines))
	}
	if k.where>>epochShift&epochMask != c.epoch {
		return // the key was made before the last renew
	}
	b := &c.lines[k.hash()>>c.shift()]
	to := &b[c.used&1] // if both are taken
	for i := len(b) - 1; i >= 0; i-- {
		e := &b[i]
		if e.where>>epochShift&epochMask != c.epoch || e.key == *k {
			to = e
		}
	}
	*to = remembered{*k, a}
}

// grow makes room and forgets all actions, which are computed again.
func (c *actionCache) grow(lines int) {
	c.lines, c.used = make([]cacheLine, lines), 0
}
