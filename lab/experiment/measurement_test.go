package experiment

import (
	"photon/config"
	"photon/ratelimit"
	"photon/units"
	"testing"
)

func TestLoopWithoutParameters(t *testing.T) {
	if (&PILoop{Beta2: 1}).check() == nil || (*PILoop)(nil).check() == nil {
		t.Error("a loop without parameters has a margin")
	}
}

// fixed is a reaction point that cannot begin at a rate.
type fixed struct{ ratelimit.RP }

// A reaction point that cannot begin at a rate is not pinned to it for good without a word.
func TestBeginNeedsAReactionPointThatCan(t *testing.T) {
	e := &Experiment{Flows: []FlowGroup{{From: config.Set("H0"), To: config.Set("H1"), Begin: config.Set(units.Gbps)}}}
	for _, c := range []struct {
		rp  ratelimit.RP
		bad bool
	}{{fixed{}, true}, {ratelimit.Unlimited{}, false}, {&ratelimit.PCN{}, false}} {
		err := e.checkBegin("x", func(*ratelimit.Port) ratelimit.RP { return c.rp })
		if (err != nil) != c.bad {
			t.Errorf("%T: %v", c.rp, err)
		}
	}
}
