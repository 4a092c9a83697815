package agent

import (
	"photon/fabric"
)

// cells hold the frames of many queues, so that a queue without frames takes no
// memory. They grow to the most that were ever in use; what bounds that is said
// where frames are queued.
type cells struct {
	all  []cell
	free int32
}

type cell struct {
	frame fabric.Frame
	next  int32
}

const noCell = -1

func newCells(n int) cells { return cells{all: make([]cell, 0, n), free: noCell} }

// frames is a queue in cells. The zero value is empty.
type frames struct {
	head, tail int32
	n          int
	bytes      int
}

func (c *cells) push(q *frames, f fabric.Frame) {
	at := c.free
	if at == noCell {
		at = int32(len(c.all))
		c.all = append(c.all, cell{})
	} else {
		c.free = c.all[at].next
	}
	c.all[at] = cell{frame: f, next: noCell}
	if q.n == 0 {
		q.head = at
	} else {
		c.all[q.tail].next = at
	}
	q.tail = at
	q.n++
	q.bytes += int(f.Len)
}

// pop removes the first frame; there must be one.
func (c *cells) pop(q *frames) fabric.Frame {
	at := q.head
	f := c.all[at].frame
	q.head = c.all[at].next
	c.all[at].next = c.free
	c.free = at
	q.n--
	q.bytes -= int(f.Len)
	return f
}
