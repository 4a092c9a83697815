package top

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// appearance is how a part of a line is drawn.
type appearance int

const (
	plain  appearance = iota
	title             // of a column
	sorted            // the title of the column that the lines go by
	good
	warn // what slows flows down
	bad  // what loses frames, or is about to
)

// paint gives a text a look; a view that is printed once has none.
type paint func(appearance, string) string

func unpainted(_ appearance, s string) string { return s }

// layout is how much room there is.
type layout struct {
	width int
	order *sorting
	paint paint
}

// The narrowest view: a terminal of 80 columns. What is more goes to the names
// of ports and to the bars.
const (
	minWidth  = 80
	nameWidth = 11
	barWidth  = 12
)

// names and bars are how wide those columns are.
func (l *layout) names() int { return nameWidth + min(9, max(0, l.width-minWidth)/2) }
func (l *layout) bars() int  { return barWidth + max(0, l.width-minWidth-(l.names()-nameWidth)) }

func (l *layout) head(titles ...string) string {
	var b strings.Builder
	for _, t := range titles {
		how := title
		if l.order != nil && strings.ToLower(strings.TrimSpace(t)) == l.order.title {
			how = sorted
		}
		b.WriteString(l.paint(how, t))
	}
	return b.String()
}

// rowsHead is the line above the rows.
func (l *layout) rowsHead() string {
	return l.head(left("PORT", l.names()), " PR", right("RX", 7), right("TX", 8), "  ", left("QUEUE", l.bars()+9), left(" PAUSED", 13), right("MARKS", 8), right("DROPS", 7))
}

// row is one line: a port and priority.
func (l *layout) row(r *Row) string {
	var b strings.Builder
	name, rx := plain, si(r.Rx)
	if !r.LinkUp {
		name, rx = bad, "down"
	}
	lossless := " "
	if r.Lossless {
		lossless = "*"
	}
	b.WriteString(l.paint(name, left(r.Port, l.names())))
	fmt.Fprintf(&b, " %d%s%s%s  ", r.Priority, lossless, right(rx, 7), right(si(r.Tx), 8))
	b.WriteString(l.bar(r))
	b.WriteString(l.pause(" rx", r.RxPaused, r.RxPausedNow))
	b.WriteString(l.pause("tx", r.TxPaused, r.TxPausedNow))
	b.WriteString(l.count(r.Marks, 8, warn))
	b.WriteString(l.count(r.Discards, 7, bad))
	return b.String()
}

// bar is the queue against what it may hold: from yellow on it slows flows
// down, red is headroom.
func (l *layout) bar(r *Row) string {
	width := l.bars()
	if r.Full == 0 {
		return strings.Repeat(" ", width+9)
	}
	inner := width - 2
	part := min(1, float64(r.Queue)/float64(r.Full))
	n := int(math.Round(part * float64(inner)))
	if r.Queue > 0 {
		n = max(n, 1)
	}
	how := good
	switch {
	case r.Headroom > 0 || !r.Lossless && part > 0.95:
		how = bad
	case part > 0.5 || r.TxPausedNow:
		how = warn
	}
	return "[" + l.paint(how, strings.Repeat("|", n)) + strings.Repeat(" ", inner-n) + "]" + right(si(float64(r.Queue))+"B", 8) + " "
}

// pause is the part of the time, and a mark if the pause lasts.
func (l *layout) pause(what string, part float64, lasts bool) string {
	if part == 0 && !lasts {
		return right("", len(what)+4)
	}
	how, mark := warn, " "
	if lasts {
		how, mark = bad, "!"
	}
	return l.paint(how, fmt.Sprintf("%s%3.0f", what, math.Min(100, 100*part))) + l.paint(how, mark)
}

func (l *layout) count(v float64, width int, how appearance) string {
	if v == 0 {
		return right("0", width)
	}
	return l.paint(how, right(si(v), width))
}

func (l *layout) flowsHead() string {
	return l.head(left("PEER", l.names()+20), right("QP", 9), right("ALLOWED", 10), right("TX", 10), right("CNPS", 10), right("SENT", 10))
}

func (l *layout) flow(f *Flow) string {
	tx, cnps := "-", "-"
	if f.known {
		tx, cnps = si(f.Tx), si(f.CNPs)
	}
	return left(f.Peer, l.names()+20) + right(fmt.Sprint(f.QP), 9) + right(si(float64(f.Allowed)), 10) + right(tx, 10) + right(cnps, 10) + right(si(float64(f.Bytes))+"B", 10)
}

// rowsAndFlows are the lines of ports, of all or of those that do something, and of an agent's flows.
func (l *layout) rowsAndFlows(v *View, all bool) (lines []string) {
	for _, r := range v.shown(all) {
		lines = append(lines, l.row(&r))
	}
	if !v.Host {
		return lines
	}
	lines = append(lines, "", l.flowsHead())
	for i := range v.Flows {
		lines = append(lines, l.flow(&v.Flows[i]))
	}
	return lines
}

// status is the first line.
func (l *layout) status(v *View) string {
	kind := "switch"
	if v.Host {
		kind = "agent"
	}
	up := time.Duration(v.Up) * time.Second
	return cut(fmt.Sprintf("%s  %s, scheme %s, up %v, longest poll gap %s", v.Node, kind, v.Scheme, up, seconds(v.Poll.Longest)), l.width-12)
}

// totals is the second.
func (l *layout) totals(v *View) string {
	var rx, tx, marks, drops float64
	for i := range v.Rows {
		r := &v.Rows[i]
		rx, tx, marks, drops = rx+r.Rx, tx+r.Tx, marks+r.Marks, drops+r.Discards
	}
	s := fmt.Sprintf("rx %sbps tx %sbps", si(rx), si(tx))
	if v.Host {
		s += fmt.Sprintf("  flows %d", v.Active)
	} else {
		s += fmt.Sprintf("  marks %s/s", si(marks))
	}
	return cut(s+fmt.Sprintf("  drops %s/s  %s", si(drops), v.Poll.text()), l.width)
}

func (p *Poll) text() string {
	return fmt.Sprintf("poll gap p99 %s max %s", seconds(p.P99), seconds(p.Worst))
}

// seconds is a time with its unit, three digits, or whole seconds.
func seconds(s float64) string {
	// What would be rounded up to 1000 of one unit is 1 of the next.
	const most = 999.5
	switch {
	case s <= 0:
		return "0"
	case s*1e9 < most:
		return fmt.Sprintf("%.0fns", s*1e9)
	case s*1e6 < most:
		return fmt.Sprintf("%.3gus", s*1e6)
	case s*1e3 < most:
		return fmt.Sprintf("%.3gms", s*1e3)
	case s < most:
		return fmt.Sprintf("%.3gs", s)
	}
	return fmt.Sprintf("%.0fs", s)
}

// si is a number with three digits and the prefix of its size, at most five characters.
func si(v float64) string {
	for _, p := range []struct {
		size float64
		sign string
	}{{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		// What would be rounded up to 1000 of one prefix is 1 of the next.
		if v >= p.size*0.9995 {
			return digits(v/p.size) + p.sign
		}
	}
	return digits(v)
}

func digits(v float64) string {
	switch {
	case v == 0 || v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func left(s string, width int) string {
	s = clip(s, width)
	return s + strings.Repeat(" ", width-utf8.RuneCountInString(s))
}

func right(s string, width int) string {
	s = clip(s, width)
	return strings.Repeat(" ", width-utf8.RuneCountInString(s)) + s
}

// cut ends a line where the screen does.
func cut(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:width])
	}
	return s
}

// clip cuts what does not fit; the end is what tells interfaces apart.
func clip(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return "~" + string(r[len(r)-width+1:])
	}
	return s
}
