package workload

import (
	"math"

	"photon/units"
)

// Sizes is a distribution of flow sizes.
type Sizes interface {
	// Mean is in bytes.
	Mean() float64
	// Quantile returns the size that a part p of the flows does not exceed; p in
	// [0,1], the result at least 1 byte and ascending in p.
	Quantile(p float64) units.Size
}

var (
	_ Sizes = (*CDF)(nil)
	_ Sizes = Pareto{}
)

// ParetoCap is the largest size that Pareto yields.
const ParetoCap = units.GB

// Pareto is the distribution of sizes whose part above x is
// (least/x)^Shape, least = MeanBytes*(Shape-1)/Shape. AF-QCN's table 1 has a
// mean of 10 KB and shape 1.1.
//
// Sizes are capped at ParetoCap. With a shape close to 1 much of the mean is in
// flows that no experiment is long enough to see: at 10 KB and 1.1, 23 % of it is
// beyond 1 GB. CappedMean is what is left.
type Pareto struct {
	MeanBytes float64 // bytes, above 0
	Shape     float64 // above 1: below, there is no mean
}

// Mean is the nominal mean in bytes, MeanBytes, as the papers state it; a load
// that is computed from it is nominal too. It is infinite if the shape has no mean.
func (p Pareto) Mean() float64 {
	if !(p.Shape > 1) {
		return math.Inf(1)
	}
	return p.MeanBytes
}

// CappedMean is the mean in bytes of what Quantile yields.
func (p Pareto) CappedMean() float64 {
	least, most := p.least(), float64(ParetoCap)
	if least >= most {
		return most
	}
	return p.Mean() * (1 - math.Pow(least/most, p.Shape-1)/p.Shape)
}

// Quantile returns a size of at least 1 byte and at most ParetoCap.
func (p Pareto) Quantile(q float64) units.Size {
	q = min(max(q, 0), 1)
	return whole(min(p.least()*math.Pow(1-q, -1/p.Shape), float64(ParetoCap)))
}

// least is the smallest size.
func (p Pareto) least() float64 { return p.MeanBytes * (p.Shape - 1) / p.Shape }

// whole rounds x to bytes. No flow is empty.
func whole(x float64) units.Size { return max(1, units.Size(math.Floor(x+0.5))) }
