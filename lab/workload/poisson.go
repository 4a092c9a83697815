package workload

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"photon/units"
)

// Poisson is flows of random sizes between random hosts with exponential gaps:
// Load*Rate/8/Sizes.Mean() flows per second.
//
// An arrival event is, by itself, one flow: a receiver drawn from To and a
// sender drawn from From, never the receiver. IncastMax and Synchronised make
// it a group of flows that begin together; events are then rarer, so that the
// load stays.
type Poisson struct {
	Sizes    Sizes
	Load     float64    // of Rate, above 0; more than 1 is an overload
	Rate     units.Rate // the capacity that Load refers to, in all; above 0
	From, To []int      // hosts: indices, none twice in a list; one may be in both

	// IncastMin and IncastMax make random incasts (PCN, 7.4: 1 to 15): an event
	// has one receiver and k distinct senders, k uniform in [IncastMin, IncastMax],
	// each with a size of its own. 0, 0 is 1, 1.
	IncastMin, IncastMax int

	// Synchronised starts a flow of every sender at each event (PCN, 7.2), in the
	// order of From, each with a size and a receiver of its own. Not with incasts.
	Synchronised bool

	Start, End units.Time // arrivals are in [Start, End); End 0: no end but that of time, 106 days
	Flows      int        // at most so many, and the last group may be cut short; 0: no limit

	Name func(host int) string // for errors; nil: its number
}

// Generate draws the flows, sorted by At; the same for the same seed. Errors
// are of the parameters: lists without hosts or too short for the incasts, a
// load, rate or mean that is not positive, no end, more than 67 million flows.
func (p *Poisson) Generate(seed uint64) ([]Arrival, error) { return all(p.Stream(seed)) }

// Stream draws the same flows one by one.
func (p *Poisson) Stream(seed uint64) (*Stream, error) {
	g, err := p.begin(source(seed))
	if err != nil {
		return nil, fmt.Errorf("arrivals: %w", err)
	}
	s := &Stream{left: -1, more: func(list []Arrival) ([]Arrival, bool) {
		if !g.next() {
			return nil, false
		}
		return g.event(list), true
	}}
	if p.Flows > 0 {
		s.left = p.Flows
	}
	return s, nil
}

// poisson is a Poisson process under way.
type poisson struct {
	*instants
	*Poisson
	low, high int   // senders per event
	from      []int // in the order in which draws left it
}

func (p *Poisson) begin(random *rand.Rand) (*poisson, error) {
	g := &poisson{Poisson: p, low: p.IncastMin, high: p.IncastMax, from: slices.Clone(p.From)}
	if err := checkSizes(p.Sizes); err != nil {
		return nil, err
	}
	if err := checkHosts("senders", p.From, p.Name); err != nil {
		return nil, err
	}
	if err := checkHosts("receivers", p.To, p.Name); err != nil {
		return nil, err
	}
	switch {
	case !(p.Load > 0) || math.IsInf(p.Load, 1):
		return nil, fmt.Errorf("a load of %v", p.Load)
	case p.Rate <= 0:
		return nil, fmt.Errorf("a load of the rate %v", p.Rate)
	case p.Synchronised && (g.low != 0 || g.high != 0):
		return nil, errors.New("synchronised senders and incasts at once")
	case p.Synchronised:
		g.low, g.high = len(p.From), len(p.From)
		if len(p.To) == 1 && slices.Contains(p.From, p.To[0]) {
			return nil, fmt.Errorf("host %s can send to itself only", nameOf(p.To[0], p.Name))
		}
	case g.low == 0 && g.high == 0:
		g.low, g.high = 1, 1
		fallthrough
	default:
		if err := p.checkIncast(g.low, g.high); err != nil {
			return nil, err
		}
	}
	flows := float64(g.low+g.high) / 2
	perSecond := p.Load * float64(p.Rate) / 8 / p.Sizes.Mean() / flows
	var err error
	g.instants, err = newInstants(random, p.Start, p.End, perSecond, flows, p.Flows)
	return g, err
}

// checkIncast holds the largest group against what each receiver has.
func (p *Poisson) checkIncast(low, high int) error {
	if low < 1 || high < low {
		return fmt.Errorf("incasts of %d to %d senders", low, high)
	}
	for _, to := range p.To {
		others := len(p.From)
		if slices.Contains(p.From, to) {
			others--
		}
		if others == 0 {
			return fmt.Errorf("host %s can receive from itself only", nameOf(to, p.Name))
		}
		if high > others {
			return fmt.Errorf("incasts of up to %d senders; host %s has %d", high, nameOf(to, p.Name), others)
		}
	}
	return nil
}

// event appends the flows of one event.
func (g *poisson) event(list []Arrival) []Arrival {
	if g.Synchronised {
		for _, from := range g.From {
			to := from
			for to == from {
				to = g.To[g.random.IntN(len(g.To))]
			}
			list = append(list, g.flow(from, to))
		}
		return list
	}
	to := g.To[g.random.IntN(len(g.To))]
	for _, from := range g.senders(to, g.low+g.random.IntN(g.high-g.low+1)) {
		list = append(list, g.flow(from, to))
	}
	return list
}

func (g *poisson) flow(from, to int) Arrival {
	return Arrival{At: g.now, From: from, To: to, Size: g.Sizes.Quantile(g.random.Float64())}
}

// senders draws k distinct ones other than to, by shuffling the front of the list.
func (g *poisson) senders(to, k int) []int {
	n := len(g.from)
	for i := 0; i < k; {
		j := i + g.random.IntN(n-i)
		if g.from[j] == to { // put it out of the way
			n--
			g.from[j], g.from[n] = g.from[n], g.from[j]
			continue
		}
		g.from[i], g.from[j] = g.from[j], g.from[i]
		i++
	}
	return g.from[:k]
}
