package main

import "photon/internal/gobench"

// result is the result file.
type result struct {
	Cases   []line  `json:"cases"`
	Machine machine `json:"machine"`
	Growth  []ratio `json:"growth,omitempty"` // the largest network by the smallest
	Ratios  []ratio `json:"ratios"`           // two cores by one, and ns-3
	Runs    []ran   `json:"runs,omitempty"`   // of photon run
}

// newResult makes it of what takeTurns took of the steps that plan has for the list.
func newResult(list []testCase, growth bool, took map[step][]measured) result {
	loop := took[bare]
	r := result{Cases: []line{}, Machine: newMachine(loop), Ratios: []ratio{}}
	eachOf(list, func(c *testCase, each bool) {
		runs, shared := took[step{c, each, 1}], took[step{c, each, 2}]
		by := newComparisons(c, each, runs, shared, loop)
		r.Cases = append(r.Cases, newLine(c, each, runs, shared, by))
		r.Ratios = append(r.Ratios, by.known()...)
	})
	if last := len(list) - 1; growth && last > 0 {
		small, large := &list[0], &list[last]
		for _, each := range []bool{false, true} {
			r.Growth = append(r.Growth, newGrowth(large, small, each, took[step{large, each, 1}], took[step{small, each, 1}]))
		}
	}
	return r
}

// benchmarks are all runs on one core, for benchstat.
func benchmarks(list []testCase, took map[step][]measured) *gobench.File {
	f := gobench.New("hops/s")
	eachOf(list, func(c *testCase, each bool) {
		for _, m := range took[step{c, each, 1}] {
			f.Add(m.benchmark(c.name, each))
		}
	})
	return f
}

// eachOf calls f for all cases in the order of the table.
func eachOf(list []testCase, f func(c *testCase, each bool)) {
	for i := range list {
		for _, each := range []bool{false, true} {
			f(&list[i], each)
		}
	}
}
