package main

import (
	"photon/dataplane"
	"photon/units"
	"os"
)

type ioNode struct {
	*peers
	buf [4][]dataplane.Frame
}

func (p *ioNode) Receive(now units.Time, port int, burst []dataplane.Frame) {
	if os.Getenv("IO") == "hook" {
		p.peers.hook(port, burst)
	}
	q := port ^ 1
	p.buf[q] = append(p.buf[q], burst...)
	p.env.Wake(q, now)
}
func (p *ioNode) Transmit(now units.Time, port int, burst []dataplane.Frame) int {
	n := copy(burst, p.buf[port])
	m := copy(p.buf[port], p.buf[port][n:])
	p.buf[port] = p.buf[port][:m]
	return n
}
func (p *ioNode) Next(now units.Time, port int) units.Time {
	if len(p.buf[port]) > 0 {
		return now
	}
	return units.Never
}
