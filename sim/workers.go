package sim

import (
	"photon/fabric"
	"photon/units"
)

// sharedNode is a node that several workers share, as on DPDK, in a world where one goroutine does all. What happens
// at a port is done by its worker. Before and after it the worker polls, as it does between two bursts on DPDK, for what
// the others have for it; these poll a while later, as workers do that are busy elsewhere.
type sharedNode struct {
	fabric.Server
	poller    fabric.Poller // nil: the node's workers have nothing for each other
	env       *fabric.Env   // the world's
	envs      []*fabric.Env
	worker    []int        // by port
	firstPort []int        // by worker; -1: it has none
	nextPoll  []units.Time // by worker; units.Never: it has nothing to poll for
	gap       units.Time
	busyUntil units.Time // until then a worker may have something for another
}

// gapsUntilIdle is how many poll gaps after an event no worker has anything for another any more: a frame is published,
// taken, released by the port that sends it, and the worker of its ingress port is told.
const gapsUntilIdle = 4

func newSharedNode(
	node fabric.Server, poller fabric.Poller, envs []*fabric.Env, worker []int, gap units.Time,
) *sharedNode {
	s := &sharedNode{
		Server: node, poller: poller, env: fabric.NewEnv(envs[0].Pool, len(worker)), envs: envs, worker: worker,
		firstPort: make([]int, len(envs)), nextPoll: make([]units.Time, len(envs)), gap: max(1, gap),
	}
	for w := range envs {
		s.firstPort[w], s.nextPoll[w] = -1, units.Never
	}
	return s
}

// linked notes that a port has a link: only such a port is woken, and a worker polls at its first one.
func (s *sharedNode) linked(port int) {
	if first := &s.firstPort[s.worker[port]]; *first < 0 || port < *first {
		*first = port
	}
}

// wakeAll has all workers poll a gap later, and then until none has anything for another: also the one at whose port
// something happened, for what the others have to tell it.
func (s *sharedNode) wakeAll(now units.Time) {
	if s.poller == nil {
		return
	}
	s.busyUntil = now + gapsUntilIdle*s.gap
	for w := range s.nextPoll {
		s.pollAt(w, now+s.gap)
	}
}

func (s *sharedNode) pollAt(worker int, at units.Time) {
	if port := s.firstPort[worker]; port >= 0 && at < s.nextPoll[worker] {
		s.nextPoll[worker] = at
		s.env.Wake(port, at)
	}
}

func (s *sharedNode) poll(now units.Time, worker int) {
	if s.poller == nil {
		return
	}
	s.poller.Poll(now, worker)
	if s.nextPoll[worker] = units.Never; now < s.busyUntil {
		s.pollAt(worker, now+s.gap)
	}
}

// relay wakes in the world's Env the ports that workers have woken in theirs.
func (s *sharedNode) relay() {
	for _, env := range s.envs {
		for _, port := range env.Woken() {
			s.env.Wake(int(port), env.Due(int(port)))
		}
	}
}

// Receive implements fabric.Node.
func (s *sharedNode) Receive(now units.Time, port int, burst []fabric.Frame) {
	w := s.worker[port]
	s.Server.Receive(now, port, burst)
	s.poll(now, w)
	s.wakeAll(now)
	s.relay()
}

// Serve implements fabric.Server.
func (s *sharedNode) Serve(now units.Time, port int, f *fabric.Frame) (sent bool, next units.Time) {
	w := s.worker[port]
	s.poll(now, w)
	s.envs[w].SetDue(port, units.Never)
	if sent, next = s.Server.Serve(now, port, f); sent {
		s.poll(now, w)
		s.wakeAll(now)
		next = s.Server.Next(now, port) // it may have got something by that poll
	}
	s.envs[w].SetDue(port, next)
	s.relay()
	return sent, s.orPoll(port, next)
}

// Transmit implements fabric.Node.
func (s *sharedNode) Transmit(now units.Time, port int, burst []fabric.Frame) (n int) {
	for ; n < len(burst); n++ {
		if sent, _ := s.Serve(now, port, &burst[n]); !sent {
			break
		}
	}
	return n
}

// Next implements fabric.Node.
func (s *sharedNode) Next(now units.Time, port int) units.Time {
	return s.orPoll(port, s.Server.Next(now, port))
}

// orPoll is when a port is to be called: a worker polls when its first port is.
func (s *sharedNode) orPoll(port int, next units.Time) units.Time {
	if w := s.worker[port]; port == s.firstPort[w] {
		next = min(next, s.nextPoll[w])
	}
	return next
}
