// Package workload makes the traffic of experiments: how large flows are and
// when they begin.
//
// Sizes is a distribution of flow sizes: a CDF, linear between its rows, from
// the files in cdf or from one of your own, or Pareto. Poisson and OnOff turn
// one into a list of Arrivals, which is a function of the parameters and the
// seed. Machines may differ in the last bit of a logarithm;
// since times and sizes are whole picoseconds and bytes, that hardly ever shows.
//
// What is left out: flows that depend on one another (a request and its
// answer), loads that change with the time of day, and sizes that depend on who
// sends.
//
// The files, in the order in which they build on each other:
//
//	cdf.go, sizes.go       sizes of flows
//	process.go             arrivals
//	poisson.go, bursts.go  at random, incasts among them; in bursts
package workload
