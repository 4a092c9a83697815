package credits

import (
	"cmp"
	"fmt"

	"photon/units"
)

// Config is what a port goes by. Both ends of a link have one: they need not be alike but in Extra.
type Config struct {
	// Buffer is set aside for each lane, in bytes; whole blocks count. More than 2048 blocks are never promised
	// at a time.
	Buffer units.Size
	// Extra is what a packet counts beyond the bytes that nodes see; not negative. The specification counts from the
	// local route header to the CRC: 26 bytes around the payload of a packet that is not routed. Frames have Ethernet,
	// IP and UDP headers in their place, and count all of them.
	Extra units.Size
	// Period is the longest from one flow control packet of a lane to the next; 0: 65 536 symbol times of four
	// lanes (7.9.4).
	Period units.Time
	// Update is after how many bytes of new credits a packet is sent before the end of Period; 0: a sixteenth of
	// what is promised at a time. If the peer's next packet may wait for credits, a packet is sent at once.
	Update units.Size
}

// Blocks is how many blocks a frame of length bytes takes.
func (c *Config) Blocks(length int) uint16 {
	return uint16((units.Size(length) + c.Extra + Block - 1) / Block)
}

// capacity is how many blocks of buffer a lane has.
func (c *Config) capacity() int64 { return int64(c.Buffer / Block) }

// Capacity is how many bytes of buffer a lane has, in whole blocks.
func (c *Config) Capacity() units.Size { return units.Size(c.capacity()) * Block }

func (c *Config) update() uint16 {
	whole := min(c.capacity(), most)
	return uint16(max(1, min(whole, cmp.Or(int64(c.Update)/Block, whole/16))))
}

// PeriodAt is the period on a link of a rate. A symbol is a byte on each of its four lanes.
func (c *Config) PeriodAt(rate units.Rate) units.Time {
	return cmp.Or(c.Period, rate.Serialize(65536*4))
}

// Validate says what is wrong, in one line, for links with frames of up to longest bytes.
func (c *Config) Validate(longest int) error {
	const largest = 16 * units.MB
	switch {
	case c.Extra < 0 || c.Extra > 128:
		return fmt.Errorf("a packet counts %v more than its frame: from 0 to 128B", c.Extra)
	case c.Buffer > largest:
		return fmt.Errorf("buffer of a lane %v must be at most %v", c.Buffer, largest)
	case c.capacity() < int64(c.Blocks(longest)):
		return fmt.Errorf("buffer of a lane %v must hold a frame of %d bytes, which takes %d blocks of %d bytes", c.Buffer, longest, c.Blocks(longest), Block)
	case c.Period < 0:
		return fmt.Errorf("period %v must not be negative", c.Period)
	case c.Update < 0 || c.Update > c.Buffer:
		return fmt.Errorf("update %v must be from 0 to the buffer of a lane, %v", c.Update, c.Buffer)
	}
	return nil
}
