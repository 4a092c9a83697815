package stat

import "slices"

// OpenQuantile is the least of some times by which a part p of all had ended, 0 to 1, where of some that are open is
// only known how long they have lasted (Kaplan and Meier 1958, the product-limit estimate): one that has lasted longer
// than a time is counted as longer, and one that was only looked at for less says nothing about it. With none that is
// open it is Quantile. Never: fewer than p had ended when the longest was looked at last, or none had. It sorts both.
func OpenQuantile(p float64, ended, open []float64) float64 {
	const roundOff = 1e-12
	slices.Sort(ended)
	slices.Sort(open)
	lasts, k := 1.0, 0 // the part that lasts longer; open ones that lasted for less
	for i, t := range ended {
		for k < len(open) && open[k] < t {
			k++
		}
		atRisk := len(ended) - i + len(open) - k
		lasts *= 1 - 1/float64(atRisk)
		if lasts <= 1-p+roundOff {
			return t
		}
	}
	return Never
}
