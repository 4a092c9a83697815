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

// HeadroomParts is what can arrive through a link after its receiver's buffer
// crossed XOFF, by cause.
type HeadroomParts struct {
	Frames units.Size // three of the longest: the one that crosses XOFF, the one of ours behind which the XOFF waits, the one that the peer finishes
	Pause  units.Size // the XOFF itself
	Peer   units.Size // the peer's response time: PeerResponse
	Cable  units.Size // both ways
	Own    units.Size // our response time: the poll gap
	Ring   units.Size // what waits before the XOFF in a device's transmit ring
	MACPHY units.Size // what arrives while the XOFF passes through our own MAC and PHY; HeadroomOf leaves it out
	Cells  units.Size // what short frames take more than their bytes, see InCells; HeadroomOf leaves it out
}

// HeadroomOf works out the parts for a link of rate r with a one-way propagation
// time, frames of up to longest bytes without FCS, our own response time, and how
// far ahead of the link a device is given frames.
func HeadroomOf(r units.Rate, delay, own, ahead units.Time, longest units.Size) HeadroomParts {
	return HeadroomParts{
		Frames: 3 * (longest + wire.Overhead), Pause: FrameLen + wire.Overhead, Peer: PeerResponse(r),
		Cable: r.Bytes(2 * delay), Own: r.Bytes(own), Ring: r.Bytes(ahead),
	}
}

// InCells is the same in a buffer of cells, where a frame takes whole ones: the worst that can arrive
// are frames that take most for their time on the wire. These are the shortest there are, or those with one byte more
// than fits into as many cells as these take.
func (h HeadroomParts) InCells(cell units.Size) HeadroomParts {
	cell, h.Cells = max(cell, 1), 0
	bytes := h.Sum()
	n := (wire.MinFrameLen + cell - 1) / cell
	for _, worst := range []struct{ length, cells units.Size }{{wire.MinFrameLen, n}, {n*cell + 1, n + 1}} {
		onWire := worst.length + wire.Overhead
		h.Cells = max(h.Cells, (bytes*worst.cells*cell+onWire-1)/onWire-bytes)
	}
	return h
}

// Sum is the headroom.
func (h HeadroomParts) Sum() units.Size {
	return h.Frames + h.Pause + h.Peer + h.Cable + h.Own + h.Ring + h.MACPHY + h.Cells
}

// CardMACPHY is the MACPHY of a card of which nothing is known: the 0.8 KB of SONiC's
// tables of switch chips (mac_phy_delay in their ASIC_TABLE).
const CardMACPHY units.Size = 819

// Headroom is the sum of HeadroomOf for a link without a device's transmit ring, MAC and PHY:
// the bytes that can arrive after XOFF was crossed.
func Headroom(r units.Rate, delay, own units.Time, longest units.Size) units.Size {
	return HeadroomOf(r, delay, own, 0, longest).Sum()
}
