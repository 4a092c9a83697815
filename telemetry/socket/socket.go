// Package socket is what both ends of an admin socket know: where it is, and the answers
// that have no room of their own. telemetry/admin listens there, telemetry/client asks.
package socket

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// System is where daemons keep their sockets; tests have another place.
var System = "/run/photon"

// Dirs are where sockets are made, in order of preference.
func Dirs() []string {
	dirs := []string{System}
	if own := os.Getenv("XDG_RUNTIME_DIR"); own != "" {
		dirs = append(dirs, filepath.Join(own, "photon"))
	}
	return dirs
}

// Name is a node's socket in one of them.
func Name(node string) string { return node + ".sock" }

// Live is where the counters of a view that moves are.
const Live = "/live"

// Reloaded is what a reload changed, a line each.
type Reloaded struct {
	Changes []string `json:"changes"`
}

// Refusal is the answer to what cannot be done.
type Refusal struct {
	Error string `json:"error"`
}

// PortSaid is what came of an order about a port, in a line.
type PortSaid struct {
	Said string `json:"said"`
}

// StopFlows names flows that are to end.
type StopFlows struct {
	IDs []uint64 `json:"ids"`
}

// StoppedFlows is how many of them had not ended.
type StoppedFlows struct {
	Stopped int `json:"stopped"`
}

// Plain leaves out what an error of the network says of addresses.
func Plain(err error) error {
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return errno
	}
	return err
}
