package workload

import (
	"errors"
	"fmt"

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

	Name func(host int) string // for errors; nil: its number
}

// Generate draws the bursts, sorted by At, one Arrival each; the same for the
// same seed. Errors are of the parameters: a burst or rate that is not positive,
// hosts that are the same, no end, more than 67 million bursts.
func (o *OnOff) Generate(seed uint64) ([]Arrival, error) { return all(o.Stream(seed)) }

// Stream draws the same bursts one by one.
func (o *OnOff) Stream(seed uint64) (*Stream, error) {
	i, err := o.begin(seed)
	if err != nil {
		return nil, fmt.Errorf("on-off source: %w", err)
	}
	return &Stream{left: -1, more: func(list []Arrival) ([]Arrival, bool) {
		if !i.next() {
			return nil, false
		}
		return append(list, Arrival{At: i.now, From: o.From, To: o.To, Size: o.Burst}), true
	}}, nil
}

func (o *OnOff) begin(seed uint64) (*instants, error) {
	switch {
	case o.Burst <= 0:
		return nil, fmt.Errorf("bursts of %v", o.Burst)
	case o.Rate <= 0:
		return nil, fmt.Errorf("a load of %v", o.Rate)
	case o.From < 0 || o.To < 0 || o.From == o.To:
		return nil, fmt.Errorf("from host %s to host %s", nameOf(o.From, o.Name), nameOf(o.To, o.Name))
	case o.End == 0:
		return nil, errors.New("no end")
	}
	return newInstants(source(seed), o.Start, o.End, float64(o.Rate)/8/float64(o.Burst), 1, 0)
}
