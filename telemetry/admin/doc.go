// Package admin is the socket by which a running switch or agent is asked and takes
// orders. Package client has the other end of it.
//
// The files, in the order in which they build on each other:
//
//	server.go                                 the socket
//	live.go, captures.go                      it is asked for what moves, and for frames
//	clear.go, ports.go, flows.go, testbed.go  and takes requests: watermarks, ports, flows, a testbed
package admin
