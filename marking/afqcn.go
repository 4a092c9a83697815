package marking

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"photon/flowtable"
	"photon/units"
)

// AFQCNParams are what AF-QCN (Hot Interconnects'10) adds to QCN's congestion point.
type AFQCNParams struct {
	QCNParams
	Alpha    float64    // weight of fairness in the feedback; 0.125, at most 0.25 for stability
	Interval units.Time // Ts, over which rates are estimated; 1 ms
	Beta     float64    // weight of the newest interval in the estimate; 0.125
	Active   units.Size // active_thresh: classes that send no more in an interval have no part; 20 KB
	Classes  int        // most flows distinguished
	Floor    bool       // QCN's part of the mix is at least 0
}

// Validate says what is wrong with the parameters, in one line.
func (p AFQCNParams) Validate() error {
	switch {
	case !(p.Alpha > 0 && p.Alpha < 1):
		return fmt.Errorf("alpha %v must be between 0 and 1", p.Alpha)
	case p.Interval <= 0:
		return fmt.Errorf("interval %v must be positive", p.Interval)
	case !(p.Beta > 0 && p.Beta < 1):
		return fmt.Errorf("beta %v must be between 0 and 1", p.Beta)
	case p.Active < 0:
		return fmt.Errorf("active threshold %v must not be negative", p.Active)
	case p.Classes < 1 || p.Classes > mostFlows:
		return fmt.Errorf("%d classes: at least 1, at most %d", p.Classes, mostFlows)
	}
	return p.QCNParams.Validate()
}

// NewAFQCN returns QCN's congestion point with AF-QCN's fairness controller.
func NewAFQCN(p AFQCNParams, seed uint64, shares Shares) *QCN {
	q := NewQCN(p.QCNParams, seed)
	q.fair = fairness{
		ends: p.Interval, guesses: new([guesses]guess), params: p, shares: shares, table: flowtable.New(p.Classes, spread),
		classes: make([]class, 0, p.Classes), order: make([]int, 0, p.Classes),
	}
	return q
}

func spread(hash uint32) uint64 { return uint64(hash) * 0x9E3779B97F4A7C15 }

// fairness is AF-QCN's controller: it estimates what every class sends and what
// it should, and says how far a class exceeds its share.
//
// What every frame needs comes first: the beginning and a guess are all that most frames look at.
type fairness struct {
	ends    units.Time // of the current interval
	guesses *[guesses]guess
	params  AFQCNParams
	shares  Shares
	table   *flowtable.Table[uint32]
	classes []class // by slot, as far as there ever was one
	order   []int   // scratch for the max-min allocation
}

// guesses is how many guesses there are: a power of two.
const guesses = 128

// guess says which class a flow had when it was looked up last, and counts what has arrived of it since then: most
// frames need neither the table nor the class. Which of the guesses it is depends on the hash.
type guess struct {
	hash    uint32
	class   int32 // its slot+1; 0: none
	arrived units.Size
}

type class struct {
	share    Share
	inUse    bool
	arrived  units.Size // in the current interval, but for what a guess has counted
	estimate float64    // M, bytes per interval (equation 5)
	active   bool       // sends more than active_thresh
	fair     float64    // Mfair of an active class (equations 6 and 8)
}

// count adds a frame to its class; intervals that have ended come first.
func (f *fairness) count(now units.Time, p *Packet) {
	if now >= f.ends {
		f.endIntervals(now)
	}
	hash := p.Hash()
	g := &f.guesses[hash%guesses]
	if g.hash != hash || g.class == 0 {
		f.settle(g)
		g.hash, g.class = hash, int32(f.find(hash, p)+1) // no class if the table is full
	}
	g.arrived += units.Size(p.Size)
}

// settle adds what a guess has counted to its class, and forgets it.
func (f *fairness) settle(g *guess) {
	if g.class != 0 {
		f.classes[g.class-1].arrived += g.arrived
	}
	*g = guess{}
}

// find returns the class of a flow, or None if the table is full.
func (f *fairness) find(hash uint32, p *Packet) int {
	i, fresh := f.table.Insert(hash, 0)
	if fresh {
		f.classes = f.classes[:max(i+1, len(f.classes))]
		share, _ := f.shares(hash, p)
		f.classes[i] = class{share: share, inUse: true}
	}
	return i
}

// endIntervals does what is due at the ends of those that have ended.
func (f *fairness) endIntervals(now units.Time) {
	for now >= f.ends && f.table.Len() > 0 {
		f.endInterval()
		f.ends += f.params.Interval
	}
	if now >= f.ends { // after silence
		f.ends += ((now-f.ends)/f.params.Interval + 1) * f.params.Interval
	}
}

// endInterval renews the estimates, forgets classes that have fallen silent and
// divides what the active ones send by weighted max-min.
func (f *fairness) endInterval() {
	for i := range f.guesses {
		f.settle(&f.guesses[i]) // the class may be forgotten
	}
	active, total := f.order[:0], 0.0
	for i := range f.classes {
		c := &f.classes[i]
		if !c.inUse {
			continue
		}
		c.estimate = float64((1-f.params.Beta)*c.estimate) + float64(f.params.Beta*float64(c.arrived))
		c.arrived, c.active, c.fair = 0, false, 0
		if c.estimate < 1 {
			c.inUse = false
			f.table.Delete(i)
			continue
		}
		if share, changed := f.shares(f.table.Key(i), nil); changed {
			c.share = share
		}
		if c.estimate > float64(f.params.Active) {
			c.active = true
			active = append(active, i)
			total += c.estimate
		}
	}
	f.order = active
	f.allocate(active, total)
}

// allocate is the weighted max-min allocation of total among classes with caps:
// a flow whose cap is below its part gets the cap, and the rest is divided again.
func (f *fairness) allocate(active []int, total float64) {
	weights := 0.0
	for _, i := range active {
		weights += f.classes[i].share.Weight
	}
	slices.SortFunc(active, func(a, b int) int {
		return cmp.Or(cmp.Compare(f.cap(a)/f.classes[a].share.Weight, f.cap(b)/f.classes[b].share.Weight), cmp.Compare(a, b))
	})
	for _, i := range active {
		c := &f.classes[i]
		c.fair = min(f.cap(i), total*c.share.Weight/weights)
		total -= c.fair
		weights -= c.share.Weight
	}
}

// cap is the most a class may send in an interval, in bytes.
func (f *fairness) cap(i int) float64 {
	if m := f.classes[i].share.Max; m > 0 {
		return float64(m.Bytes(f.params.Interval))
	}
	return math.Inf(1)
}

// mix is Fb = (1-alpha) FbQCN + alpha FbAF (equation 4), rounded to the nearest:
// rounding down would silence fairness whenever QCN itself sees no congestion.
// QCN's part is below 0 while the queue is short, and then few are notified,
// even of the flows that exceed their shares: a link that has room left need not be shared.
func (f *fairness) mix(qcn int, p *Packet) uint8 {
	if f.params.Floor {
		qcn = max(qcn, 0)
	}
	af := 0.0
	if i := f.table.Lookup(p.Hash()); i >= 0 && f.classes[i].active {
		if d := 1 - f.classes[i].fair/f.classes[i].estimate; d > 0 {
			af = min(63, math.Floor(64*d)) // equation 7
		}
	}
	a := f.params.Alpha
	return uint8(max(0, min(63, math.Floor(float64((1-a)*float64(qcn))+float64(a*af)+0.5))))
}
