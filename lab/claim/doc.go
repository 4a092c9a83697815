// Package claim judges what papers claim by what runs measured: the rule is here and
// nowhere else, and docs/reproduction.md prints it.
//
// The files, in the order in which they build on each other:
//
//	coverage.go  how much of an experiment ran
//	rule.go      the rule
//	judge.go     claims judged by a result
//	tally.go     verdicts of many experiments
package claim
