package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"photon/units"
)

// OnOff is one host that sends bursts of one size to another (AF-QCN, figure
// 11). From the start of one burst to that of the next is an exponential time,
// on average Burst*8/Rate. The paper chooses "off" times for an offered load and
// does not say how they vary. A burst may be due before the last one has left.
type OnOff struct {
	Burst      units.Size // above 0
	Rate       units.Rate // offered load of the source; above 0
	From, To   int        // hosts: indices, not the same
	Start, End units.Time // bursts begin in [Start, End)
}

// Generate draws the bursts, sorted by At, one Arrival each; the same for the
// same seed. Errors are of the parameters: a burst or rate that is not positive,
// hosts that are the same, no end, more than 67 million bursts.
func (o *OnOff) Generate(seed uint64) ([]Arrival, error) {
	i, err := o.begin(seed)
	if err != nil {
		return nil, fmt.Errorf("on-off source: %w", err)
	}
	var list []Arrival
	for i.next() {
		list = append(list, Arrival{At: i.now, From: o.From, To: o.To, Size: o.Burst})
	}
	return list, nil
}

func (o *OnOff) begin(seed uint64) (*instants, error) {
	switch {
	case o.Burst <= 0:
		return nil, fmt.Errorf("bursts of %v", o.Burst)
	case o.Rate <= 0:
		return nil, fmt.Errorf("a load of %v", o.Rate)
	case o.From < 0 || o.To < 0 || o.From == o.To:
		return nil, fmt.Errorf("from host %d to host %d", o.From, o.To)
	case o.End == 0:
		return nil, errors.New("no end")
	}
	return newInstants(source(seed), o.Start, o.End, float64(o.Rate)/8/float64(o.Burst), 1, 0)
}

// Incast is many senders to one receiver, each with as many flows, whose starts
// are uniform over a time (DCQCN+, section 5: 0.1 s) or all at once.
type Incast struct {
	Sizes     Sizes
	From      []int      // hosts: indices, none twice
	To        int        // host, none of From
	PerSender int        // flows of each sender, at least 1
	Start     units.Time // of the first at the earliest
	Spread    units.Time // starts are uniform in [Start, Start+Spread); 0: all at Start
}

// Generate draws the flows, sorted by At and then in the order of From; the
// same for the same seed. Errors are of the parameters.
func (n *Incast) Generate(seed uint64) ([]Arrival, error) {
	if err := n.check(); err != nil {
		return nil, fmt.Errorf("incast: %w", err)
	}
	random := source(seed)
	var list []Arrival
	for _, from := range n.From {
		for range n.PerSender {
			at := n.Start
			if n.Spread > 0 {
				at += units.Time(random.Int64N(int64(n.Spread)))
			}
			list = append(list, Arrival{At: at, From: from, To: n.To, Size: n.Sizes.Quantile(random.Float64())})
		}
	}
	slices.SortStableFunc(list, func(a, b Arrival) int { return cmp.Compare(a.At, b.At) })
	return list, nil
}

func (n *Incast) check() error {
	if err := checkSizes(n.Sizes); err != nil {
		return err
	}
	if err := checkHosts("senders", n.From); err != nil {
		return err
	}
	switch {
	case n.To < 0 || slices.Contains(n.From, n.To):
		return fmt.Errorf("receiver %d is below 0 or a sender", n.To)
	case n.PerSender < 1 || n.PerSender > maxArrivals/len(n.From):
		return fmt.Errorf("%d flows of each of %d senders", n.PerSender, len(n.From))
	case n.Start < 0 || n.Spread < 0 || n.Start.Add(n.Spread) == units.Never:
		return fmt.Errorf("starts in the %v after %v", n.Spread, n.Start)
	}
	return nil
}
