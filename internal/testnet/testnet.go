//go:build linux

package testnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Namespace is a network namespace that ends with the test.
type Namespace struct{ Name string }

// made counts namespaces: tests that run side by side use the same names.
var made atomic.Int64

// New makes a namespace with its loopback interface up.
func New(t testing.TB, name string) *Namespace {
	t.Helper()
	n := &Namespace{Name: fmt.Sprintf("photon-%d-%d-%s", os.Getpid(), made.Add(1), name)}
	run(t, "ip", "netns", "add", n.Name)
	t.Cleanup(func() { run(t, "ip", "netns", "del", n.Name) })
	run(t, "ip", "-n", n.Name, "link", "set", "lo", "up")
	return n
}

// Veth joins two namespaces by a cable whose ends have the given names.
// Offloads are off, so that frames are what a wire would carry.
func Veth(t testing.TB, a *Namespace, aName string, b *Namespace, bName string) {
	t.Helper()
	run(t, "ip", "link", "add", aName, "netns", a.Name, "type", "veth", "peer", "name", bName, "netns", b.Name)
	for _, end := range []struct {
		n    *Namespace
		name string
	}{{a, aName}, {b, bName}} {
		run(t, "ip", "-n", end.n.Name, "link", "set", end.name, "up")
		run(t, "ip", "netns", "exec", end.n.Name, "ethtool", "-K", end.name, "tx", "off", "tso", "off", "gso", "off", "gro", "off")
	}
}

// Command is a program to be run in the namespace. It ends with the test binary
// at the latest.
func (n *Namespace) Command(name string, args ...string) *exec.Cmd {
	c := exec.Command("ip", append([]string{"netns", "exec", n.Name, name}, args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// Run runs a program in the namespace and returns what it printed.
func (n *Namespace) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	return run(t, "ip", append([]string{"netns", "exec", n.Name, name}, args...)...)
}

// Do calls f in a thread that is in the namespace; what f opens stays in it.
func (n *Namespace) Do(f func() error) (err error) {
	runtime.LockOSThread()
	home, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(home)
	there, err := unix.Open("/var/run/netns/"+n.Name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(there)
	if err := unix.Setns(there, unix.CLONE_NEWNET); err != nil {
		return err
	}
	defer func() {
		if back := unix.Setns(home, unix.CLONE_NEWNET); back != nil {
			err = errors.Join(err, back) // the thread stays locked, and ends with its goroutine
			return
		}
		runtime.UnlockOSThread()
	}()
	return f()
}

// Client makes HTTP requests from the namespace.
func (n *Namespace) Client() *http.Client {
	dial := func(_ context.Context, network, address string) (c net.Conn, err error) {
		err = n.Do(func() error {
			c, err = net.DialTimeout(network, address, 5*time.Second)
			return err
		})
		return c, err
	}
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// patience is how long a program that is waited for may take.
const patience = time.Minute

func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
