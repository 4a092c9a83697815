package agent

import (
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// announceEvery is the time between two announcements: a switch that starts, or
// forgets, knows the host again within it.
const announceEvery = units.Second

// announcePrio is the priority of a frame without tag and without IP.
const announcePrio = 0

// announcement is what is in it, from where the EtherType would be.
const announcement = "\x00\x06" + // length of what follows
	"\x00\x01" + // null DSAP, null SSAP with the response bit
	"\xAF" + // XID
	"\x81\x01\x00" // basic format, type 1 LLC, no window

// announce makes a frame from which switches learn where the host is: to
// everybody, an 802.2 exchange-identification response that changes nothing, as
// wireless access points send for a station that has moved. A receiver would
// otherwise be unknown until its first CNP, and the frames to it flooded, each
// copy of which takes lossless buffer.
func (h *Host) announce(now units.Time) (f fabric.Frame, made, stop bool) {
	if f, made = h.env.Alloc(wire.MinFrameLen); !made {
		return f, false, true
	}
	b := h.env.Header(f)
	clear(b)
	wire.Broadcast.Put(b)
	h.config.MAC.Put(b[6:])
	copy(b[12:], announcement)
	copy(b[12+len(announcement):], h.config.IP[:]) // padding to anybody but a host that has the same
	h.nextAnnounce = now + announceEvery
	return f, true, false
}
