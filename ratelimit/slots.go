package ratelimit

import (
	"math/bits"

	"photon/units"
)

// A time is cut into slots of 65.5 ns, and the number of its slot, the tick, into digits. There is a level of slots
// for each digit, and in it a slot for each value that the digit may have. A timer is in the level of the highest
// digit in which its tick differs from the wheel's: what is near is in level 0, one slot per tick.
const (
	slotShift   = 16 // a tick is 2^16 ps
	digitBits   = 8
	levels      = 5
	horizonBits = levels * digitBits

	// largestSecond is how many bits the second digit of the largest wheels has. It has so many that the gaps of
	// as many flows as there is room for fit into level 1 when they share some Gbit/s. Then their timers are moved
	// once, as those of few flows are, and each move is a cache miss.
	largestSecond = 16
)

// slotTable is what a wheel needs when it has more timers than the short list.
type slotTable struct {
	shift    [levels + 1]uint8 // lowest bit of each level's digit in a tick; the last is what lies beyond the horizon
	mask     [levels]int32     // largest value of each level's digit
	first    [levels]int32     // number of each level's first slot
	occupied bitmap            // slots that hold timers
	head     []int32           // by slot: the flow that was put in first of those in it
	prefetch
}

func newSlotTable(capacity int) *slotTable {
	s := new(slotTable)
	second := min(max(digitBits, bits.Len(uint(capacity))-1), largestSecond)
	slots := int32(0)
	for level := range levels {
		digit := digitBits
		if level == 1 {
			digit = second
		}
		digit = min(digit, horizonBits-int(s.shift[level])) // what is left for the top level
		s.shift[level+1] = s.shift[level] + uint8(digit)
		s.first[level], s.mask[level] = slots, 1<<digit-1
		slots += max(64, int32(1)<<digit) // a level begins with a word of the bitmap
	}
	s.occupied, s.head = newBitmap(slots), make([]int32, slots)
	return s
}

// level is that of a slot.
func (s *slotTable) level(slot int32) int {
	level := 0
	for level < levels-1 && slot >= s.first[level+1] {
		level++
	}
	return level
}

// slotOf is where a timer of a tick belongs while the wheel's time is now.
func (s *slotTable) slotOf(tick, now uint64) (level int, slot int32) {
	differs := tick ^ now
	if differs < 1<<digitBits {
		return 0, int32(tick & (1<<digitBits - 1))
	}
	for level = 1; differs>>(s.shift[level+1]&63) != 0; {
		level++
	}
	return level, s.first[level] + int32(tick>>(s.shift[level]&63))&s.mask[level]
}

// startOf is the tick at which a slot begins.
func (s *slotTable) startOf(level int, slot int32, now uint64) uint64 {
	above := s.shift[level+1]
	return now>>above<<above | uint64(slot-s.first[level])<<s.shift[level]
}

// tickOf is the slot of the lowest level that a time falls into. There is none before 0.
func tickOf(t units.Time) uint64 { return uint64(max(t, 0)) >> slotShift }

// bitmap is a set of small numbers that knows its smallest: a bit for each number, and in the summary a bit for each
// word that is not 0.
type bitmap struct{ words, summary []uint64 }

func newBitmap(size int32) bitmap {
	words := (size + 63) / 64
	return bitmap{make([]uint64, words), make([]uint64, (words+63)/64)}
}

// add reports whether the number is new.
func (b *bitmap) add(i uint32) bool {
	word := &b.words[i/64]
	if *word>>(i%64)&1 != 0 {
		return false
	}
	*word |= 1 << (i % 64)
	b.summary[i/64/64] |= 1 << (i / 64 % 64)
	return true
}

func (b *bitmap) remove(i uint32) {
	word := &b.words[i/64]
	if *word &^= 1 << (i % 64); *word == 0 {
		b.summary[i/64/64] &^= 1 << (i / 64 % 64)
	}
}

// smallest number of a set; -1 if it is empty.
func (b *bitmap) smallest() int32 {
	for i, word := range b.summary {
		if word != 0 {
			i = i*64 + bits.TrailingZeros64(word)
			return int32(i*64 + bits.TrailingZeros64(b.words[i]))
		}
	}
	return -1
}
