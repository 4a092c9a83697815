package claim

import (
	"math"

	"photon/lab/experiment"
)

// Verdict is what became of a claim.
type Verdict string

// Verdicts. The first three are about a number that the paper prints, the next two
// about what it says in words.
const (
	Reproduced   Verdict = "reproduced"
	Direction    Verdict = "direction"
	Differs      Verdict = "differs"
	Holds        Verdict = "holds"
	Contradicted Verdict = "contradicted"
	Shape        Verdict = "shape"   // there is nothing to compare
	NotRun       Verdict = "not-run" // a scheme or a value that it needs was not in this run, or its runs lost frames
)

// Verdicts in the order of tables, the better before the worse.
var Verdicts = []Verdict{Reproduced, Direction, Differs, Holds, Contradicted, Shape, NotRun}

const (
	reproducedWithin = 0.25 // an effect is reproduced if it is no further than this part of the paper's from it
	directionFrom    = 0.5  // and has the paper's direction if it is at least this part of it
	roundOff         = 1e-9 // numbers that differ by this part are the same
)

// effect is what a number says happened: of a quotient how far it is from one, counted
// from the smaller side and negative below one; of a reduction the effect of the quotient
// that it stands for; of a fraction its odds, so that what is missing to all counts as much as
// what there is; of any other number itself.
func effect(as experiment.As, v float64) float64 {
	switch {
	case as == experiment.Reduction && v >= 1:
		return math.Inf(1)
	case as == experiment.Reduction:
		return effect(experiment.Ratio, 1/(1-v))
	case as == experiment.Fraction:
		return v / (1 - v) // all of it: without bound
	case as == experiment.Value:
		return v
	case v <= 0: // nothing is left of it, or less
		return math.Inf(-1)
	case v < 1:
		return 1 - 1/v
	}
	return v - 1
}

// grade judges one number. The paper prints p; bound says whether as the least or the
// most that it can be. An inequality holds or it does not; whether the effect is there is said in addition.
func grade(as experiment.As, bound experiment.Bound, p, v float64) (verdict Verdict, direction bool) {
	e, f := effect(as, v), effect(as, p)
	share := e / f
	direction = f != 0 && share >= directionFrom-roundOff    // of no effect, nothing is half
	if as == experiment.Fraction || as == experiment.Value { // no scheme is ahead of another: too much is as wrong as too little
		direction = direction && share <= 1/directionFrom+roundOff
	}
	switch bound {
	case experiment.AtLeast:
		if v >= p-roundOff*math.Abs(p) {
			return Reproduced, true
		}
		return Differs, direction
	case experiment.AtMost:
		if v <= p+roundOff*math.Abs(p) {
			return Reproduced, true
		}
		return Differs, direction
	}
	switch {
	case v == p, math.Abs(share-1) <= reproducedWithin+roundOff:
		return Reproduced, true
	case direction:
		return Direction, true
	}
	return Differs, false
}

// stands reports whether what a paper says in words is so at a number: that it is
// on one side of a limit, or no further from it than a part `within` of it. An order of two is no order if they are equal.
func stands(as experiment.As, bound experiment.Bound, limit, within, v float64) bool {
	even := as == experiment.Ratio && limit == 1 || as == experiment.Reduction && limit == 0
	switch {
	case even && bound != "" && math.Abs(v-limit) <= roundOff:
		return false
	case bound == experiment.AtLeast:
		return v >= limit-roundOff*math.Abs(limit)
	case bound == experiment.AtMost:
		return v <= limit+roundOff*math.Abs(limit)
	}
	return math.Abs(v-limit) <= (within+roundOff)*math.Abs(limit)
}
