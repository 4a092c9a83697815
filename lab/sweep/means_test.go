package sweep

import (
	"math"
	"slices"
	"testing"
)

func TestMeanOf(t *testing.T) {
	for _, c := range []struct {
		v         []float64
		mean, err float64
	}{
		{slices.Repeat([]float64{1}, 100), 1, 0},
		{slices.Repeat([]float64{0.1}, 7), 0.1, 0},
		{[]float64{1, 2, 3, 4}, 2.5, math.Sqrt(5.0 / 3 / 4)},
		{[]float64{-3, 5}, 1, 4},
	} {
		mean, err := meanOf(c.v)
		if exact := c.err == 0; exact && (mean != c.mean || err != 0) || math.Abs(mean-c.mean) > 1e-12 || math.Abs(err-c.err) > 1e-12 {
			t.Errorf("%v: %v ± %v, want %v ± %v", c.v, mean, err, c.mean, c.err)
		}
	}
}
