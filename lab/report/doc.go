// Package report shows what came out: the files of a result, tables for a terminal,
// the page of an experiment or of all, and the table of all claims.
//
// The files, in the order in which a result passes them:
//
//	names.go, files.go                                what its files are called; it is written and read
//	section.go, summary.go                            what a report shows of an experiment; its line of summary
//	wiring.go                                         the network is drawn
//	charts.go, charts_metrics.go, charts_slowdown.go  curves; bars and sweeps; slowdowns by size
//	agree.go, words.go                                whether two worlds agree; ratios in words
//	report.go                                         pages
//	table.go                                          tables for a terminal
//	compare.go, reproduction.go                       compared with a committed table; docs/reproduction.md
package report
