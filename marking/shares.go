package marking

import (
	"net/netip"

	"photon/units"
	"photon/wire"
)

// Share is what AF-QCN grants a class of flows.
type Share struct {
	Weight float64    // 1 for a class of which nothing is said
	Max    units.Rate // never more than this; 0: no cap
}

// Shares says what a flow is entitled to, by its hash and, when it is first seen, by a frame of it. At the end of each
// interval it is asked again, without a frame (p is nil): changed then says that the share is another.
type Shares func(hash uint32, p *Packet) (s Share, changed bool)

// Equal shares: no flow has more than another.
func Equal(uint32, *Packet) (Share, bool) { return Share{Weight: 1}, false }

// ShareRule says what flows are entitled to.
type ShareRule struct {
	From, To netip.Prefix // zero: any
	Proto    uint8        // IP protocol; 0: any
	Port     uint16       // of UDP or TCP, at either end; 0: any
	QP       uint32       // of RoCEv2, the one that packets are for; 0: any
	Share
}

// SharesOf are those of rules, of which the first that matches a flow counts; other flows have weight 1.
func SharesOf(rules []ShareRule) Shares {
	return func(hash uint32, p *Packet) (Share, bool) {
		if p == nil {
			return Share{}, false
		}
		var h wire.Header
		if wire.Parse(p.Bytes, &h) && h.L3 != 0 {
			for i := range rules {
				if rules[i].matches(p.Bytes, &h) {
					return rules[i].Share, false
				}
			}
		}
		return Equal(hash, p)
	}
}

func (r *ShareRule) matches(b []byte, h *wire.Header) bool {
	from, to := wire.Addresses(b[h.L3:])
	proto := h.Proto
	if h.EtherType == wire.TypeIPv4 { // of later fragments, too, which have no ports
		proto = b[h.L3+9]
	}
	switch {
	case r.From.IsValid() && !r.From.Contains(from.Addr()), r.To.IsValid() && !r.To.Contains(to.Addr()):
		return false
	case r.Proto != 0 && r.Proto != proto:
		return false
	case r.Port != 0 && r.Port != h.SrcPort && r.Port != h.DstPort:
		return false
	}
	return r.QP == 0 || h.BTH != 0 && wire.BTH(b[h.BTH:]).DestQP() == r.QP
}
