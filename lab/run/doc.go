// Package run runs an experiment: every scheme, every value of its sweep, every seed,
// side by side as far as there are processors, and puts together what they measured.
package run
