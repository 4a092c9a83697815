package sim

import (
	"math"

	"photon/fabric"
	"photon/units"
)

// port is one end of a link. What every arrival and transmission needs is in its first cache line, frames on their way
// to it are in the second, the rest in the third. The number of lines is odd, so that the first lines of many ports
// do not compete for half of the places of the caches.
type port struct {
	node       fabric.Server
	env        *fabric.Env
	exit       *fabric.Exit // Free is when the frame that was sent last will have left
	delay      units.Time
	peer       int32  // the port at the other end, or unlinked, or inOtherPart of it
	number     uint16 // at its node
	lastLength uint16 // of the frame that was sent last
	lastTime   uint32 // picoseconds that it took: the next is often as long
	perByte    uint16 // picoseconds; 0: that is no whole number, or large, and the link has to be asked
	overhead   int16  // bytes that the link adds to a frame
	sent       uint32 // frames, modulo 2^32
	delivered  uint32

	flight flight
	timer  units.Time // when the node is to be asked for a frame of the port; units.Never: when it wakes the port
	_      [24]byte

	link fabric.Link
	_    [40]byte
}

// A port's peer is a port of the same part, or one of these.
const (
	unlinked  = -1
	otherPart = -2 // and less: it is a port of another part, see inOtherPart
)

// inOtherPart is how a port names a peer of another part. Applied to that, it returns the peer.
func inOtherPart(peer int32) int32 { return otherPart - peer }

// peerID is the port at the other end of the link, whatever part that is in.
func (p *port) peerID() int32 {
	if p.peer <= otherPart {
		return inOtherPart(p.peer)
	}
	return p.peer
}

func newPort(server fabric.Server, env *fabric.Env, node, number int) port {
	return port{
		node: server, env: env, exit: env.Exit(number), number: uint16(number), peer: unlinked,
		flight: flight{first: units.Never, node: int32(node)}, timer: units.Never,
	}
}

// join puts a cable in.
func (p *port) join(peer int, link fabric.Link) {
	p.peer, p.link, p.delay, p.exit.Frames = int32(peer), link, link.Delay, p.exit.Inline[:]
	p.setRate(link.Rate)
}

// setRate changes how fast the port sends.
func (p *port) setRate(rate units.Rate) {
	p.link.Rate, p.lastLength, p.perByte, p.overhead = rate, 0, 0, 0
	perByte, overhead := rate.Serialize(1), p.link.WireBytes(0)
	whole := rate > 0 && 8*units.Rate(units.Second)%rate == 0
	if whole && perByte <= math.MaxUint16 && overhead == int(int16(overhead)) {
		p.perByte, p.overhead = uint16(perByte), int16(overhead)
	}
}

// serialize is how long a frame occupies the link. Where it can it multiplies: data and acknowledgements take turns on
// most links, so that whether a frame is as long as the one before would be guessed wrong a quarter of the time.
func (p *port) serialize(length uint16) units.Time {
	if took, ok := p.multiply(length); ok {
		return took
	}
	if length != p.lastLength || length == 0 {
		return p.serializeOther(length)
	}
	return units.Time(p.lastTime)
}

// multiply is serialize where the link's rate divides a byte's time into whole picoseconds. It is short, so that the
// compiler puts it where it is called.
func (p *port) multiply(length uint16) (took units.Time, ok bool) {
	return units.Time(max(0, int(length)+int(p.overhead))) * units.Time(p.perByte), p.perByte != 0
}

// serializeOther asks the link, and remembers it for the frames behind that are as long.
func (p *port) serializeOther(length uint16) (took units.Time) {
	if took = p.link.Serialize(int(length)); took <= math.MaxUint32 {
		p.lastLength, p.lastTime = length, uint32(took)
	}
	return took
}
