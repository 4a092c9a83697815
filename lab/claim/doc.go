// Package claim judges what papers claim by what runs measured: the rule is here and
// nowhere else, and docs/reproduction.md prints it.
package claim
