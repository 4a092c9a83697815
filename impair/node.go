package impair

import (
	"math/rand/v2"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Node is a node some of whose ports are impaired. It has the world deliver to it what comes.
type Node struct {
	fabric.Server
	ports   []*port // nil: nothing was ever done there
	envs    []*fabric.Env
	workers []int
	prio    func(port int, b []byte) int
}

// port is one port that is impaired. Its worker alone touches it.
type port struct {
	number  int
	env     *fabric.Env
	spec    Spec // where the rules come from
	rules   []rule
	random  *rand.Rand
	delayed []delayedFrame // not in order
	next    units.Time     // when a frame or a rule is due
	out     []fabric.Frame // scratch: what the node is to get
	count   fabric.Impaired
}

// rule is a Rule at work, whose Stop is Never if there is no end.
type rule struct {
	Rule
	matched uint64     // frames that matched
	due     units.Time // Pause: the next
	paused  bool       // Pause: an XOFF of it came
}

// delayedFrame is a frame that is held back until an instant, or until some others have passed.
type delayedFrame struct {
	frame  fabric.Frame
	until  units.Time
	behind int // 0: they count for nothing
}

// source is whom XOFFs come from that no peer sent.
const source wire.MAC = 0x0200_0000_0001

// Spec says what is done at a port. What is drawn depends on the seed and the port's number alone.
type Spec struct {
	Seed  uint64
	Rules []Rule
}

// New impairs ports of a node. envs are the node's, workers says whose each port is, which changes for ports that come,
// just before Set; prio tells a frame's priority, or -1.
func New(node fabric.Node, envs []*fabric.Env, workers []int, specs map[int]Spec, prio func(port int, b []byte) int) *Node {
	n := &Node{ports: make([]*port, len(workers)), envs: envs, workers: workers, prio: prio}
	var ok bool
	if n.Server, ok = node.(fabric.Server); !ok {
		n.Server = fabric.Asked{Node: node}
	}
	n.Set(0, 0, n.Prepare(specs))
	return n
}

var (
	_ fabric.Server = (*Node)(nil)
	_ fabric.Poller = (*Node)(nil)
)

// Poll implements fabric.Poller.
func (n *Node) Poll(now units.Time, worker int) {
	if p, ok := n.Server.(fabric.Poller); ok {
		p.Poll(now, worker)
	}
}

// Receive implements fabric.Node.
func (n *Node) Receive(now units.Time, number int, burst []fabric.Frame) {
	p := n.ports[number]
	if env := n.envs[n.workers[number]]; env.Queue == fabric.QueueIfDependent {
		env.Queue = fabric.QueueAll // what a port releases when it is served goes to others
	}
	if p == nil || len(p.rules) == 0 && len(p.delayed) == 0 {
		n.Server.Receive(now, number, burst)
		return
	}
	p.out = p.out[:0]
	for i := range burst {
		p.take(now, &burst[i], func(b []byte) int { return n.prio(number, b) })
	}
	if len(p.out) > 0 {
		n.Server.Receive(now, number, p.out)
	}
	p.wake()
}

// Transmit implements fabric.Node.
func (n *Node) Transmit(now units.Time, number int, burst []fabric.Frame) int {
	n.releaseDue(now, number)
	return n.Server.Transmit(now, number, burst)
}

// Serve implements fabric.Server.
func (n *Node) Serve(now units.Time, number int, f *fabric.Frame) (sent bool, next units.Time) {
	n.releaseDue(now, number)
	sent, next = n.Server.Serve(now, number, f)
	if p := n.ports[number]; p != nil {
		next = min(next, p.next)
	}
	return sent, next
}

// Next implements fabric.Node.
func (n *Node) Next(now units.Time, number int) units.Time {
	next := n.Server.Next(now, number)
	if p := n.ports[number]; p != nil {
		next = min(next, max(now, p.next))
	}
	return next
}

// Stats implements fabric.Node.
func (n *Node) Stats(now units.Time) fabric.Stats {
	st := n.Server.Stats(now)
	n.fill(&st)
	return st
}

// CopyStats is Stats into memory that the caller has made, for nodes that have it.
func (n *Node) CopyStats(now units.Time, st *fabric.Stats) {
	n.Server.(interface {
		CopyStats(units.Time, *fabric.Stats)
	}).CopyStats(now, st)
	n.fill(st)
}

// Priority is what the node's ports go by.
func (n *Node) Priority(port int, b []byte) int { return n.prio(port, b) }

func (n *Node) fill(st *fabric.Stats) {
	for i, p := range n.ports {
		if p != nil && i < len(st.Ports) {
			st.Ports[i].Impaired = p.count
			st.Ports[i].Impaired.DelayedNow = uint64(len(p.delayed))
		}
	}
}

// Close implements fabric.Node.
func (n *Node) Close() {
	for _, p := range n.ports {
		if p != nil {
			for _, h := range p.delayed {
				p.env.Free(h.frame)
			}
			p.delayed = nil
		}
	}
	n.Server.Close()
}

// take does to a frame what the first rule says that is about it and whose turn it is; most are let through. Every
// rule counts the frames that match it, whatever another does to them.
func (p *port) take(now units.Time, f *fabric.Frame, prio func([]byte) int) {
	var a about
	classify(p.env.Bytes(f), prio, &a)
	var chosen *rule
	for i := range p.rules {
		r := &p.rules[i]
		if r.Do == Pause || now < r.Start || now >= r.Stop || !r.matches(&a) {
			continue
		}
		if r.matched++; r.chosen(p.random) && chosen == nil {
			chosen = r
		}
	}
	if chosen != nil {
		p.do(now, chosen, f)
		return
	}
	p.pass(f)
}

// chosen reports whether it is done to this frame of those that match.
func (r *rule) chosen(random *rand.Rand) bool {
	for _, n := range r.Numbers {
		if n == r.matched {
			return true
		}
	}
	return r.Numbers == nil && (r.Part == 0 || random.Float64() < r.Part)
}

// pass lets a frame through, and those behind it that have waited for enough others.
func (p *port) pass(f *fabric.Frame) {
	p.out = append(p.out, *f)
	kept := p.delayed[:0]
	for _, h := range p.delayed {
		if h.behind > 0 {
			if h.behind--; h.behind == 0 {
				p.out = append(p.out, h.frame)
				continue
			}
		}
		kept = append(kept, h)
	}
	p.delayed = kept
}

func (p *port) do(now units.Time, r *rule, f *fabric.Frame) {
	switch r.Do {
	case Lose:
		p.count.Lost++
		p.env.Free(*f)
	case Duplicate:
		p.pass(f)
		if g, ok := p.env.Clone(*f); ok {
			p.count.Duplicated++
			p.pass(&g)
		}
	case Reorder:
		p.delay(f, delayedFrame{until: now + mostWait, behind: r.Behind}, &p.count.Reordered)
	case Delay:
		p.delay(f, delayedFrame{until: now + r.By}, &p.count.Delayed)
	case Corrupt:
		p.corrupt(f)
	case Mark:
		b := p.env.Bytes(f)
		var h wire.Header
		if wire.Parse(b, &h) && h.L3 > 0 && (h.TOS&3 == wire.ECT0 || h.TOS&3 == wire.ECT1) {
			wire.SetECN(b[h.L3:], wire.CE)
			f.Digest = 0
			p.count.Marked++
		}
		p.pass(f)
	}
}

// delay holds a frame back, if there is room.
func (p *port) delay(f *fabric.Frame, h delayedFrame, count *uint64) {
	if len(p.delayed) == Most {
		p.pass(f)
		return
	}
	*count++
	h.frame = *f
	p.delayed = append(p.delayed, h)
	p.next = min(p.next, h.until)
}

// corrupt turns over a bit behind the headers. Of a frame whose headers alone are there, as in the simulator, all
// that can be said is that its receiver finds out: it is taken away.
func (p *port) corrupt(f *fabric.Frame) {
	b := p.env.Bytes(f)
	var h wire.Header
	from := wire.EthernetLen
	if wire.Parse(b, &h) {
		from = max(h.Payload, h.L4, h.BTH)
	}
	if h.BTH > 0 {
		from += wire.BTHLen
	}
	if !p.env.Whole(int(f.Len)) || from >= len(b) {
		p.count.CorruptedLost++
		p.env.Free(*f)
		return
	}
	b[from+p.random.IntN(len(b)-from)] ^= 1 << p.random.IntN(8)
	f.Digest = 0
	p.count.Corrupted++
	p.pass(f)
}

// releaseDue lets through what was held back until now, and pauses the port if a rule says so. The world is in the
// middle of sending: see deliver.
func (n *Node) releaseDue(now units.Time, number int) {
	p := n.ports[number]
	if p == nil || now < p.next {
		return
	}
	p.out = p.out[:0]
	kept := p.delayed[:0]
	for _, h := range p.delayed {
		if h.until <= now {
			p.out = append(p.out, h.frame)
		} else {
			kept = append(kept, h)
		}
	}
	p.delayed = kept
	p.storm(now)
	p.when()
	n.deliver(now, p)
}

// deliver gives the node what is to come to a port that is not in the middle of receiving: it must be queued.
func (n *Node) deliver(now units.Time, p *port) {
	if len(p.out) == 0 {
		return
	}
	queue := p.env.Queue
	p.env.Queue = fabric.QueueAll
	n.Server.Receive(now, p.number, p.out)
	p.env.Queue = queue
}

// Leave has a port that is about to be removed let through all that it holds back. Nothing else is done with the node
// meanwhile.
func (n *Node) Leave(now units.Time, number int) {
	p := n.ports[number]
	if p == nil {
		return
	}
	n.ports[number], p.rules = nil, nil
	p.out = p.out[:0]
	for _, h := range p.delayed {
		p.out = append(p.out, h.frame)
	}
	n.deliver(now, p)
}

// storm makes the XOFFs that are due, and the XONs of rules that are over. A rule that paused nothing, because it was
// over before it was in force, has none: it would be taken for the peer's, which may have paused the port.
func (p *port) storm(now units.Time) {
	for i := range p.rules {
		r := &p.rules[i]
		if r.due > now {
			continue
		}
		over := now >= r.Stop
		if over && !r.paused {
			r.due = units.Never
			continue
		}
		what := pfc.Frame{Enable: 0xFF}
		if r.Priority >= 0 {
			what.Enable = 1 << r.Priority
		}
		for prio := range pfc.Classes {
			if what.Enable>>prio&1 != 0 && !over {
				what.Quanta[prio] = pfc.MaxQuanta
			}
		}
		if f, ok := p.env.Alloc(pfc.FrameLen); ok {
			what.Encode(p.env.Bytes(&f), source)
			p.out = append(p.out, f)
			p.count.Pauses++
			r.paused = true
		}
		if r.due = min(now.Add(r.Every), r.Stop); over {
			r.due = units.Never
		}
	}
}

// when finds out when something is due next.
func (p *port) when() {
	p.next = units.Never
	for _, h := range p.delayed {
		p.next = min(p.next, h.until)
	}
	for i := range p.rules {
		p.next = min(p.next, p.rules[i].due)
	}
}

// wake has the world ask the port when something is due.
func (p *port) wake() {
	if p.next != units.Never {
		p.env.Wake(p.number, p.next)
	}
}
