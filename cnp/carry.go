package cnp

import "photon/wire"

// Carry says what a scheme needs of the hosts beyond CNPs: what their data
// packets carry, and what acknowledgements bring back.
type Carry struct {
	ECT   uint8 // ECN codepoint of data as it leaves: wire.ECT0 or wire.ECT1
	Tag   bool  // data carries a CN-TAG with the flow's number (QCN)
	Ack   bool  // every packet is acknowledged, with the mark that it had
	Stamp bool  // data carries the sender's clock, and its acknowledgement brings it back (TIMELY)
	INT   bool  // data has room for telemetry, and its acknowledgement brings it back (HPCC)
}

// Extensions are the BTH's flags of what data packets carry.
func (c *Carry) Extensions() (e uint8) {
	if c.INT {
		e |= wire.ExtINT
	}
	if c.Stamp {
		e |= wire.ExtStamp
	}
	return e
}
