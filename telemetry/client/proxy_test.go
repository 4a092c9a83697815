package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"photon/fabric"
	"photon/telemetry/admin"
	"photon/telemetry/node"
)

// beProxy has the test's binary be `photon admin-proxy` of the socket that it names.
const beProxy = "PHOTON_TEST_PROXY"

func TestMain(m *testing.M) {
	if path := os.Getenv(beProxy); path != "" {
		if err := Proxy(path, "", os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// large is a switch of which there is much to say.
type large struct{}

func (large) Info() node.Info {
	return node.Info{Name: "S0", Switch: true, Stats: fabric.Stats{Ports: make([]fabric.PortStats, 32)}}
}
func (large) SetScheme(node.Scheme) error { return errors.New("no") }
func (large) Watch(node.Watch) error      { return nil }
func (large) Recorded() node.Recording    { return node.Recording{Done: true} }

// One connection is for all requests, however long their answers are: to make one takes ssh so long that the
// comparison of clocks would measure that.
func TestProxyStaysConnected(t *testing.T) {
	a, err := admin.Listen(filepath.Join(t.TempDir(), "a.sock"))
	if err != nil {
		t.Fatal(err)
	}
	a.Testbed(large{})
	a.Serve()
	defer a.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(beProxy, a.Path())
	log := filepath.Join(t.TempDir(), "starts")
	c := DialCommand([]string{"sh", "-c", `echo started >>"$0"; exec "$1"`, log, self})
	defer c.Close()
	for range 20 {
		info, err := c.Node(context.Background())
		if err != nil || len(info.Stats.Ports) != 32 {
			t.Fatal(len(info.Stats.Ports), err)
		}
		if err := c.SetScheme(context.Background(), node.Scheme{}); err == nil || err.Error() != "no" {
			t.Fatal(err)
		}
		if r, err := c.Recorded(context.Background()); err != nil || !r.Done {
			t.Fatal(r, err)
		}
	}
	b, err := os.ReadFile(log)
	if n := strings.Count(string(b), "started"); n != 1 {
		t.Errorf("%d connections for 60 requests (%v)", n, err)
	}
}

// A command that ends before it was asked says why, whether the reader or the writer of its connection notices first.
func TestProxyEndsBeforeItIsAsked(t *testing.T) {
	for what, use := range map[string]func(net.Conn) (int, error){
		"read":  func(c net.Conn) (int, error) { return c.Read(make([]byte, 1)) },
		"write": func(c net.Conn) (int, error) { return c.Write(make([]byte, 1<<20)) }, // more than a pipe holds
	} {
		c, err := startPipe([]string{"sh", "-c", `echo nobody is there >&2; exit 1`})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := use(c); err == nil || err.Error() != "nobody is there" {
			t.Errorf("%s: %d, %v", what, n, err)
		}
		c.Close()
	}
}

// A command that leaves a process behind, as ssh does with ControlPersist, ends all the same, and says why.
func TestProxyLeavesProcess(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "hold")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	c := DialCommand([]string{"sh", "-c", `cat <"$0" >/dev/null & echo nobody is there >&2; exit 1`, fifo})
	ended := make(chan error, 1)
	go func() {
		_, err := c.Node(context.Background())
		ended <- err
	}()
	hold, err := os.OpenFile(fifo, os.O_WRONLY, 0) // the process that is left waits for its end
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	select {
	case err := <-ended:
		if err == nil || !strings.HasSuffix(err.Error(), "nobody is there") {
			t.Error(err)
		}
	case <-time.After(time.Minute): // for ever
		t.Error("the request waits for the process that the command left")
	}
}

// What is wrong with a socket elsewhere is said as of one that is here.
func TestProxyOfNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	_, here := At(path).Node(context.Background())
	err = Proxy(path, "", strings.NewReader(""), io.Discard)
	if err == nil || here == nil || err.Error() != here.Error() {
		t.Errorf("%v, and here %v", err, here)
	}
}
