// Package docs reads the documents of this repository as programs: a test runs
// every command that they show (`make test-docs`), in a copy of the sources.
//
// A document's blocks say what they are. What is marked sh is run, all blocks of
// a document one after the other by one shell, in namespaces of its own; what a
// file is (yaml, go) and begins with "# file: NAME" or "// file: NAME" is written
// there first. A second word is why a block is not simply run:
//
//   - hardware, cluster: it wants what a test does not have;
//   - ci: each of its commands is a line of .ci/run or .ci/nightly, which run them;
//   - terminal: it wants a terminal, gets one, and the key q until it ends.
//
// Those of the first two kinds are looked at instead: whether a shell can read
// them, and whether the photon commands, flags and make targets in them exist.
// Measurements that a line of text names (go test -bench) are run once.
//
// The files, in the order in which a document passes them:
//
//	document.go      its blocks
//	shell.go, ci.go  what is in them; whether .ci runs them
//	run.go           they are run
package docs
