package agent

import "photon/units"

// A flow's retransmission timer runs out if an acknowledgement that was asked for has not come, and nothing was
// acknowledged, for a timeout. It is looked at when the flow's turn comes, so that a flow has one timer in the wheel and
// not two. After a timeout one packet is sent and answered before the others follow: it finds out what the receiver has.

// retransmission is when a flow's packets are sent again, and how many were.
type retransmission struct {
	asked        uint64     // behind the last packet that asked to be acknowledged
	deadline     units.Time // of progress; Never: no acknowledgement is awaited
	ackedAtStart uint64     // acked when the timer was started for that
	repeated     uint64     // packets that were sent again, or are to be
}

// recovery is how the senders of a host deal with losses.
type recovery struct {
	every   uint64     // packets from one that asks to be acknowledged to the next
	timeout units.Time // without progress, until packets are sent again; doubled each time
	retries uint8      // in a row without progress, before a flow gives up
}

// maxDoublings bounds what becomes of the timeout.
const maxDoublings = 6

// restartTimer sets the deadline of progress.
func (r *requester) restartTimer(now units.Time, c *recovery) {
	r.ackedAtStart = r.acked
	if r.scoreboard != nil {
		r.scoreboard.since = now
	}
	r.deadline = now + r.timeout(c)
}

// timeout is how long progress may take.
func (r *requester) timeout(c *recovery) units.Time {
	t := c.timeout
	if r.hasLowTimeout() {
		t = min(t, r.scoreboard.lowTimeout)
	}
	return t << min(r.retries, maxDoublings)
}

// hasLowTimeout reports whether the low timeout of selective repeat is in force.
func (r *requester) hasLowTimeout() bool {
	return r.scoreboard != nil && r.scoreboard.lowTimeout > 0 && r.outstanding() <= r.scoreboard.lowPackets
}

// overdue reports whether the deadline has passed. Whether there was progress is seen here, and
// not when each acknowledgement comes.
func (r *requester) overdue(now units.Time, c *recovery) bool {
	switch {
	case r.deadline == units.Never:
	case r.acked >= r.asked:
		r.deadline, r.retries = units.Never, 0
	case r.acked != r.ackedAtStart:
		r.retries = 0
		r.restartTimer(now, c)
	case now < r.deadline:
	case r.scoreboard != nil && r.scoreboard.lowTimeout > 0: // more may be under way now than when the deadline was set
		r.deadline = max(r.deadline, r.scoreboard.since+r.timeout(c))
		return now >= r.deadline
	default:
		return true
	}
	return false
}

// retry goes back to what was not acknowledged, to send one packet of it. It reports false if
// that was tried often enough.
func (r *requester) retry(now units.Time, c *recovery) bool {
	if r.retries == c.retries {
		return false
	}
	if r.scoreboard != nil {
		r.scoreboard.expire(r)
	}
	r.goBack(r.acked)
	r.probing = true
	r.retries++
	r.restartTimer(now, c)
	return true
}

// goBack makes a packet that was sent the next.
func (r *requester) goBack(to uint64) {
	r.high = max(r.high, r.next)
	r.repeated += r.next - to
	r.next = to
	r.awaiting, r.probing, r.plain = false, false, 0
}

// startAgain sends the whole flow again, in an epoch that begins with another PSN. It reports false if
// that was tried often enough.
func (r *requester) startAgain(psn uint32, c *recovery) bool {
	if r.retries == c.retries {
		return false
	}
	r.retries++
	sent, packets := r.index(), uint64(0)
	if r.end > 0 {
		packets = r.end - uint64(r.first)
	}
	r.repeated += sent
	r.earlier += r.neverSent() - uint64(r.first)
	r.start(psn, packets)
	return true
}
