//go:build dpdk

package main

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"photon/internal/testnet"
)

// Two switches joined by a memif, a host at each. The client is there first; the
// server comes, is killed, and comes again, at a socket with a name, which the one
// that was killed leaves behind, or without one. Each time frames go both ways again.
func TestMemifServerComesAgain(t *testing.T) {
	t.Parallel()
	for kind, abstract := range map[string]string{"named": "no", "abstract": "yes"} {
		t.Run(kind, func(t *testing.T) {
			n := testnet.New(t, "sw") // of both: an abstract name is a namespace's
			dir := t.TempDir()
			memif := ",socket-abstract=" + abstract + ",socket=" + filepath.Join(dir, "memif.sock")
			var hosts [2]*testnet.Socket
			run := [2]func() *process{}
			for i, role := range []string{"client", "server"} {
				h := testnet.New(t, fmt.Sprintf("h%d", i))
				port := fmt.Sprintf("p%d", i)
				testnet.Veth(t, n, port, h, "eth0")
				hosts[i] = h.Open(t, "eth0")
				run[i] = func() *process {
					return start(t, n, "switch", "--metrics", "off", "--admin", filepath.Join(dir, role), "--port", "net_af_packet0,iface="+port, "--port", "net_memif0,role="+role+memif)
				}
			}
			client := run[0]()
			links := func(text string, n int) {
				t.Helper()
				within(t, func() bool { return strings.Count(client.log.String(), "net_memif0: link "+text) == n },
					func() string { return fmt.Sprintf("no link %s\n%s", text, client.log) })
			}
			links("down", 1)
			for life := range 3 {
				server := run[1]()
				links("up", life+1)
				for to := range 2 { // the frames that come before the server sees the link are lost
					arrived := func(b []byte) bool {
						return isUDP(26)(b) && binary.BigEndian.Uint32(b[42:]) == uint32(life)
					}
					within(t, func() bool {
						hosts[1-to].Send(udp(1-to, to, 26, 1000, uint32(life)))
						return len(hosts[to].Collect(100*time.Millisecond, arrived)) > 0
					}, func() string {
						return fmt.Sprintf("life %d: nothing arrives at host %d\n%s%s", life, to, client.log, server.log)
					})
				}
				if life == 2 {
					server.stop()
				} else {
					if err := server.cmd.Process.Signal(syscall.SIGKILL); err != nil {
						t.Fatal(err)
					}
					<-server.ended
					server.ended = nil
				}
				links("down", life+2)
			}
			client.stop()
		})
	}
}
