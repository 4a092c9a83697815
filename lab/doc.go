// Package lab repeats experiments of papers. An experiment is a data file:
// topology, flows, schemes, parameters each with its source, what is measured,
// and what the paper claims and how a claim is judged. The lab builds it in a
// world, the simulator or DPDK, measures, judges, and writes results, series,
// plots and a report.
package lab
