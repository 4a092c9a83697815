package top

import (
	"cmp"
	"slices"

	"photon/telemetry"
	"photon/telemetry/live"
	"photon/wire"
)

// View is what happened between two looks at a node.
type View struct {
	Node   string  `json:"node"`
	Host   bool    `json:"host"` // an agent; else a switch
	Scheme string  `json:"scheme"`
	Up     float64 `json:"up_seconds"`   // of the node's clock
	Span   float64 `json:"span_seconds"` // between the looks; what is per second is of this time
	Rows   []Row   `json:"queues"`
	Flows  []Flow  `json:"flows,omitempty"` // agents only: those that are allowed most
	Active int     `json:"flows_active"`
	Poll   Poll    `json:"poll"`
}

// Row is one priority of one port.
type Row struct {
	Port        string  `json:"port"`
	Priority    int     `json:"priority"`
	LinkUp      bool    `json:"link_up"`
	Rx          float64 `json:"rx_bps"`
	Tx          float64 `json:"tx_bps"`
	Queue       int64   `json:"queue_bytes"` // egress
	Full        int64   `json:"full_bytes"`  // XOFF where the priority is lossless, else where the queue drops; 0: no queue
	Headroom    int64   `json:"headroom_bytes"`
	RxPaused    float64 `json:"rx_paused"` // part of the time for which the peer stopped this port, 0 to 1
	TxPaused    float64 `json:"tx_paused"` // part of the time for which this port stopped its peer
	RxPausedNow bool    `json:"rx_paused_now"`
	TxPausedNow bool    `json:"tx_paused_now"`
	Marks       float64 `json:"ecn_marked_per_second"`
	Discards    float64 `json:"discards_per_second"`
	Lossless    bool    `json:"lossless"`
	place       int
	used        bool // it ever carried or lost anything
}

// Flow is a flow that an agent sends.
type Flow struct {
	Peer    string  `json:"peer"`
	QP      uint32  `json:"qp"`
	Allowed int64   `json:"allowed_bps"`
	Tx      float64 `json:"tx_bps"`
	CNPs    float64 `json:"cnp_per_second"`
	Bytes   uint64  `json:"tx_bytes"` // since it began
	known   bool    // there was an earlier look at it
}

// Poll is how regularly the workers polled.
type Poll struct {
	Rounds  float64 `json:"rounds_per_second"`
	Longest float64 `json:"longest_gap_seconds"` // since the start
	P99     float64 `json:"p99_gap_seconds"`     // no more than a hundredth of the gaps is at least this, to a power of two; 0: there were none
	Worst   float64 `json:"max_gap_seconds"`     // no gap was longer, to a power of two
}

// gaps works out what the histograms of two looks say of the time between them.
func (p *Poll) gaps(before, after *live.Poll) {
	if len(before.Gaps) != len(after.Gaps) || len(after.Gaps) != len(after.Bounds)+1 {
		return
	}
	counts, total := make([]uint64, len(after.Gaps)), uint64(0)
	for i := range counts {
		counts[i] = after.Gaps[i] - min(before.Gaps[i], after.Gaps[i])
		total += counts[i]
	}
	bound := func(i int) float64 {
		if i < len(after.Bounds) {
			return min(after.Bounds[i], after.Longest)
		}
		return after.Longest
	}
	below := uint64(0)
	for i, n := range counts {
		if n == 0 {
			continue
		}
		p.Worst = bound(i)
		if below+n > 0 && below*100 < total*99 {
			p.P99 = p.Worst
		}
		below += n
	}
}

// Compare returns what happened between two looks. If the node was restarted
// between them, or has other ports, it returns nothing.
func Compare(before, after *live.Node) *View {
	if before.Began != after.Began || before.Now > after.Now || !slices.EqualFunc(before.Ports, after.Ports, func(a, b live.Port) bool { return a.Port == b.Port }) {
		before = after
	}
	span := after.Now - before.Now
	per := func(was, is uint64) float64 {
		if span <= 0 || is < was {
			return 0
		}
		return float64(is-was) / span
	}
	v := &View{Node: after.Node, Host: after.Host, Scheme: after.Scheme, Up: after.Now, Span: span, Active: after.Active}
	v.Poll = Poll{Rounds: per(before.Poll.Rounds, after.Poll.Rounds), Longest: after.Poll.Longest}
	v.Poll.gaps(&before.Poll, &after.Poll)
	for i := range after.Ports {
		was, is := &before.Ports[i], &after.Ports[i]
		for prio := range is.Queue {
			share := func(was, is float64) float64 {
				if span <= 0 {
					return 0
				}
				return min(1, max(0, (is-was)/span))
			}
			onWire := func(bytes, packets *[8]uint64) uint64 { return bytes[prio] + wire.Overhead*packets[prio] }
			v.Rows = append(v.Rows, Row{
				Port: is.Port, Priority: prio, LinkUp: is.Up,
				Rx:    8 * per(onWire(&was.RxBytes, &was.RxPackets), onWire(&is.RxBytes, &is.RxPackets)),
				Tx:    8 * per(onWire(&was.TxBytes, &was.TxPackets), onWire(&is.TxBytes, &is.TxPackets)),
				Queue: is.Queue[prio], Full: is.Full[prio], Headroom: is.Headroom[prio],
				RxPaused: share(was.RxPaused[prio], is.RxPaused[prio]), TxPaused: share(was.TxPaused[prio], is.TxPaused[prio]),
				RxPausedNow: is.RxPausedNow>>prio&1 != 0, TxPausedNow: is.TxPausedNow>>prio&1 != 0,
				Marks: per(was.Marked[prio], is.Marked[prio]), Discards: per(was.Discards[prio], is.Discards[prio]),
				Lossless: is.Lossless>>prio&1 != 0, place: len(v.Rows),
				used: is.RxPackets[prio]|is.TxPackets[prio]|is.Discards[prio] != 0,
			})
		}
	}
	v.flows(before, after, per)
	return v
}

func (v *View) flows(before, after *live.Node, per func(was, is uint64) float64) {
	was := map[string]*telemetry.Flow{}
	for i := range before.Flows {
		was[before.Flows[i].Name()] = &before.Flows[i]
	}
	for i := range after.Flows {
		is := &after.Flows[i]
		f := Flow{Peer: is.Peer, QP: is.QP, Allowed: is.Rate, Bytes: is.Bytes}
		if is.From != "" {
			f.Peer = is.From + " > " + is.Peer
		}
		if w := was[is.Name()]; w != nil {
			f.known, f.Tx, f.CNPs = true, 8*per(w.Bytes, is.Bytes), per(w.Notified, is.Notified)
		}
		v.Flows = append(v.Flows, f)
	}
}

// sorting is what rows and flows can be sorted by: the title of a column.
type sorting struct {
	title string
	rows  func(a, b *Row) int // nil: as the switch numbers them
	flows func(a, b *Flow) int
}

func descending[T, V any](value func(*T) V, compare func(a, b V) int) func(a, b *T) int {
	return func(a, b *T) int { return compare(value(b), value(a)) }
}

var sortings = []sorting{
	{"port", nil, descending(func(f *Flow) int64 { return f.Allowed }, cmp.Compare[int64])},
	{"rx", descending(func(r *Row) float64 { return r.Rx }, cmp.Compare[float64]), descending(func(f *Flow) float64 { return f.Tx }, cmp.Compare[float64])},
	{"tx", descending(func(r *Row) float64 { return r.Tx }, cmp.Compare[float64]), descending(func(f *Flow) float64 { return f.Tx }, cmp.Compare[float64])},
	{"queue", descending(func(r *Row) int64 { return r.Queue }, cmp.Compare[int64]), descending(func(f *Flow) int64 { return f.Allowed }, cmp.Compare[int64])},
	{"paused", descending(func(r *Row) float64 { return max(r.RxPaused, r.TxPaused) }, cmp.Compare[float64]), descending(func(f *Flow) int64 { return f.Allowed }, cmp.Compare[int64])},
	{"marks", descending(func(r *Row) float64 { return r.Marks }, cmp.Compare[float64]), descending(func(f *Flow) float64 { return f.CNPs }, cmp.Compare[float64])},
	{"drops", descending(func(r *Row) float64 { return r.Discards }, cmp.Compare[float64]), descending(func(f *Flow) int64 { return f.Allowed }, cmp.Compare[int64])},
}

// SortNames are the names by which a view can be sorted.
func SortNames() (names []string) {
	for _, o := range sortings {
		names = append(names, o.title)
	}
	return names
}

// sort puts the rows and flows in an order. Those that are equal stay as the
// switch numbers them, so that idle ones do not jump.
func (v *View) sort(o *sorting, reverse bool) {
	sign := 1
	if reverse {
		sign = -1
	}
	slices.SortStableFunc(v.Rows, func(a, b Row) int {
		if o.rows == nil {
			return sign * cmp.Compare(a.place, b.place)
		}
		return cmp.Or(sign*o.rows(&a, &b), cmp.Compare(a.place, b.place))
	})
	slices.SortStableFunc(v.Flows, func(a, b Flow) int {
		return cmp.Or(sign*o.flows(&a, &b), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.QP, b.QP))
	})
}

// shown are the rows that are worth a line: lossless ones, and those that ever
// carried or lost anything; or all.
func (v *View) shown(all bool) (rows []Row) {
	for _, r := range v.Rows {
		if all || r.used || r.Lossless {
			rows = append(rows, r)
		}
	}
	return rows
}
