package agent

import (
	"photon/cnp"
	"photon/dataplane"
	"photon/units"
	"photon/wire"
)

// cnpDue is when the next CNP may leave.
func (h *Host) cnpDue() units.Time {
	if !h.noShortcuts {
		return h.npNext
	}
	return h.delayed.cnpDue(h.npNext)
}

// notify makes the next CNP. There may be none although one was expected, if
// its flow was forgotten; stop says that there is no memory for one.
func (h *Host) notify(now units.Time) (f dataplane.Frame, made, stop bool) {
	if f, made = h.env.Alloc(cnp.MaxLen); !made {
		return f, false, true
	}
	slot, notice, ok := h.delayed.nextCNP(now, (*remembered)(h))
	if !ok {
		h.env.Free(f)
		return f, false, false
	}
	f.Len = uint16(cnp.Encode(h.env.Header(f), h.reply(slot, h.config.ControlDSCP), h.table.Key(slot).qp, notice))
	h.origins[slot].cnps++
	h.stats.NPSent++
	return f, true, false
}

// reply is the header of a packet to the sender of a received flow.
func (h *Host) reply(slot int, dscp uint8) wire.RoCE {
	o := &h.origins[slot]
	return wire.RoCE{DstMAC: o.mac, SrcMAC: h.config.MAC, Src: h.config.IP, Dst: h.table.Key(slot).ip(), TOS: dscp << 2, SrcPort: o.port}
}
