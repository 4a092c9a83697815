// Package web makes the report: one HTML page that holds everything it shows,
// its charts' data and the code that draws them included.
//
// What is shown is plain data (Page, Experiment, Chart); package lab fills it in.
// Charts are drawn by uPlot (package page has it) as report.js tells it.
package web
