package hpccfiles

import (
	"bufio"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"photon/config"
	"photon/lab/topology"
	"photon/units"
)

// Finished is a line of fct.txt.
type Finished struct {
	From, To         int // hosts
	SrcPort, DstPort int
	Size             units.Size
	Start, FCT       int64 // ns
	Standalone       int64 // ns

	Trace *Traced // of a trace's flows: three more columns
}

// Traced is what a flow of a trace has in addition: its id there, when its receiver had all of it and when its sender
// knew, so that it can be seen who waited for whom.
type Traced struct {
	ID           int
	Arrived, End int64 // ns
}

// firstPort is the source port of the first flow between two hosts.
const firstPort = 10_000

// address is the IPv4 address that stands for a host in fct.txt.
func address(id int) uint32 { return 11<<24 | uint32(id/256)<<16 | uint32(id%256)<<8 | 1 }

// write writes a line of fct.txt.
func (f *Finished) write(w io.Writer) {
	fmt.Fprintf(w, "%08x %08x %d %d %d %d %d %d", address(f.From), address(f.To), f.SrcPort, f.DstPort, int64(f.Size), f.Start, f.FCT, f.Standalone)
	if t := f.Trace; t != nil {
		fmt.Fprintf(w, " %d %d %d", t.ID, t.Arrived, t.End)
	}
	fmt.Fprintln(w)
}

// Slowdown is how many times longer than alone in the network, at least once:
// what that simulator calls standalone is a little more than the least.
func (f *Finished) Slowdown() float64 { return max(1, float64(f.FCT)/float64(f.Standalone)) }

// ReadFCT reads an fct.txt.
func ReadFCT(file string, b []byte) (list []Finished, err error) {
	for i, l := range strings.Split(config.Text(b), "\n") {
		if strings.TrimSpace(l) == "" {
			continue
		}
		var f Finished
		var src, dst uint32
		n, err := fmt.Sscanf(l, "%x %x %d %d %d %d %d %d", &src, &dst, &f.SrcPort, &f.DstPort, (*int64)(&f.Size), &f.Start, &f.FCT, &f.Standalone)
		fields := strings.Fields(l)
		wrong := f.Size < 1 || f.Start < 0 || f.FCT <= 0 || f.Standalone <= 0
		if err != nil || n != 8 || len(fields) < 8 || wrong {
			return nil, &config.Error{File: file, Line: i + 1, Err: fmt.Errorf("not `sip dip sport dport size start_ns fct_ns standalone_ns`")}
		}
		var t Traced
		if n, _ := fmt.Sscan(strings.Join(fields[8:], " "), &t.ID, &t.Arrived, &t.End); n == 3 {
			f.Trace = &t
		}
		f.From, f.To = int(src>>8&0xFFFF), int(dst>>8&0xFFFF)
		list = append(list, f)
	}
	return list, nil
}

// Strangers is how many flows of a list are none of those that run: of other hosts, or of another size.
func Strangers(list []Finished, flows []Flow) (strangers int) {
	type flow struct {
		from, to int
		size     units.Size
	}
	ours := map[flow]int{}
	for _, f := range flows {
		ours[flow{f.From, f.To, f.Size}]++
	}
	for i := range list {
		of := flow{list[i].From, list[i].To, list[i].Size}
		if ours[of]--; ours[of] < 0 {
			strangers++
		}
	}
	return strangers
}

// standalone works out what flows take alone, as that simulator does: with 48
// bytes of headers on every packet, and a round-trip time that counts a full
// payload on every link.
type standalone struct {
	t       *Topology
	payload int64
	next    [][]hop
	ways    map[int][]way // by receiver
}

func newStandalone(t *Topology, payload int64) *standalone {
	return &standalone{t: t, payload: payload, next: t.adjacent(), ways: map[int][]way{}}
}

func (s *standalone) way(from, to int) way {
	ways, ok := s.ways[to]
	if !ok {
		ways = s.t.waysTo(to, s.next, s.payload)
		s.ways[to] = ways
	}
	return ways[from]
}

// packets is how many packets a flow has.
func (s *standalone) packets(size units.Size) int64 { return int64(size-1)/s.payload + 1 }

func (s *standalone) time(from, to int, size units.Size) int64 {
	w := s.way(from, to)
	hi, lo := bits.Mul64(uint64(int64(size)+s.packets(size)*48), 8e9)
	ns, _ := bits.Div64(hi, lo, uint64(w.rate)) // sizes are below 2^41 bytes, rates not below 1 kbit/s
	return w.rtt() + int64(ns)
}

// pauses writes pfc.txt.
type pauses struct {
	w    *bufio.Writer
	plan *topology.Plan
}

// add writes a line; interfaces count from 1.
func (p *pauses) add(now units.Time, node, port int, paused bool) {
	kind, what := 0, 0
	if p.plan.Nodes[node].Host {
		node, port = p.plan.HostOf(node)
	} else {
		kind = 1
	}
	if paused {
		what = 1
	}
	line := p.w.AvailableBuffer() // there may be a line for every few packets
	for _, v := range [...]int64{int64(now / units.Nanosecond), int64(node), int64(kind), int64(port + 1)} {
		line = append(strconv.AppendInt(line, v, 10), ' ')
	}
	_, _ = p.w.Write(append(strconv.AppendInt(line, int64(what), 10), '\n')) // Flush says if it failed
}
