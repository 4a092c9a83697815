package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/lab/web"
	"photon/units"
)

// The wiring of a network is drawn so narrow that a telephone shows all of it. Small networks have a box for every
// switch, with its hosts below; of large ones there is a row for each layer, with a point for each node as long as
// there is room, and lines that stand for all cables between two layers.
const (
	drawingWidth = 360
	rowPitch     = 66
	boxHeight    = 24
	letterWidth  = 6.8 // the width of one, at most
	dotPitch     = 11
	mostBoxes    = 8   // switches of a layer that have boxes
	mostDots     = 176 // nodes of a layer that have points
	mostWires    = 128 // between two layers that are drawn one by one
	mostFacts    = 6   // kinds of links, and of flows
)

// wiringOf draws an experiment's network.
func wiringOf(e *experiment.Experiment) (*web.Wiring, error) {
	p, err := e.Plan()
	if err != nil {
		return nil, err
	}
	d := drawer{plan: p, Wiring: &web.Wiring{Width: drawingWidth}, at: map[int]place{}}
	d.sort()
	if !d.boxes() {
		d.layered()
	}
	d.Label = "The network: " + size(p)
	d.Facts = []string{size(p)}
	if v := e.Variants(); len(v) > 1 {
		last := v[len(v)-1]
		q, err := last.Experiment.Plan()
		if err != nil {
			return nil, err
		}
		if size(q) != size(p) {
			d.Facts = []string{fmt.Sprintf("with %s = %s, as drawn: %s", e.Sweep.Name, v[0].Value, size(p)), fmt.Sprintf("with %s = %s: %s", e.Sweep.Name, last.Value, size(q))}
		}
	}
	d.Facts = append(d.Facts, links(p)...)
	d.Facts = append(d.Facts, senders(e)...)
	return d.Wiring, nil
}

// size is how many nodes and links a network has.
func size(p *topology.Plan) string {
	switches := len(p.Nodes) - len(p.Endpoints())
	return fmt.Sprintf("%s, %s and %s", many(len(p.Hosts()), "host", "hosts"), many(switches, "switch", "switches"), many(len(p.Cables), "link", "links"))
}

func many(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// drawer draws a plan.
type drawer struct {
	*web.Wiring
	plan  *topology.Plan
	rows  [][]int       // switches by layer, from the top
	below map[int][]int // hosts by the switch that they are on
	loose []int         // hosts that are on none
	at    map[int]place // what has a place of its own
}

type place struct{ x, y int }

// ranks are layers from the top; others are with tor.
var ranks = map[string]int{"spine": 0, "core": 0, "leaf": 1, "agg": 1}

// sort finds the layers, and which hosts are on which switch.
func (d *drawer) sort() {
	d.below = map[int][]int{}
	layers := make([][]int, 3)
	for i := range d.plan.Nodes {
		n := &d.plan.Nodes[i]
		switch rank, high := ranks[n.Layer]; {
		case n.Host && len(n.Ends) > 0 && !d.plan.Nodes[n.Ends[0].Node].Host:
			d.below[n.Ends[0].Node] = append(d.below[n.Ends[0].Node], i)
		case n.Host:
			d.loose = append(d.loose, i)
		case high:
			layers[rank] = append(layers[rank], i)
		default:
			layers[2] = append(layers[2], i)
		}
	}
	d.rows = slices.DeleteFunc(layers, func(l []int) bool { return len(l) == 0 })
}

// boxes draws every switch as a box, if the network is small, and reports whether it is.
func (d *drawer) boxes() bool {
	if len(d.loose) > 0 || len(d.rows) == 0 {
		return false
	}
	last := d.rows[len(d.rows)-1]
	for _, row := range d.rows {
		for _, s := range row {
			if len(row) > mostBoxes || len(d.below[s]) > mostDots/len(last) || len(d.below[s]) > 0 && !slices.Contains(last, s) {
				return false
			}
		}
	}
	y := 16 + boxHeight/2
	for _, row := range d.rows {
		if d.bowed(row) {
			y += 34
		}
		d.row(row, y)
		y += rowPitch
	}
	d.wire()
	lowest := y - rowPitch + boxHeight/2
	for _, s := range last {
		lowest = max(lowest, d.hosts(s, y, drawingWidth/len(last)))
	}
	d.Height = lowest + 8
	return true
}

// bowed reports whether there is a cable between switches of a row that are not neighbours.
func (d *drawer) bowed(row []int) bool {
	return slices.ContainsFunc(d.plan.Cables, func(c topology.Cable) bool {
		a, b := slices.Index(row, c.A), slices.Index(row, c.B)
		return a >= 0 && b >= 0 && max(a-b, b-a) > 1
	})
}

// row puts boxes side by side.
func (d *drawer) row(row []int, y int) {
	pitch := drawingWidth / len(row)
	for i, s := range row {
		name := d.plan.Nodes[s].Name
		d.at[s] = place{pitch*i + pitch/2, y}
		spot := web.Spot{Kind: "switch", X: d.at[s].x, Y: y, W: min(48, pitch-6), H: boxHeight, Name: name, Nodes: 1}
		if width(name) < spot.W {
			spot.Text = name
		}
		d.Spots = append(d.Spots, spot)
	}
}

// wire draws the cables between what has a place; those between the same two as one, the thicker the more they are.
func (d *drawer) wire() {
	pairs := map[[2]int]int{}
	var order [][2]int
	for _, c := range d.plan.Cables {
		_, a := d.at[c.A]
		_, b := d.at[c.B]
		key := [2]int{min(c.A, c.B), max(c.A, c.B)}
		if !a || !b {
			continue
		}
		if pairs[key]++; pairs[key] == 1 {
			order = append(order, key)
		}
	}
	for _, key := range order {
		a, b := d.at[key[0]], d.at[key[1]]
		w := web.Wire{X1: a.x, Y1: a.y, X2: b.x, Y2: b.y, Thick: min(4, pairs[key])}
		for _, row := range d.rows {
			if i, j := slices.Index(row, key[0]), slices.Index(row, key[1]); i >= 0 && j >= 0 && max(i-j, j-i) > 1 {
				w.Bow = -50 - 2*max(i-j, j-i)
				w.Y1, w.Y2 = w.Y1-boxHeight/2, w.Y2-boxHeight/2
			}
		}
		d.Wires = append(d.Wires, w)
	}
}

// hosts draws those of a switch below it: few with their names, many as points with one line. It returns where they end.
func (d *drawer) hosts(s, y, room int) int {
	hosts, at := d.below[s], d.at[s]
	if len(hosts) == 0 {
		return 0
	}
	names := d.names(hosts)
	longest := 0
	for _, name := range names {
		longest = max(longest, width(name))
	}
	wide := max(32, longest+6)
	if per := (room - 4) / (wide + 4); per*2 >= len(hosts) && per > 0 {
		lines := (len(hosts) + per - 1) / per
		per = (len(hosts) + lines - 1) / lines
		for i := range hosts {
			inRow := min(per, len(hosts)-i/per*per)
			x := at.x - (inRow-1)*(wide+4)/2 + i%per*(wide+4)
			hy := y + i/per*(boxHeight+8)
			d.Wires = append(d.Wires, web.Wire{X1: at.x, Y1: at.y, X2: x, Y2: hy, Thick: 1})
			d.Spots = append(d.Spots, web.Spot{Kind: "host", X: x, Y: hy, W: wide, H: boxHeight - 2, Text: names[i], Name: names[i], Nodes: 1})
		}
		return y + (lines-1)*(boxHeight+8) + boxHeight/2
	}
	bottom := d.dots(hosts, "dot", at.x, y-10, room-8)
	d.Wires = append(d.Wires, web.Wire{X1: at.x, Y1: at.y, X2: at.x, Y2: y - 14, Thick: 3})
	for _, line := range labels(names, room-4) {
		bottom += 15
		d.Texts = append(d.Texts, web.Text{X: at.x, Y: bottom, Text: line, Anchor: "middle"})
	}
	return bottom + 2
}

// dots draws a point for each node, around x and from y on, and returns where they end.
func (d *drawer) dots(nodes []int, kind string, x, y, room int) int {
	per := max(1, room/dotPitch)
	lines := (len(nodes) + per - 1) / per
	per = (len(nodes) + lines - 1) / lines // of one length
	for i, n := range nodes {
		inRow := min(per, len(nodes)-i/per*per)
		at := place{x - (inRow-1)*dotPitch/2 + i%per*dotPitch, y + i/per*dotPitch}
		d.at[n] = at
		d.Spots = append(d.Spots, web.Spot{Kind: kind, X: at.x, Y: at.y, W: 8, H: 8, Name: d.plan.Nodes[n].Name, Nodes: 1})
	}
	return y + (len(nodes)-1)/per*dotPitch + 4
}

// layered draws points, or one box, for each layer, with its name on the left.
func (d *drawer) layered() {
	var hosts []int
	for i := range d.plan.Nodes {
		if d.plan.Nodes[i].Host {
			hosts = append(hosts, i)
		}
	}
	layers := append(slices.Clone(d.rows), hosts)
	const left, middle, room = 108, (108 + drawingWidth) / 2, drawingWidth - 108
	y := 12
	above := 0
	for k, layer := range layers {
		kind := "switch"
		if k == len(layers)-1 {
			kind = "dot"
		}
		bottom := y + boxHeight
		if len(layer) > mostDots {
			names := strings.Join(labels(d.names(layer), 1<<20), ", ")
			d.Spots = append(d.Spots, web.Spot{Kind: "many", X: middle, Y: y + boxHeight/2, W: room, H: boxHeight, Text: fmt.Sprintf("× %d", len(layer)), Name: names, Nodes: len(layer)})
		} else {
			bottom = d.dots(layer, kind, middle, y+4, room-8)
		}
		lines := append([]string{d.called(layer)}, labels(d.names(layer), left-8)...)
		for i, line := range lines {
			d.Texts = append(d.Texts, web.Text{X: 2, Y: y + 10 + 15*i, Text: line, Anchor: "start"})
		}
		if k > 0 {
			d.between(layers[k-1], layer, above, y, left, room)
		}
		above = bottom
		y = max(bottom+38, y+15*len(lines)+12)
	}
	last := d.Texts[len(d.Texts)-1]
	d.Height = max(above, last.Y) + 8
}

func (d *drawer) names(nodes []int) (names []string) {
	for _, n := range nodes {
		names = append(names, d.plan.Nodes[n].Name)
	}
	return names
}

// called says how many nodes a layer has, and what they are.
func (d *drawer) called(layer []int) string {
	n, k := &d.plan.Nodes[layer[0]], len(layer)
	switch {
	case n.Host && d.plan.Several():
		return many(k, "NIC", "NICs")
	case n.Host:
		return many(k, "host", "hosts")
	case n.Layer == "tor":
		return many(k, "ToR", "ToRs")
	case n.Layer == "leaf", n.Layer == "spine":
		return many(k, n.Layer, n.Layer+"s")
	}
	return many(k, "switch", "switches")
}

// between draws the cables of two layers: all of them if they are few enough, else some that stand for all.
func (d *drawer) between(upper, lower []int, from, to, left, room int) {
	in := map[int]bool{}
	for _, n := range lower {
		in[n] = true
	}
	var all [][2]int
	for _, u := range upper {
		for _, e := range d.plan.Nodes[u].Ends {
			if in[e.Node] {
				all = append(all, [2]int{u, e.Node})
			}
		}
	}
	step := (len(all) + mostWires - 1) / mostWires
	for i := 0; i < len(all); i += step {
		var x [2]int
		for k, n := range all[i] {
			if at, ok := d.at[n]; ok {
				x[k] = at.x
				continue
			}
			x[k] = left + room*(2*i+1)/(2*len(all)) // somewhere on the box
		}
		d.Wires = append(d.Wires, web.Wire{X1: x[0], Y1: from, X2: x[1], Y2: to, Thick: 1})
	}
}

func width(text string) int { return int(float64(len([]rune(text))) * letterWidth) }

// labels are the names of nodes in few words, ranges of numbers together, in lines that have the room; else how many.
func labels(names []string, room int) (lines []string) {
	var parts []string
	for i := 0; i < len(names); {
		prefix, n, ok := numbered(names[i])
		k := i + 1
		for ; k < len(names) && ok; k++ {
			if p, m, numeric := numbered(names[k]); !numeric || p != prefix || m != n+k-i {
				break
			}
		}
		part := names[i]
		if k > i+1 {
			part += "–" + names[k-1]
		}
		parts = append(parts, part)
		i = k
	}
	for _, part := range parts {
		if last := len(lines) - 1; last >= 0 && width(lines[last]+", "+part) <= room {
			lines[last] += ", " + part
			continue
		}
		lines = append(lines, part)
	}
	if len(lines) > 3 || slices.ContainsFunc(lines, func(l string) bool { return width(l) > room }) {
		return []string{fmt.Sprintf("%d in all", len(names))}
	}
	return lines
}

// numbered divides a name into what is before its number, and that.
func numbered(name string) (prefix string, n int, ok bool) {
	prefix = strings.TrimRight(name, "0123456789")
	n, err := strconv.Atoi(name[len(prefix):])
	return prefix, n, err == nil
}

// links says how many cables there are of each kind.
func links(p *topology.Plan) (facts []string) {
	type kind struct {
		host  bool
		rate  units.Rate
		delay units.Time
	}
	count := map[kind]int{}
	var order []kind
	for _, c := range p.Cables {
		k := kind{p.Nodes[c.A].Host || p.Nodes[c.B].Host, c.Link.Rate, c.Link.Delay}
		if count[k]++; count[k] == 1 {
			order = append(order, k)
		}
	}
	for i, k := range order {
		if i == mostFacts {
			return append(facts, fmt.Sprintf("and %d more kinds of links", len(order)-i))
		}
		what := "between switches"
		if k.host {
			what = "of hosts"
		}
		rate, delay := float64(k.rate), k.delay.Seconds()
		facts = append(facts, fmt.Sprintf("%s %s: %s, %s", many(count[k], "link", "links"), what, experiment.Number(&rate, "bit/s"), experiment.Number(&delay, "s")))
	}
	return facts
}

// senders says who sends to whom.
func senders(e *experiment.Experiment) (facts []string) {
	add := func(name, from, to string, n int) {
		if name != "" {
			name += ": "
		}
		fact := name + whose(from) + " → " + whose(to)
		if n > 1 {
			fact += fmt.Sprintf(", %d flows each", n)
		}
		facts = append(facts, fact)
	}
	for i := range e.Flows {
		f := &e.Flows[i]
		add(f.Name.V, f.From.V, f.To.V, f.Count.V)
	}
	for i := range e.Workloads {
		w := &e.Workloads[i]
		add(w.Name.V, w.From.V, w.To.V, 1)
	}
	if len(facts) > mostFacts {
		facts = append(facts[:mostFacts-1], fmt.Sprintf("and %d more groups of flows", len(facts)-mostFacts+1))
	}
	return facts
}

// whose is a list of hosts as a reader writes it.
func whose(hosts string) string {
	if hosts == "*" {
		return "all hosts"
	}
	parts := strings.Split(hosts, ",")
	for i, part := range parts {
		from, to, _ := strings.Cut(strings.TrimSpace(part), "..")
		if parts[i] = from; to != "" && to != from {
			parts[i] += "–" + to
		}
	}
	return strings.Join(parts, ", ")
}
