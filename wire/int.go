package wire

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"photon/units"
)

// INTHops is how many hops in-band telemetry has room for (HPCC, SIGCOMM'19).
const INTHops = 5

// INTHop is what one switch writes into a packet as it leaves: HPCC's fields.
// Time and TxBytes are counters that wrap; only their differences mean anything.
type INTHop struct {
	Rate    units.Rate // of the link
	Time    units.Time // when, to the nanosecond, modulo 2^24 ns
	TxBytes units.Size // sent so far, modulo INTHop.TxWrap
	Queue   units.Size // left in the port's queues
}

// intRates are the link rates that four bits can name. Those of the HPCC
// simulator's format, 25 to 400 Gbit/s, are among them; 1 to 10 and 40 are not in it.
var intRates = [16]units.Rate{
	1: units.Gbps, 2: 2500 * units.Mbps, 3: 5 * units.Gbps, 4: 10 * units.Gbps, 5: 20 * units.Gbps, 6: 25 * units.Gbps, 7: 40 * units.Gbps,
	8: 50 * units.Gbps, 9: 100 * units.Gbps, 10: 200 * units.Gbps, 11: 400 * units.Gbps, 12: 800 * units.Gbps, 13: 100 * units.Mbps, 14: 10 * units.Mbps,
}

// INTRates are the rates of links that telemetry can name, in ascending order.
func INTRates() (all []units.Rate) {
	all = slices.DeleteFunc(slices.Clone(intRates[:]), func(r units.Rate) bool { return r == 0 })
	slices.Sort(all)
	return all
}

// A hop is 64 bits: rate 4, time 24 (ns), bytes 20 (in 128 B), queue 16 (in
// 80 B), the two last multiplied by rate/25 Gbit/s above that rate, so that the
// counters wrap no faster.
const (
	intTimeBits  = 24
	intBytesBits = 20
	intQueueBits = 16
	intBytesUnit = 128
	intQueueUnit = 80
)

func intScale(r units.Rate) units.Size { return 1 << intShift(r) }

// intShift is the scale's logarithm: of all rates that have a number the scale is a power of two.
func intShift(r units.Rate) int { return max(1, bits.Len64(uint64(r/(25*units.Gbps)))) - 1 }

// TxWrap is the modulus of TxBytes.
func (h INTHop) TxWrap() units.Size { return intBytesUnit * intScale(h.Rate) << intBytesBits }

// INTTimeWrap is the modulus of INTHop.Time: 16.8 ms.
const INTTimeWrap = units.Nanosecond << intTimeBits

// INT is a view on a packet's telemetry, INTLen bytes: four bits for the number of hops, twelve for the path, then the
// hops (HPCC, SIGCOMM'19, figure 7).
type INT []byte

// INTOf returns the telemetry of the packet that begins with ip[0] and whose
// base transport header lies at ip[bth]; nil if it carries none.
func INTOf(ip []byte, bth int) INT {
	at := bth + BTHLen
	if BTH(ip[bth:]).Extensions()&ExtINT == 0 {
		return nil
	}
	if BTH(ip[bth:]).Opcode() == OpAcknowledge {
		at += AETHLen
	}
	if len(ip) < at+INTLen {
		return nil
	}
	return INT(ip[at : at+INTLen])
}

// Hops is how many switches have written.
func (t INT) Hops() int { return min(int(t[0]>>4), INTHops) }

// Path tells the paths of packets apart: the exclusive or of the switches that they passed, as Via has it.
func (t INT) Path() uint16 { return binary.BigEndian.Uint16(t) & 0xFFF }

// Via notes in the path that a port sends the packet on. Twelve bits of its address stand for it.
func (t INT) Via(port MAC) {
	binary.BigEndian.PutUint16(t, binary.BigEndian.Uint16(t)^uint16(uint64(port)*0x9E3779B97F4A7C15>>52))
}

// Push appends a hop; a packet that has no room left stays as it is.
func (t INT) Push(h INTHop) {
	n := t.Hops()
	if n == INTHops {
		return
	}
	rate := max(0, slices.Index(intRates[:], h.Rate))
	shift := intShift(h.Rate)
	v := uint64(rate)<<60 |
		uint64(h.Time/units.Nanosecond)&(1<<intTimeBits-1)<<36 |
		uint64(h.TxBytes/intBytesUnit>>shift)&(1<<intBytesBits-1)<<16 |
		uint64(min(h.Queue/intQueueUnit>>shift, 1<<intQueueBits-1))
	binary.BigEndian.PutUint64(t[2+8*n:], v)
	t[0] += 1 << 4
}

// Hop returns the i-th hop, to the precision of its encoding.
func (t INT) Hop(i int) INTHop {
	v := binary.BigEndian.Uint64(t[2+8*i:])
	h := INTHop{Rate: intRates[v>>60], Time: units.Time(v>>36&(1<<intTimeBits-1)) * units.Nanosecond}
	scale := intScale(h.Rate)
	h.TxBytes = units.Size(v>>16&(1<<intBytesBits-1)) * intBytesUnit * scale
	h.Queue = units.Size(v&(1<<intQueueBits-1)) * intQueueUnit * scale
	return h
}
