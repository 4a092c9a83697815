package ratelimit

import "photon/units"

// shortListLen is how many timers are kept in a list in place of the wheel: two cache lines of them.
const shortListLen = 8

// shortList is a sorted list of a few timers. A simulated host mostly has no more flows than fit, and finds the
// next one here without the memory of a wheel.
type shortList struct {
	n      int
	timers [shortListLen]listed // the first to expire is the last, so that taking it moves nothing
}

type listed struct {
	at   units.Time
	flow int32
}

// fromEnd is the timer that expires after i others. Its index is masked to spare the compiler's bounds check.
func (l *shortList) fromEnd(i int) *listed { return &l.timers[(l.n-1-i)&(shortListLen-1)] }

// add puts a timer behind those that expire earlier or at the same time. There must be a place.
func (l *shortList) add(flow int32, at units.Time) {
	i := l.n
	for ; i > 0 && l.timers[(i-1)&(shortListLen-1)].at <= at; i-- {
		l.timers[i&(shortListLen-1)] = l.timers[(i-1)&(shortListLen-1)]
	}
	l.timers[i&(shortListLen-1)] = listed{at, flow}
	l.n++
}

// remove takes out a flow that is there.
func (l *shortList) remove(flow int32) {
	i := 0
	for l.timers[i&(shortListLen-1)].flow != flow {
		i++
	}
	copy(l.timers[i:], l.timers[i+1:l.n])
	l.n--
}
