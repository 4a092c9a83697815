package pfc

import (
	"photon/units"
	"photon/wire"
)

// responseQuanta is how long a receiver of a pause may take to stop, in
// quanta, per link rate (IEEE 802.3 annex 31B.3.7; the table that SONiC's
// dynamic headroom uses).
var responseQuanta = []struct {
	rate   units.Rate
	quanta units.Size
}{
	{10 * units.Gbps, 67}, {25 * units.Gbps, 80}, {40 * units.Gbps, 118}, {50 * units.Gbps, 147},
	{100 * units.Gbps, 394}, {200 * units.Gbps, 453}, {400 * units.Gbps, 905},
}

// PeerResponse returns how many bytes a peer at rate r may still send after it
// received an XOFF. Rates between two entries take the higher one.
func PeerResponse(r units.Rate) units.Size {
	for _, e := range responseQuanta {
		if r <= e.rate {
			return e.quanta * 64
		}
	}
	return responseQuanta[len(responseQuanta)-1].quanta * 64
}

// Headroom returns the bytes that can arrive through a link after its
// receiver's buffer crossed XOFF. The XOFF waits behind the largest frame that
// is being sent, takes its own time and the cable's; the peer finishes its
// largest frame and takes its response time; what it sent meanwhile is on the
// cable. delay is the one-way propagation time, mtu the largest frame without
// FCS, and own our response time beyond that: the poll gap and what waits in a
// device's transmit ring.
func Headroom(r units.Rate, delay, own units.Time, mtu units.Size) units.Size {
	largest := mtu + wire.Overhead
	frame := units.Size(FrameLen + wire.Overhead)
	return 2*largest + frame + PeerResponse(r) + r.Bytes(2*delay+own)
}
