// Package web makes the report: one HTML page that holds everything it shows,
// its charts' data and the code that draws them included.
//
// What is shown is plain data (Page, Experiment, Chart); package lab fills it in.
// Charts are drawn by uPlot (package page has it) as report.js tells it.
//
// The files, in the order in which they build on each other:
//
//	page.go, chart.go, wiring.go  what is shown: the page, its charts, the network
//	thin.go                       long curves have fewer points
//	linestyle.go, legend.go       colours and dashes; values in the legend
//	script.go                     the script of the live page
package web
