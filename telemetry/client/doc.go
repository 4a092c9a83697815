// Package client asks a running switch or agent over its admin socket (telemetry/admin),
// here or elsewhere by ssh.
//
// The files, in the order in which they build on each other:
//
//	client.go                       connections, and what `photon show` asks
//	proxy.go                        by a command such as ssh
//	capture.go                      frames
//	ports.go, flows.go, testbed.go  requests
package client
