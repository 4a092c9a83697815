package sim

import (
	"photon/dataplane"
	"photon/units"
)

// crew is a node that several workers share, in a world in which one goroutine does all. What happens at
// a port is its worker's doing: the worker polls for what the others have for it before and after, and
// the others look a while later, as workers do that are busy elsewhere.
type crew struct {
	dataplane.Server
	poller dataplane.Poller
	env    *dataplane.Env // the world's
	envs   []*dataplane.Env
	worker []int        // by port
	first  []int        // port, by worker; -1: it has none
	polls  []units.Time // when a worker polls next; Never
	gap    units.Time
	until  units.Time // there may be something for somebody until then
}

// rounds is how many gaps after something happened nothing is left that one worker has for another: a
// frame is published, taken, released by the port that sends it, and that is told.
const rounds = 4

func newCrew(node dataplane.Server, envs []*dataplane.Env, worker []int, gap units.Time) *crew {
	c := &crew{
		Server: node, env: dataplane.NewEnv(envs[0].Pool, len(worker)), envs: envs, worker: worker,
		first: make([]int, len(envs)), polls: make([]units.Time, len(envs)), gap: max(1, gap),
	}
	c.poller, _ = node.(dataplane.Poller)
	for i := range c.first {
		c.first[i], c.polls[i] = -1, units.Never
	}
	for port, w := range worker {
		if c.first[w] < 0 {
			c.first[w] = port
		}
	}
	return c
}

// busy has the other workers look a while later.
func (c *crew) busy(now units.Time, self int) {
	c.until = now + rounds*c.gap
	for w := range c.polls {
		if w != self {
			c.pollAt(w, now+c.gap)
		}
	}
}

func (c *crew) pollAt(worker int, at units.Time) {
	if port := c.first[worker]; port >= 0 && at < c.polls[worker] {
		c.polls[worker] = at
		c.env.Wake(port, at)
	}
}

// poll is what a worker does on its turn.
func (c *crew) poll(now units.Time, worker int) {
	if c.poller == nil {
		return
	}
	c.poller.Poll(now, worker)
	if c.polls[worker] = units.Never; now < c.until {
		c.pollAt(worker, now+c.gap)
	}
}

// relay tells the world which ports the workers want to be looked at.
func (c *crew) relay() {
	for _, env := range c.envs {
		for _, port := range env.Woken() {
			c.env.Wake(int(port), env.Due(int(port)))
		}
	}
}

// Receive implements dataplane.Node.
func (c *crew) Receive(now units.Time, port int, burst []dataplane.Frame) {
	w := c.worker[port]
	c.Server.Receive(now, port, burst)
	c.poll(now, w)
	c.busy(now, w)
	c.relay()
}

// Serve implements dataplane.Server.
func (c *crew) Serve(now units.Time, port int, f *dataplane.Frame) (sent bool, next units.Time) {
	w := c.worker[port]
	c.poll(now, w)
	c.envs[w].SetDue(port, units.Never)
	if sent, next = c.Server.Serve(now, port, f); sent {
		c.poll(now, w)
		c.busy(now, w)
		next = c.Server.Next(now, port) // for what it has got meanwhile, too
	}
	c.envs[w].SetDue(port, next)
	c.relay()
	if port == c.first[w] {
		next = min(next, c.polls[w])
	}
	return sent, next
}

// Transmit implements dataplane.Node.
func (c *crew) Transmit(now units.Time, port int, burst []dataplane.Frame) (n int) {
	for ; n < len(burst); n++ {
		if sent, _ := c.Serve(now, port, &burst[n]); !sent {
			break
		}
	}
	return n
}

// Next implements dataplane.Node.
func (c *crew) Next(now units.Time, port int) units.Time {
	next := c.Server.Next(now, port)
	if w := c.worker[port]; port == c.first[w] {
		next = min(next, c.polls[w])
	}
	return next
}
