package hpccfiles

import (
	"fmt"
	"io"
	"slices"

	"photon/units"
)

const (
	queueSpan = 100 * units.Nanosecond // between two samples of the queues
	dumpSpan  = 100 * units.Millisecond
)

// queues is qlen.txt: for every port of every switch, in how many samples so many kilobytes waited. That simulator
// samples every 100 ns. Here ports report each change of what waits, and all samples since the change before saw the
// length until then. A sample comes before the events of its instant.
type queues struct {
	first, last int64          // samples, counted in spans from the start
	ports       [][]*portQueue // of switches, by node and port
}

type portQueue struct {
	kb      int      // that wait
	sampled int64    // counted, up to this one
	counts  []uint32 // by kilobyte
	dumped  [][]uint32
}

func newQueues(t *Topology, from, to units.Time) *queues {
	q := &queues{first: max(1, int64((from+queueSpan-1)/queueSpan)), last: int64(to / queueSpan), ports: make([][]*portQueue, len(t.Switch))}
	for node, links := range t.adjacent() {
		for range links {
			if t.Switch[node] {
				q.ports[node] = append(q.ports[node], &portQueue{sampled: q.first - 1})
			}
		}
	}
	return q
}

// any reports whether there is a sample.
func (q *queues) any() bool { return q.first <= q.last }

// add counts what waited at a port until now.
func (q *queues) add(now units.Time, node, port int, bytes units.Size) {
	p := q.ports[node][port]
	p.until(min(q.last, int64(now/queueSpan)))
	p.kb = int(bytes / units.KB)
}

// until counts the samples up to one, and keeps the counts at the instants of dumps.
func (p *portQueue) until(sample int64) {
	const each = int64(dumpSpan / queueSpan)
	for p.sampled < sample {
		end := min(sample, (p.sampled/each+1)*each)
		for len(p.counts) <= p.kb {
			p.counts = append(p.counts, 0)
		}
		p.counts[p.kb] += uint32(end - p.sampled)
		if p.sampled = end; end%each == 0 {
			p.dumped = append(p.dumped, slices.Clone(p.counts))
		}
	}
}

// write writes the counts since the beginning, every 100 ms and at the end.
func (q *queues) write(w io.Writer) {
	if !q.any() {
		return
	}
	const each = int64(dumpSpan / queueSpan)
	for n, look := 0, q.first-1; look < q.last; n++ {
		look = min(q.last, (look/each+1)*each)
		fmt.Fprintf(w, "time: %d\n", units.Time(look)*queueSpan/units.Nanosecond)
		for node, ports := range q.ports {
			for i, p := range ports {
				p.until(q.last)
				counts := p.counts
				if n < len(p.dumped) {
					counts = p.dumped[n]
				}
				fmt.Fprintf(w, "%d %d", node, i+1)
				for _, times := range counts {
					fmt.Fprintf(w, " %d", times)
				}
				fmt.Fprintln(w)
			}
		}
	}
}
