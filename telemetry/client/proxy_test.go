package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"photon/dataplane"
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
	return node.Info{Name: "S0", Switch: true, Stats: dataplane.Stats{Ports: make([]dataplane.PortStats, 32)}}
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
