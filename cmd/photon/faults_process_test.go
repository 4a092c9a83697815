//go:build dpdk

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"photon/daemon"
	"photon/internal/testnet"
)

// reloadGood takes over other thresholds and other weights.
func (c *campaign) reloadGood() {
	c.t.Helper()
	c.reload++
	c.configure(c.lines(c.reload))
	if out, err := c.photon("reload"); err != nil || !strings.Contains(out, "pfc.xoff") {
		c.t.Errorf("%v\n%s", err, out)
	}
}

// portsComeAndGo adds ports, to which all that is flooded goes, too, and removes them.
func (c *campaign) portsComeAndGo() {
	c.t.Helper()
	for _, device := range []string{"net_null9,no-rx=1", "net_tap9,iface=tap9", "net_null8,no-rx=1"} {
		if out, err := c.photon("port", "add", device, "--rate", "10Mbps"); err != nil {
			c.t.Errorf("%v\n%s", err, out)
		}
		for n := range uint32(20) { // to an address that nobody has
			c.stations[3].send(udp(3, 77, 0, 500, n))
		}
		if out, err := c.photon("port", "remove", daemon.PortName(device)); err != nil {
			c.t.Errorf("%v\n%s", err, out)
		}
	}
}

// reloadBad is refused whole: a key that is not known, and one that cannot change.
func (c *campaign) reloadBad() {
	c.t.Helper()
	good := c.lines(c.reload)
	for _, lines := range []string{
		good + "speed: 5\n", good + "mtu: 4000\n", strings.Replace(good, "headroom: 4MB", "headroom: 400MB", 1),
	} {
		c.configure(lines)
		if out, err := c.photon("reload"); err == nil {
			c.t.Errorf("taken: %s", out)
		}
	}
	c.configure(good)
	if out, err := c.photon("reload"); err != nil || out != "nothing changed\n" {
		c.t.Errorf("%v\n%s", err, out)
	}
}

// stall has the workers, and all else of the switch, stand still for 5 ms.
func (c *campaign) stall() {
	c.t.Helper()
	for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := c.process.cmd.Process.Signal(s); err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// fullDisk captures to a disk that is full soon, which the capture says; the next, to another, is as good as ever.
func (c *campaign) fullDisk() {
	c.t.Helper()
	small := c.t.TempDir()
	if err := unix.Mount("photon", small, "tmpfs", 0, "size=64k"); err != nil {
		c.t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount(small, 0); err != nil {
			c.t.Error(err)
		}
	}()
	out, err := c.photon("capture", "sw0", "-w", filepath.Join(small, "sw0.pcapng"))
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		c.t.Errorf("a full disk: %v\n%s", err, out)
	}
	c.until("another capture", func() bool { // the switch may not have seen that the last one ended
		_, err = c.photon("capture", "sw0", "-w", filepath.Join(c.t.TempDir(), "sw0.pcapng"), "-c", "50")
		return err == nil || !strings.Contains(err.Error(), "is being captured already")
	})
	if err != nil {
		c.t.Error(err)
	}
}

// scrapes asks for metrics and tables as fast as the switch answers.
func (c *campaign) scrapes() {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 25 {
				c.process.metrics()
				if _, err := c.photon("show", "queues"); err != nil {
					c.t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// slowReaders ask at every socket of the switch and of the sending agent and do not read the answers, or do not even
// end their questions. Others are answered meanwhile.
func (c *campaign) slowReaders() {
	c.t.Helper()
	type place struct {
		home          *testnet.Namespace
		network, name string
		paths         []string
	}
	var open []net.Conn
	for _, at := range []place{
		{c.sw, "tcp", "127.0.0.1:9464", []string{"/metrics"}},
		{c.sw, "tcp", "127.0.0.1:9471", []string{"/", "/page.js"}},
		{c.sw, "unix", c.socket, []string{"/show/queues", "/show/fdb", "/capture?port=sw1&snap=2048"}},
		{c.agents[0].inside, "tcp", "127.0.0.1:9464", []string{"/metrics"}},
		{c.agents[0].inside, "unix", c.flowSocket, []string{"/show/queues"}},
	} {
		for n := range 8 {
			var conn net.Conn
			err := at.home.Do(func() (err error) {
				conn, err = net.DialTimeout(at.network, at.name, 5*time.Second)
				return err
			})
			if err != nil {
				c.t.Fatalf("%s: %v", at.name, err)
			}
			open = append(open, conn)
			text := "GET " + at.paths[n%len(at.paths)] + " HTTP/1.1\r\nHost: x\r\n"
			if n%2 == 0 { // one after the other, until nobody takes any more
				text = strings.Repeat(text+"\r\n", 1000)
			}
			_ = conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			_, _ = conn.Write([]byte(text)) // as much as fits
		}
	}
	c.process.metrics()
	c.agents[0].metrics()
	if _, err := c.photon("show", "queues"); err != nil {
		c.t.Error(err)
	}
	for _, conn := range open {
		conn.Close()
	}
}

// restart stops an agent and starts it again. Flows that are done have arrived, before and after.
func (c *campaign) restart(port int) {
	c.t.Helper()
	a := &c.agents[port-sendingAgent]
	home, args := (*a).inside, (*a).cmd.Args
	c.flow("--size", "20KB")
	(*a).stop()
	*a = start(c.t, home, "agent", "-c", args[len(args)-1])
	c.flow("--size", "20KB")
}

// statusOf is a line of the kernel's about a process, in bytes.
func statusOf(t interface {
	Helper()
	Fatalf(string, ...any)
}, p *process, name string) (bytes int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatalf("%v", err)
	}
	_, rest, ok := strings.Cut(string(status), name)
	if _, err := fmt.Sscan(rest, &bytes); !ok || err != nil {
		t.Fatalf("%v\n%s", err, status)
	}
	return bytes << 10
}
