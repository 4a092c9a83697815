package scheme

import (
	"cmp"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

type ibcc struct {
	cp    marking.IBParams
	acked bool // acknowledgements bring BECN back
	rp    ratelimit.IBCCParams
	// CCTI_Timer as the annex counts it, and what the table is made of.
	timer, step, shift int
}

// tcdIBCC is ibcc with another judgement on what the switch marks.
type tcdIBCC struct {
	ibcc
	interval units.Time
}

func init() {
	const source = "InfiniBand Architecture Specification, volume 1, annex A10"
	const np = "answers every marked packet with a congestion notification packet (BECN), or with its acknowledgement"
	register[ibcc](Scheme{
		Name:    "ibcc",
		Summary: "InfiniBand's congestion control: marks at the root of the congestion, and a table of ever longer gaps",
		Source:  source,
		CP:      "FECN, here CE: in frames that leave more than a threshold behind and did not wait for the peer's credits",
		NP:      np,
		RP:      "a BECN moves a flow up the congestion control table, a timer moves it down, entry by entry",
	})
	register[tcdIBCC](Scheme{
		Name:    "tcd+ibcc",
		Summary: "InfiniBand's congestion control behind ternary congestion detection: flows that only met waits for credits keep their rates",
		Source:  "Zhang et al., Congestion Detection in Lossless Networks, SIGCOMM'21; " + source,
		CP:      "ternary: UE while the port was without credits recently, then FECN as ibcc as soon as its queue stops falling",
		NP:      np + ": CE if any packet that it answers had CE, else UE",
		RP:      "ibcc's at CE; at UE the index stays, and the timer lowers it one expiry later",
	})
}

// params are both ends of InfiniBand's congestion control, by the names that the annex gives them.
func (s *ibcc) params() []Param {
	const (
		gran    = "studies of the hardware (Gran et al., IPDPS 2010 and 2012)"
		manager = "the defaults of Mellanox's congestion control manager for OpenSM"
		unread  = "the studies' text was not at hand; "
	)
	return []Param{
		{Name: "threshold", into: integer(&s.cp.Weight), Doc: "weight: 0 never marks, 1 to 15 mark ever shorter queues, those above (16-threshold)/16 of reference", Default: "15", Source: manager + ", and " + gran},
		{
			Name: "reference", into: size(&s.cp.Reference), Doc: "queue that the threshold is a part of; a size, above 0", Default: "131072B", Source: "ours: 2048 blocks, which is all that a lane is promised at a time",
			Open: "the annex has thresholds that fall uniformly with the weight, and leaves it to the switch what they are a part of",
		},
		{Name: "packet_size", into: size(&s.cp.PacketSize), Doc: "shorter frames are not marked; a size, at most 16320B", Default: "0B", Source: gran, Open: unread + manager + " has 512 bytes"},
		{Name: "marking_rate", into: integer(&s.cp.Rate), Doc: "frames that could be marked between two that are; 0 to 65535", Default: "0", Source: gran, Open: unread + manager + " has 10. The annex has a mean; here it is the same every time"},
		{
			Name: "victims", into: flag(&s.cp.Victims), Doc: "Victim_Mask: ports also mark frames that waited for credits; yes or no", Default: "no", Source: gran + ": set for ports to channel adapters at most",
			Open: "when a switch looks whether a port has credits is its own affair; here a frame is a victim's if it waited for them at the head of its queue",
		},
		{
			Name: "becn", into: either(&s.acked, "%q is", "cn", false, "ack", true), Doc: "what returns the mark: `cn`, a packet of its own, or `ack`, the acknowledgement, of which every packet has one then", Default: "cn", Source: "the annex has both",
			Open: "reliable connections would use acknowledgements; with packets of their own the scheme needs nothing of the transport",
		},
		{Name: "ccti_increase", into: integer(&s.rp.Increase), Doc: "of the index at a BECN; 0 to 255", Default: "1", Source: manager, Open: "studies have 1 to 4"},
		{Name: "ccti_limit", into: integer(&s.rp.Limit), Doc: "largest index; 0 to 16383", Default: "127", Source: gran, Open: "adapters have tables of 128 entries at least"},
		{Name: "ccti_min", into: integer(&s.rp.Min), Doc: "smallest index, where a flow begins; 0 to 255", Default: "0", Source: manager},
		{
			Name: "ccti_timer", into: integer(&s.timer), Doc: "so often the index falls by one, in units of 1.024 us; 1 to 65535", Default: "150", Source: gran,
			Open: unread + "38 to 150 are told of. It runs from the BECN that finds the index at its smallest until it is there again, as in Linux's hfi1 driver",
		},
		{Name: "port_control", into: either(&s.rp.Shared, "%q is", "qp", false, "sl", true), Doc: "who has an index: `qp`, each flow, or `sl`, all flows of a priority together", Default: "qp", Source: manager},
		{
			Name: "cct_multiplier", into: integer(&s.step), Doc: "entry i of the table is i times this, packet times between two packets; 0 to 16383", Default: "1", Source: "ours: entry i leaves 1/(1+i) of the line",
			Open: "tables are the subnet manager's, made for a number of hosts. A gap is of the packet's own time; hfi1 takes that of the largest packet, and the largest index of all service levels",
		},
		{Name: "cct_shift", into: integer(&s.shift), Doc: "and is divided by two so often; 0 to 3", Default: "0", Source: "the same"},
	}
}

func (s *ibcc) build(n Network) (Parts, error) {
	var table error
	s.rp.Line, s.rp.Timer = n.Line, units.Time(s.timer)*ratelimit.CCTUnit
	if s.rp.Table, table = ratelimit.NewCCT(s.rp.Limit, s.step, s.shift); table != nil {
		table = &ParamError{Param: "cct_multiplier", Err: table}
	}
	parts := Parts{
		CP: func(marking.Place) marking.CP { return marking.NewIB(s.cp) },
		NP: func(flows int) cnp.NP { return cnp.NewBECN(s.rp.Ternary, flows) },
		RP: func(port *ratelimit.Port) ratelimit.RP { return ratelimit.NewIBCC(&s.rp, port) },
	}
	if s.acked {
		parts.NP = nil
		parts.RP = func(port *ratelimit.Port) ratelimit.RP {
			return ratelimit.AckedIBCC{IBCC: ratelimit.NewIBCC(&s.rp, port)}
		}
		parts.Carry.Ack = true
	}
	return parts, cmp.Or(s.cp.Validate(), table, s.rp.Validate())
}

func (s *tcdIBCC) params() []Param {
	return append([]Param{{
		Name: "interval", into: duration(&s.interval), Doc: "max(Ton): a port that got credits longer ago is not in an ON-OFF pattern; a time, above 0",
		Default: "65 536 symbol times of four lanes, and a link's delay",
		Rule: func(n Network) string {
			return (n.Line.Serialize(65536*4) + n.baseRTT()/units.Time(2*n.hops())).String()
		},
		Source: "ours: so far apart are two flow control packets at most, so that a port whose peer takes less than it has is off once in such a time",
		Open:   "the text at hand ends before the paper's value. Packets that leave as soon as credits allow more come sooner",
	}}, s.ibcc.params()...)
}

func (s *tcdIBCC) build(n Network) (Parts, error) {
	s.rp.Ternary = true
	parts, err := s.ibcc.build(n)
	parts.CP = func(marking.Place) marking.CP { return marking.NewTCDOver(s.interval, marking.NewIB(s.cp)) }
	parts.Carry.ECT = wire.ECT1
	return parts, cmp.Or(err, marking.CheckInterval(s.interval))
}
