package dataplane

import (
	"photon/cnp"
	"photon/fabric"
	"photon/fdb"
	"photon/marking"
	"photon/units"
	"photon/wire"
)

// cnpDSCP is the usual one of CNPs in RoCE deployments.
const cnpDSCP = 48

// sendCNM sends QCN's feedback to the source of a frame that was just queued.
func (s *Switch) sendCNM(now units.Time, p *switchPort, sampled *fabric.Frame, what marking.Sample) {
	var h wire.Header
	b := scratchOf(p.env.Pool).packet.Bytes
	if !wire.Parse(b, &h) {
		return
	}
	in := s.lanOut(p, b)
	if in == nil || in.fdb.Find(h.Src, s.era.second(now)).Kind() == fdb.Router {
		return // QCN ends where a packet is routed: its frame's source is not its own
	}
	f, ok := p.env.Alloc(cnp.MaxCNMLen)
	if !ok {
		return // the next sample has the same information
	}
	f.Len = uint16(cnp.EncodeCNM(p.env.Header(f), b, &h, p.config.MAC, cnp.CNM{
		QntzFb: what.QntzFb, CPID: uint64(p.config.MAC)<<16 | uint64(sampled.Prio),
		QOffset: octets64(what.QOffset), QDelta: octets64(what.QDelta), Priority: sampled.Prio,
	}))
	p.stats.CNMs[sampled.Prio]++
	s.sendBack(now, p, in, &f, h.Src, h.Hash, sampled.In)
}

// octets64 brings a size to the units of a CNM's fields, 64 bytes, saturating.
func octets64(n units.Size) int16 { return int16(min(max(n/64, -1<<15), 1<<15-1)) }

// sendCNP makes an ordinary CNP, as the flow's receiver would. What goes to a group has no receiver that
// could, nor could a group be the source of a frame (IEEE 802.3 clause 3.2.3).
func (s *Switch) sendCNP(now units.Time, p *switchPort, prio int, flow marking.Flow) {
	if flow.DstMAC.Multicast() {
		return
	}
	in := s.lanBehind(now, p, flow.SrcMAC)
	if in == nil {
		return
	}
	f, ok := p.env.Alloc(cnp.MaxLen)
	if !ok {
		return
	}
	to := wire.RoCE{DstMAC: flow.SrcMAC, SrcMAC: flow.DstMAC, Src: flow.Dst, Dst: flow.Src, TOS: cnpDSCP << 2}
	f.Len = uint16(cnp.EncodeNamed(p.env.Header(f), to, flow.QP, cnp.Name{Data: true, QP: flow.QP}, cnp.Notice{ECN: wire.NotECT}))
	p.stats.CNPs[prio]++
	var h wire.Header // it takes the way that its receiver's own would
	wire.Parse(p.env.Bytes(&f), &h)
	s.sendBack(now, p, in, &f, flow.SrcMAC, h.Hash, uint16(p.number))
}

// lanBehind is the LAN of a frame from mac that left through p: one of the port's,
// in which the address is known. Else it is that of frames without tag.
func (s *Switch) lanBehind(now units.Time, p *switchPort, mac wire.MAC) *lan {
	if s.lans.aware {
		for _, x := range s.lans.all {
			if x.forms[p.number] != absent && x.fdb.Find(mac, s.era.second(now)) != 0 {
				return x
			}
		}
	}
	return s.lans.untaggedOut[p.number]
}

// sendBack forwards a frame that the switch made at a port, of which hash chooses among equal paths. If
// its destination is unknown it goes where the frame came from that caused it.
func (s *Switch) sendBack(now units.Time, p *switchPort, in *lan, f *fabric.Frame, dst wire.MAC, hash uint32, from uint16) {
	f.In, f.Prio, f.Flag = ownFrame, s.config.Control, 0
	p.made[f.Prio&7]++
	switch e := in.fdb.Find(dst, s.era.second(now)); e.Kind() {
	case 0:
		s.forward(now, p, in, from, f)
	case fdb.Router: // a CNP for a flow that was routed here
		s.catchUp(now, p.worker)
		f.Flag = wire.EthernetLen
		s.apply(now, p, f, actionOf(f)|actRoute)
	case fdb.Group:
		group := s.lans.groups[e.Value()]
		s.forward(now, p, in, group[pick(hash, s.config.Salt, len(group))], f)
	default:
		s.forward(now, p, in, e.Value(), f)
	}
}
