// Package page serves pages that move: of a running switch or agent, and of a
// replay. What they share is here, the listener with its rules, the look, and the
// charts (uPlot, uplot/README.md); what a page says is the caller's.
//
// A page only tells. It takes no order, answers GET and HEAD alone, and listens on
// the loopback address unless it was told plainly to do otherwise. A browser lets
// any web site ask 127.0.0.1, so an answer is also refused if the request names
// another host than an address or localhost (DNS rebinding), or comes from a page
// of another origin.
package page
