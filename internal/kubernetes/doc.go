// Package kubernetes has the tests that compare manifests with Kubernetes' own types: those of deploy/kubernetes
// (switch_test.go), and that which photon sweep prints (sweep_test.go).
//
// It is a module of its own, because nothing else of photon needs those types. After a change of photon's go.mod,
// "go mod tidy" is for this module, too; make test and make lint come here.
package kubernetes
