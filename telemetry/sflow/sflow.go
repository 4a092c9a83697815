// Package sflow writes the datagrams of sFlow version 5 (sflow.org, July 2004): samples of frames, with their first
// bytes, and the counters of ports. It knows no sockets. It is apart from telemetry because nothing else of that has to
// do with another's format.
//
// Left out: records but those of raw headers and of generic interfaces, and expanded samples, which are for
// interfaces with large numbers.
package sflow

import (
	"encoding/binary"
	"net/netip"
)

// MaxLen is how long a datagram may become, so that no network between switch and collector cuts it.
const MaxLen = 1400

const (
	version      = 5
	flowSample   = 1
	counters     = 2
	rawHeader    = 1
	generic      = 1
	ethernet     = 1 // header protocol
	ethernetType = 6 // ifType, ethernetCsmacd
	fullDuplex   = 1
	fcs          = 4
)

// Writer makes datagrams. The zero value but for Agent is ready.
type Writer struct {
	Agent    netip.Addr // the address by which the collector knows the switch
	Send     func(datagram []byte)
	sequence uint32
	samples  int
	b        []byte
	uptime   uint32
	flows    map[uint32]source // by port
	counted  map[uint32]source
}

// source is what samples of a kind and a port have in common.
type source struct {
	sequence uint32    // of the last one
	counted  [2]uint64 // in it
}

// next numbers the next sample, from 1 on if something counts from the beginning: a collector would take the
// difference for what has come since the last one (sFlow version 5, flow_sample and counters_sample).
func next(of map[uint32]source, port uint32, counted ...uint64) uint32 {
	s := of[port]
	for i, n := range counted {
		if n < s.counted[i] {
			s.sequence = 0
		}
	}
	s.sequence++
	copy(s.counted[:], counted)
	of[port] = s
	return s.sequence
}

// Flow is a sampled frame.
type Flow struct {
	Port   uint32 // ifIndex of the port that received it
	Every  uint32 // one frame in so many is sampled
	Pool   uint64 // frames that might have been
	Drops  uint32 // samples that were lost
	Length int    // of the frame without FCS
	Head   []byte
}

// Counters are those of a port.
type Counters struct {
	Port                                  uint32 // ifIndex
	Speed                                 uint64 // bit/s
	Up, Admin                             bool
	InBytes, OutBytes                     uint64
	In, Out                               uint32 // frames
	InDiscards, InErrors, OutDrops, OutEr uint32
}

// Begin begins a datagram, uptime milliseconds after the start of the switch.
func (w *Writer) Begin(uptime uint32) {
	if w.flows == nil {
		w.flows, w.counted = map[uint32]source{}, map[uint32]source{}
	}
	w.uptime = uptime
	w.head()
}

func (w *Writer) head() {
	w.samples = 0
	w.b = binary.BigEndian.AppendUint32(w.b[:0], version)
	family := uint32(1)
	if w.Agent.Is6() {
		family = 2
	}
	w.b = append(binary.BigEndian.AppendUint32(w.b, family), w.Agent.AsSlice()...)
	w.put(0, w.sequence, w.uptime, 0) // sub-agent; the last is the number of samples
}

func (w *Writer) put(words ...uint32) {
	for _, v := range words {
		w.b = binary.BigEndian.AppendUint32(w.b, v)
	}
}

func (w *Writer) put64(v uint64) { w.b = binary.BigEndian.AppendUint64(w.b, v) }

// room sends what there is if a sample of so many bytes does not fit behind it.
func (w *Writer) room(n int) {
	if w.samples > 0 && len(w.b)+n > MaxLen {
		w.End()
		w.head()
	}
	w.samples++
}

// Flow adds a sampled frame.
func (w *Writer) Flow(f *Flow) {
	padded := (len(f.Head) + 3) &^ 3
	record := 16 + padded
	w.room(8 + 32 + 8 + record)
	w.put(flowSample, uint32(32+8+record), next(w.flows, f.Port, f.Pool), f.Port)
	w.put(f.Every, uint32(f.Pool), f.Drops, f.Port, 0, 1)
	w.put(rawHeader, uint32(record), ethernet, uint32(f.Length+fcs), fcs, uint32(len(f.Head)))
	w.b = append(w.b, f.Head...)
	w.b = append(w.b, make([]byte, padded-len(f.Head))...)
}

// Counters adds the counters of a port.
func (w *Writer) Counters(c *Counters) {
	const record = 88
	w.room(8 + 12 + 8 + record)
	status := uint32(0)
	if c.Admin {
		status |= 1
	}
	if c.Up {
		status |= 2
	}
	const unknown = 1<<32 - 1 // photon does not tell these apart
	w.put(counters, 12+8+record, next(w.counted, c.Port, c.InBytes, c.OutBytes), c.Port, 1)
	w.put(generic, record, c.Port, ethernetType)
	w.put64(c.Speed)
	w.put(fullDuplex, status)
	w.put64(c.InBytes)
	w.put(c.In, unknown, unknown, c.InDiscards, c.InErrors, unknown)
	w.put64(c.OutBytes)
	w.put(c.Out, unknown, unknown, c.OutDrops, c.OutEr, 1) // promiscuous
}

// End sends the datagram, if there is anything in it, and reports whether.
func (w *Writer) End() bool {
	if w.samples == 0 {
		return false
	}
	binary.BigEndian.PutUint32(w.b[len(w.Agent.AsSlice())+20:], uint32(w.samples))
	w.sequence++
	w.Send(w.b)
	w.samples = 0
	return true
}
