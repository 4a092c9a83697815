package daemon

import (
	"sync"
	"time"

	"photon/units"
)

// wallPeriod is how long readings of the clocks count, and for as long again.
const wallPeriod = 10 * time.Second

// wall says what instants of the node's clock are by the wall's. The node's stands between two polls, up to a
// millisecond where nothing is to be done: of several readings that with the least difference is nearest.
type wall struct {
	sync.Mutex
	laps           uint64
	since          time.Time     // when this period began; zero: never
	before, during time.Duration // the least differences in the period before and in this one
}

// at takes a reading of both clocks, and returns what the node's is by the wall's.
func (w *wall) at(laps uint64, now units.Time, read time.Time) time.Time {
	w.Lock()
	defer w.Unlock()
	node := time.Duration(now / units.Nanosecond)
	difference := time.Duration(read.UnixNano()) - node
	switch passed := read.Round(0).Sub(w.since); {
	case w.since.IsZero() || laps != w.laps || passed < 0 || passed >= 2*wallPeriod:
		w.laps, w.since, w.before, w.during = laps, read.Round(0), difference, difference
	case passed >= wallPeriod:
		w.since, w.before, w.during = read.Round(0), w.during, difference
	}
	w.during = min(w.during, difference)
	return time.Unix(0, int64(node+min(w.before, w.during)))
}
