package ratelimit

// queues are those of the classes, of flows and tenants that are ready. A queue is a ring of timers.
type queues struct {
	queue   [Classes]queue
	classes uint8 // those whose queues are not empty
}

type queue struct {
	head   int32
	served int32 // who was served last, and goes on first if its turn is not over; nobody
}

const nobody = -1

func noQueues() (q queues) {
	for c := range q.queue {
		q.queue[c].served = nobody
	}
	return q
}

func (q *queues) has(class uint8) bool { return q.classes>>class&1 != 0 }

// continues reports whether f is in the middle of a turn.
func (q *queue) continues(e *timer, f int32) bool { return e.turnLeft > 0 && q.served == f }

// serve counts a frame of f.
func (q *queue) serve(e *timer, f int32) {
	q.served = f
	e.turnLeft--
}

// enqueue puts f last for a new turn, or first if its turn is not over.
func (p *Pacer[T]) enqueue(qs *queues, f int32) {
	e := &p.entries[f]
	e.queued = true
	q := &qs.queue[e.class]
	continues := q.continues(&e.timer, f)
	if !continues {
		e.turnLeft = e.weight
	}
	if !qs.has(e.class) {
		qs.classes |= 1 << e.class
		q.head, e.next, e.prev = f, f, f
		return
	}
	p.appendToRing(q.head, f)
	if continues {
		q.head = f
	}
}

// dequeue takes f out, wherever it stands.
func (p *Pacer[T]) dequeue(qs *queues, f int32) {
	e := &p.entries[f]
	e.queued = false
	if e.next == f {
		qs.classes &^= 1 << e.class
		return
	}
	p.removeFromRing(&e.timer)
	if q := &qs.queue[e.class]; q.head == f {
		q.head = e.next
	}
}

// serveFirst takes out the first of a class and counts its frame.
func (p *Pacer[T]) serveFirst(qs *queues, class int) int32 {
	q := &qs.queue[class]
	f := q.head
	p.dequeue(qs, f)
	q.serve(&p.entries[f].timer, f)
	return f
}
