//go:build dpdk

package main

import (
	"encoding/binary"
	"fmt"

	"photon/dataplane"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// peers is a switch together with what is behind its ports: hosts, host h
// behind port h modulo the number of ports, which give each frame addresses that
// belong to the port where it arrives and take off the mark of its last way.
type peers struct {
	*dataplane.Switch
	env    *dataplane.Env
	ports  int
	outs   [maxPorts][maxPorts + 32]byte // ports for which the frames of each port are, in turn
	turn   [maxPorts]int                 // whose turn it is there, of all but the port itself
	seeds  [][]dataplane.Frame
	seeded []uint64              // frames that peers sent by way of the port
	sums   [flows]uint16         // checksums of the flows' IP headers without mark
	base   []dataplane.PortStats // before the start
}

// teach lets the switch learn where the hosts are.
func (p *peers) teach() error {
	for h := range hosts {
		f, ok := p.env.Alloc(60)
		if !ok {
			return fmt.Errorf("no frame buffers")
		}
		b := p.env.Header(f)
		clear(b)
		wire.Broadcast.Put(b)
		hostMAC(h).Put(b[6:])
		p.Switch.Receive(0, h%p.ports, []dataplane.Frame{f})
		var burst [4]dataplane.Frame
		for port := range p.ports {
			for _, f := range burst[:p.Switch.Transmit(0, port, burst[:])] {
				p.env.Free(f)
			}
		}
	}
	p.base = p.Switch.Stats(0).Ports
	return nil
}

// fill makes every buffer there is a packet, and keeps some to be sent around.
func (p *peers) fill(length, keep int) {
	var all []dataplane.Frame
	for f, ok := p.env.Alloc(length); ok; f, ok = p.env.Alloc(length) {
		flow := len(all) % flows
		packet(p.env.Header(f), flow, length)
		p.sums[flow] = binary.LittleEndian.Uint16(p.env.Header(f)[24:])
		all = append(all, f)
	}
	p.seeds, p.seeded = make([][]dataplane.Frame, p.ports), make([]uint64, p.ports)
	for port := range p.ports {
		p.seeds[port], all = all[:keep], all[keep:]
		for i := range p.outs[port] {
			p.outs[port][i] = byte((port + 1 + i%(p.ports-1)) % p.ports)
		}
		if keep > 0 {
			p.env.Wake(port, 0)
		}
	}
	for _, f := range all {
		p.env.Free(f)
	}
}

// Receive is the arrival at the switch of what the port's peer sent.
func (p *peers) Receive(now units.Time, port int, burst []dataplane.Frame) {
	p.hook(port, burst)
	p.Switch.Receive(now, port, burst)
}

// hook is what the peer does to frames.
func (p *peers) hook(port int, burst []dataplane.Frame) {
	outs, others := p.outs[port][p.turn[port]:][:len(burst)], byte(hosts-1)&^byte(p.ports-1)
	pool, sums := p.env.Pool, &p.sums
	for i := range burst {
		b := pool.Start(&burst[i])
		flow := b[35]
		b[5], b[11] = flow&others|outs[i], flow&others|byte(port)
		b[15] = tos
		binary.LittleEndian.PutUint16(b[24:26], sums[flow])
	}
	p.turn[port] = (p.turn[port] + len(burst)) % (p.ports - 1)
}

// Transmit is the switch's, after what peers send around.
func (p *peers) Transmit(now units.Time, port int, burst []dataplane.Frame) int {
	if len(p.seeds[port]) > 0 {
		n := copy(burst, p.seeds[port])
		p.seeds[port] = p.seeds[port][n:]
		p.seeded[port] += uint64(n)
		p.env.Wake(port, now)
		return n
	}
	return p.Switch.Transmit(now, port, burst)
}

// Next is now as long as there is something to send around.
func (p *peers) Next(now units.Time, port int) units.Time {
	if len(p.seeds[port]) > 0 {
		return now
	}
	return p.Switch.Next(now, port)
}

// Stats are those since the start, what the peers sent around included.
func (p *peers) Stats(now units.Time) dataplane.Stats {
	st := p.Switch.Stats(now)
	for i := range st.Ports {
		for prio := range pfc.Classes {
			st.Ports[i].RxFrames[prio] -= p.base[i].RxFrames[prio]
			st.Ports[i].TxFrames[prio] -= p.base[i].TxFrames[prio]
		}
		st.Ports[i].TxControl += p.seeded[i]
	}
	return st
}

// check holds the switch to what it was to do with every frame, and tells what it did.
func (p *peers) check(now units.Time) (string, error) {
	var received, sent, marked, queued uint64
	st := p.Stats(now)
	for i := range st.Ports {
		s := &st.Ports[i]
		if d := s.Discarded(); d != [pfc.Classes]uint64{} {
			return "", fmt.Errorf("port %d discards %v", i, d)
		}
		if s.RxFrames[3] == 0 || s.TxFrames[3] == 0 || s.Ingress.Peak[3] == 0 || s.Ingress.Pauses[3] > 0 {
			return "", fmt.Errorf("port %d: %d frames received, %d sent, %v at most buffered, %d XOFF", i, s.RxFrames[3], s.TxFrames[3], s.Ingress.Peak[3], s.Ingress.Pauses[3])
		}
		for prio := range pfc.Classes {
			received += s.RxFrames[prio]
			sent += s.TxFrames[prio]
			marked += s.Marked[prio]
			queued += s.QueueFrames[prio]
		}
	}
	if received != sent+queued { // a flooded frame would be sent more than once
		return "", fmt.Errorf("%d frames received, %d sent, %d queued", received, sent, queued)
	}
	return fmt.Sprintf("%d frames of %d flows and %d hosts, all forwarded to the port of their address, %.0f%% marked; audit passed", received, flows, hosts, 100*float64(marked)/float64(sent)), nil
}
