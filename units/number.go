package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseNumber reads a number, a ratio or a percentage: "0.5", "1/128", "60%".
func ParseNumber(s string) (float64, error) {
	text, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	numerator, denominator, ratio := strings.Cut(text, "/")
	v, err := strconv.ParseFloat(strings.TrimSpace(numerator), 64)
	if err == nil && ratio {
		var by float64
		by, err = strconv.ParseFloat(strings.TrimSpace(denominator), 64)
		v /= by
	}
	if percent {
		v /= 100
	}
	if err != nil || ratio && percent || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number (write it like 0.5, 1/128 or 60%%)", s)
	}
	return v, nil
}
