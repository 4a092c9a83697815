package testbed

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"photon/config"
	"photon/lab/nodecontrol"
	"photon/telemetry/admin"
	"photon/telemetry/node"
	"photon/telemetry/show"
	"photon/units"
)

// beNode has the test's binary be the photon that a testbed starts.
const beNode = "PHOTON_TEST_NODE"

func TestMain(m *testing.M) {
	if os.Getenv(beNode) != "" {
		if err := beANode(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beANode answers at the socket that the file names, some time after it was started.
func beANode(file string) error {
	socket, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	time.Sleep(100 * time.Millisecond)
	a, err := admin.Listen(string(socket))
	if err != nil {
		return err
	}
	a.Testbed(stub{})
	a.Serve()
	<-stop
	return a.Close()
}

type stub struct{}

// leapt is how far the stub's clock was put on.
var leapt units.Time

func (stub) Info() node.Info {
	return node.Info{Name: "h0", Ports: []string{"eth0"}, Now: units.FromDuration(time.Since(began)) + leapt}
}

var began = time.Now()

// SetScheme puts the clock on.
func (stub) SetScheme(s node.Scheme) (err error) {
	leapt, err = units.ParseTime(s.Name)
	return err
}

func (stub) Recorded() node.Recording { return node.Recording{} }
func (stub) Watch(node.Watch) error {
	fmt.Fprintln(os.Stderr, "no memory")
	os.Exit(1)
	return nil
}

// start has a testbed start an agent, of which file makes the file.
func start(file func(socket string) string) (*nodecontrol.Running, error) {
	bed := &Testbed{Nodes: map[string]*Node{"H0": {Port: config.Set("net_af_packet0,iface=eth0")}}}
	return bed.Start(context.Background(), nodecontrol.Spec{
		Name: "H0", Neighbour: []string{"S0"},
		Config: func(_ []string, admin string, _ bool, _ units.Time) (string, error) { return file(admin), nil },
	})
}

// A node that is started opens its socket later than it starts.
func TestStartedNodeIsAwaited(t *testing.T) {
	t.Setenv(beNode, "1")
	n, err := start(func(socket string) string { return socket })
	if err != nil {
		t.Fatal(err)
	}
	if n.Info.Name != "h0" {
		t.Errorf("%+v", n.Info)
	}
	if err := n.Stop(); err != nil {
		t.Error(err)
	}
}

// A clock that goes as this machine's does not drift; one that went further, or stood, did by what it differs.
func TestClocksThatDrift(t *testing.T) {
	t.Setenv(beNode, "1")
	n, err := start(func(socket string) string { return socket })
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, c := range []struct {
		leap string
		want units.Time
	}{{"0s", 0}, {"1000s", 1000 * units.Second}, {"-50s", -50 * units.Second}, {"0s", 0}} {
		if err := n.SetScheme(ctx, node.Scheme{Name: c.leap}); err != nil {
			t.Fatal(err)
		}
		got, err := n.Drift(ctx)
		if most := n.Skew() + units.FromDuration(answerTime); err != nil || got < c.want-most || got > c.want+most ||
			(got == 0) != (c.want == 0) {
			t.Errorf("%s: %v, %v", c.leap, got, err)
		}
	}
	if err := n.Stop(); err != nil {
		t.Error(err)
	}
}

// One that ends instead has its own words in the error.
func TestStartedNodeEnds(t *testing.T) {
	t.Setenv(beNode, "1")
	_, err := start(func(string) string { return "/nowhere/a.sock" })
	const begin, end = "H0: it does not start: ", "/nowhere/a.sock: no such file or directory"
	if err == nil || !strings.HasPrefix(err.Error(), begin) || !strings.HasSuffix(err.Error(), end) {
		t.Error(err)
	}
}

// A node that ends during an experiment is known to have, with its own words.
func TestNodeEndsMeanwhile(t *testing.T) {
	t.Setenv(beNode, "1")
	n, err := start(func(socket string) string { return socket })
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Ended(); err != nil {
		t.Error(err)
	}
	if err := n.Watch(context.Background(), node.Watch{}); err == nil {
		t.Error("it does not end")
	}
	for range 2 { // it stays so
		for n.Ended() == nil {
			time.Sleep(time.Millisecond)
		}
		if err := n.Ended().Error(); err != "it has ended: no memory" {
			t.Error(err)
		}
	}
	if err := n.Stop(); err == nil || err.Error() != "H0: no memory" {
		t.Error(err)
	}
}

// A node that is reached, and never answers, does not keep the experiment for ever.
func TestNodeThatNeverAnswers(t *testing.T) {
	bed := &Testbed{Nodes: map[string]*Node{"H0": {Command: []string{"sleep", "1000"}}}, answerTime: time.Millisecond}
	_, err := bed.Start(context.Background(), nodecontrol.Spec{Name: "H0", Neighbour: []string{"S0"}})
	if err == nil || err.Error() != "H0: sleep 1000: no answer: that photon hangs, or was stopped" {
		t.Error(err)
	}
}

// What a command says that reaches nobody is the error, in its own words.
func TestNodeThatIsNotReached(t *testing.T) {
	bed := &Testbed{Nodes: map[string]*Node{"H0": {Command: []string{"sh", "-c", "echo no route >&2; exit 1"}}}}
	_, err := bed.Start(context.Background(), nodecontrol.Spec{Name: "H0", Neighbour: []string{"S0"}})
	if err == nil || err.Error() != "H0: sh -c echo no route >&2; exit 1: no route" {
		t.Error(err)
	}
}

// A node that somebody kills says nothing of it: its last words are of something else.
func TestNodeIsKilled(t *testing.T) {
	t.Setenv(beNode, "1")
	n, err := start(func(socket string) string { return socket })
	if err != nil {
		t.Fatal(err)
	}
	r := n.Control.(*running)
	if err := r.child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for n.Ended() == nil {
		time.Sleep(time.Millisecond)
	}
	if err := n.Ended(); err.Error() != "it has ended: signal 9 (killed)" {
		t.Error(err)
	}
	if err := n.Stop(); err == nil || err.Error() != "H0: signal 9 (killed)" {
		t.Error(err)
	}
}

// Behind an address are the ports at which the switch knows it; behind a prefix those of the next hops, as often as
// each is chosen, of which some are only asked for.
func TestHostPorts(t *testing.T) {
	addresses := &show.FDB{Entries: []show.FDBEntry{
		{MAC: "02:00:00:00:00:01", Ports: []string{"a"}}, {MAC: "02:00:00:00:00:02", Ports: []string{"b", "c"}},
	}}
	neighbours := &show.Neighbours{Neighbours: []show.Neighbour{
		{Address: "10.0.0.9", MAC: "02:00:00:00:00:01"}, {Address: "10.0.0.10"},
	}}
	routes := &show.Routes{Routes: []show.Route{
		{Prefix: "10.1.0.0/16", Via: []show.RouteVia{
			{MAC: "02:00:00:00:00:07", Port: "d", Weight: 2}, {Port: "e", Weight: 1},
		}},
		{Prefix: "10.2.0.0/16", Via: []show.RouteVia{{Address: "10.0.0.9", Weight: 1}}},
		{Prefix: "10.3.0.0/16", Via: []show.RouteVia{{Address: "10.0.0.10", Weight: 1}}},
		{Prefix: "10.4.0.0/16", Action: "prohibit"},
	}}
	want := map[string]string{
		"02:00:00:00:00:01": "a", "02:00:00:00:00:02": "b,c",
		"10.1.0.0/16": "d,d,e", "10.2.0.0/16": "a", "10.3.0.0/16": "", "10.4.0.0/16": "",
	}
	if got := hostPorts(addresses, neighbours, routes); !maps.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
