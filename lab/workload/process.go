package workload

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"photon/units"
)

// Arrival is one flow of a workload.
type Arrival struct {
	At       units.Time // when it begins
	From, To int        // indices of hosts
	Size     units.Size // at least 1 byte
}

// Stream passes arrivals one by one, sorted by At, without a list of all.
type Stream struct {
	more func([]Arrival) ([]Arrival, bool) // appends those of an event; false: there are no more events
	some []Arrival                         // of the event
	at   int                               // the next of them
	left int                               // so many may come; negative: any number
}

// Next passes an arrival; false: there are no more.
func (s *Stream) Next() (a Arrival, ok bool) {
	if s.left == 0 {
		return a, false
	}
	if s.at == len(s.some) {
		if s.some, ok = s.more(s.some[:0]); !ok {
			s.left = 0
			return a, false
		}
		s.at = 0
	}
	a = s.some[s.at]
	s.at++
	s.left--
	return a, true
}

// all are those of a stream.
func all(s *Stream, err error) (list []Arrival, _ error) {
	if err != nil {
		return nil, err
	}
	for a, ok := s.Next(); ok; a, ok = s.Next() {
		list = append(list, a)
	}
	return list, nil
}

// MaxArrivals keeps a slip in a load or a time from taking all memory: a list
// of so many is 2 GiB.
const MaxArrivals = 1 << 26

// source of the draws of one list.
func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x776F726B6C6F6164)) }

// instants are events with exponential gaps.
type instants struct {
	random *rand.Rand
	gap    float64 // mean, picoseconds
	now    units.Time
	end    units.Time
}

// newInstants checks a span in which there are, on average, perSecond events
// per second; each makes flows arrivals, and limit, if not 0, is the most that
// there will be.
func newInstants(random *rand.Rand, start, end units.Time, perSecond, flows float64, limit int) (*instants, error) {
	switch {
	case start < 0:
		return nil, fmt.Errorf("start %v is before time 0", start)
	case limit < 0:
		return nil, fmt.Errorf("a limit of %d flows", limit)
	case end == 0 && limit == 0:
		return nil, errors.New("neither an end nor a number of flows")
	case end == 0:
		end = units.Never
	case end <= start:
		return nil, fmt.Errorf("end %v is not after start %v", end, start)
	}
	i := &instants{random: random, gap: float64(units.Second) / perSecond, now: start, end: end}
	expected := float64(end-start) / i.gap * flows
	if limit > 0 {
		expected = min(expected, float64(limit))
	}
	if !(expected <= MaxArrivals) {
		return nil, fmt.Errorf("about %.2g flows; %d are the most", expected, MaxArrivals)
	}
	return i, nil
}

// next moves on to the next event; false if it is at the end or later.
func (i *instants) next() bool {
	gap := math.Floor(-i.gap*math.Log(1-i.random.Float64()) + 0.5)
	if !(gap < float64(i.end-i.now)) {
		return false
	}
	i.now += units.Time(gap)
	return i.now < i.end
}

// checkSizes finds distributions that have no mean.
func checkSizes(s Sizes) error {
	if s == nil {
		return errors.New("no sizes")
	}
	if m := s.Mean(); !(m > 0) || math.IsInf(m, 1) {
		return fmt.Errorf("a mean size of %v bytes", m)
	}
	return nil
}

// checkHosts finds lists that no host could be drawn from evenly.
func checkHosts(what string, hosts []int, name func(int) string) error {
	if len(hosts) == 0 {
		return fmt.Errorf("no %s", what)
	}
	seen := make(map[int]bool, len(hosts))
	for _, h := range hosts {
		if h < 0 {
			return fmt.Errorf("host %d among the %s", h, what)
		}
		if seen[h] {
			return fmt.Errorf("host %s is twice among the %s", nameOf(h, name), what)
		}
		seen[h] = true
	}
	return nil
}

// nameOf is what errors call a host.
func nameOf(host int, name func(int) string) string {
	if name == nil {
		return strconv.Itoa(host)
	}
	return name(host)
}
