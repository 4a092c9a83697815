package cnp

// fifo is a queue of flows, each of them at most once, linked through an array: it does
// not allocate.
type fifo struct {
	next       []int32
	in         []bool
	head, tail int32
}

// none stands where there is no flow.
const none = -1

func newFIFO() fifo { return fifo{head: none, tail: none} }

// room makes room for flows 0 to flows-1.
func (f *fifo) room(flows int) {
	f.next = append(f.next, make([]int32, flows-len(f.next))...)
	f.in = append(f.in, make([]bool, flows-len(f.in))...)
}

// push appends a flow unless it stands in the queue already.
func (f *fifo) push(flow int) {
	if f.in[flow] {
		return
	}
	f.in[flow] = true
	f.next[flow] = none
	if f.head == none {
		f.head = int32(flow)
	} else {
		f.next[f.tail] = int32(flow)
	}
	f.tail = int32(flow)
}

// pop removes the first flow; there must be one.
func (f *fifo) pop() int {
	flow := f.head
	f.head = f.next[flow]
	f.in[flow] = false
	return int(flow)
}

// remove takes a flow out, if it is there; it looks at those before it.
func (f *fifo) remove(flow int) {
	if !f.in[flow] {
		return
	}
	f.in[flow] = false
	before := int32(none)
	for at := f.head; at != int32(flow); at = f.next[at] {
		before = at
	}
	if before == none {
		f.head = f.next[flow]
	} else {
		f.next[before] = f.next[flow]
	}
	if f.tail == int32(flow) {
		f.tail = before
	}
}
