package lldp

import (
	"encoding/binary"
	"slices"
)

// The organization of IEEE 802.1 and its subtypes for DCBX (802.1Q annex D.2.8 to D.2.11).
const (
	organization8021 = 0x0080C2
	subtypeETS       = 9
	subtypeETSAsks   = 10
	subtypePFC       = 11
	subtypeApps      = 12
)

// DCBX is what a port says of data center bridging; nil: it says nothing of that.
type DCBX struct {
	ETS         *ETS // as it is in force
	Recommended *ETS // what the peer is to have
	PFC         *PFC
	Apps        []App
	HasApps     bool // it says which applications have which priority, if only that there are none
	Broken      int  // TLVs that were too short or said what cannot be
}

// Algorithms by which a traffic class is served (802.1Q table D-5).
const (
	Strict = 0
	Credit = 1 // credit-based shaper
	Shares = 2 // enhanced transmission selection
	Vendor = 255
)

// ETS is how priorities share a link (802.1Q annex D.2.8, D.2.9).
type ETS struct {
	Willing   bool     // it would take the peer's; not of a recommendation
	Credit    bool     // it has the credit-based shaper; not of a recommendation
	Classes   uint8    // it has at most, 1 to 8; not of a recommendation
	Class     [8]uint8 // by priority
	Bandwidth [8]uint8 // percent, by class; counts for those of Shares
	Algorithm [8]uint8 // by class
}

// PFC is which priorities a port pauses, and obeys pauses of (802.1Q annex D.2.10).
type PFC struct {
	Willing  bool
	NoMACsec bool  // it cannot do PFC where MACsec delays
	Classes  uint8 // that can have PFC at the same time, 0 to 8
	Priority uint8 // with PFC, as bits
}

// Selectors of applications (802.1Q table D-8).
const (
	ByEtherType = 1 // 0: whatever no other entry is about
	ByTCP       = 2
	ByUDP       = 3
	ByPort      = 4 // of TCP or UDP
	ByDSCP      = 5
)

// App gives an application its priority (802.1Q annex D.2.11).
type App struct {
	Priority uint8
	Selector uint8
	Protocol uint16 // EtherType, port or DSCP
}

// append writes the TLVs.
func (d *DCBX) append(b []byte) []byte {
	add := func(subtype byte, value []byte) {
		b = appendTLV(b, tlvOrganization, append([]byte{0x00, 0x80, 0xC2, subtype}, value...))
	}
	if e := d.ETS; e != nil {
		first := e.Classes & 7 // 8 is 0
		if e.Willing {
			first |= 0x80
		}
		if e.Credit {
			first |= 0x40
		}
		add(subtypeETS, e.append([]byte{first}))
	}
	if e := d.Recommended; e != nil {
		add(subtypeETSAsks, e.append([]byte{0}))
	}
	if p := d.PFC; p != nil {
		first := p.Classes & 15
		if p.Willing {
			first |= 0x80
		}
		if p.NoMACsec {
			first |= 0x40
		}
		add(subtypePFC, []byte{first, p.Priority})
	}
	if d.HasApps {
		value := []byte{0}
		for _, a := range d.Apps {
			value = append(value, a.Priority<<5|a.Selector&7, byte(a.Protocol>>8), byte(a.Protocol))
		}
		add(subtypeApps, value)
	}
	return b
}

func (e *ETS) append(b []byte) []byte {
	for p := 0; p < 8; p += 2 {
		b = append(b, e.Class[p]<<4|e.Class[p+1]&15)
	}
	b = append(b, e.Bandwidth[:]...)
	return append(b, e.Algorithm[:]...)
}

// take reads the value of a TLV of some organization.
func (d *DCBX) take(b []byte) {
	head := binary.BigEndian.Uint32(b)
	if head>>8 != organization8021 {
		return
	}
	b = b[4:]
	switch head & 0xFF {
	case subtypeETS:
		e := &ETS{}
		if len(b) != 21 || !e.take(b) {
			d.Broken++
			return
		}
		if e.Willing, e.Credit, e.Classes = b[0]&0x80 != 0, b[0]&0x40 != 0, b[0]&7; e.Classes == 0 {
			e.Classes = 8
		}
		d.ETS = e
	case subtypeETSAsks:
		e := &ETS{}
		if len(b) != 21 || !e.take(b) {
			d.Broken++
			return
		}
		d.Recommended = e
	case subtypePFC:
		if len(b) != 2 {
			d.Broken++
			return
		}
		d.PFC = &PFC{Willing: b[0]&0x80 != 0, NoMACsec: b[0]&0x40 != 0, Classes: b[0] & 15, Priority: b[1]}
	case subtypeApps:
		if len(b)%3 != 1 {
			d.Broken++
			return
		}
		d.HasApps = true
		for b = b[1:]; len(b) >= 3; b = b[3:] {
			d.Apps = append(d.Apps, App{b[0] >> 5, b[0] & 7, binary.BigEndian.Uint16(b[1:])})
		}
	}
}

// take reads what configuration and recommendation have in common. A class beyond 7 there is not.
func (e *ETS) take(b []byte) bool {
	for p := range e.Class {
		if e.Class[p] = b[1+p/2] >> (4 * (1 - p%2)) & 15; e.Class[p] > 7 {
			return false
		}
	}
	copy(e.Bandwidth[:], b[5:])
	copy(e.Algorithm[:], b[13:])
	return true
}

// Shared returns how priorities share a link whose classes are the priorities themselves: those with a weight by it,
// others strictly. The percents of those with a weight are 100 together, and each is less than one off.
func Shared(weights [8]int) *ETS {
	e := &ETS{Classes: 8, Class: [8]uint8{0, 1, 2, 3, 4, 5, 6, 7}}
	sum := 0
	for _, w := range weights {
		sum += w
	}
	if sum == 0 {
		return e
	}
	left, lost := 100, [8]int{} // by rounding down
	for prio, w := range weights {
		if w > 0 {
			e.Algorithm[prio], e.Bandwidth[prio], lost[prio] = Shares, uint8(100*w/sum), 100*w%sum
			left -= 100 * w / sum
		}
	}
	for ; left > 0; left-- { // those that lost most get it back
		most := slices.Index(lost[:], slices.Max(lost[:]))
		e.Bandwidth[most]++
		lost[most] = 0
	}
	return e
}

// sortApps puts applications in order, to be compared.
func sortApps(apps []App) []App {
	apps = slices.Clone(apps)
	slices.SortFunc(apps, func(a, b App) int {
		return (int(a.Selector)-int(b.Selector))<<16 + int(a.Protocol) - int(b.Protocol)
	})
	return apps
}
