//go:build dpdk

package dpdk

// #include "ph.h"
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// memifClient is a device whose server may come later, or again.
type memifClient struct {
	id     uint16
	socket string // of the server, and of other clients of it
}

// reconnect leaves alone who waits for an answer, and who would wait behind one at the
// same socket: a server that hangs takes a few connections, and stops who asks for another.
func (w *world) reconnect() {
	waiting := map[string]bool{}
	var alone []memifClient
	for _, c := range w.clients {
		switch C.ph_memif_state(C.uint16_t(c.id)) {
		case C.PH_MEMIF_GREETING:
			waiting[c.socket] = true
		case C.PH_MEMIF_ALONE:
			alone = append(alone, c)
		}
	}
	for _, c := range alone {
		if !waiting[c.socket] && C.ph_memif_again(C.uint16_t(c.id)) == 0 {
			waiting[c.socket] = true
		}
	}
}

// clearSocket removes what a server that was killed left behind: the driver would
// not listen where there is something. Who listens there notices nothing: a socket of
// another type is refused by the kernel with another error than a socket without a listener.
func clearSocket(spec string) error {
	abstract, said := argument(spec, "socket-abstract")
	if !isMemif(spec) || isMemifClient(spec) || !said || abstract != "no" {
		return nil
	}
	path := memifSocket(spec)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s is not a socket", path)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if unix.Connect(fd, &unix.SockaddrUnix{Name: path}) != unix.ECONNREFUSED {
		return nil // there is a listener; it may be this process, for another port
	}
	return os.Remove(path)
}
