package daemon

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"photon/agent"
	"photon/config"
	"photon/fabric"
	"photon/telemetry/node"
	"photon/units"
	"photon/wire"
)

// What an agent's configuration and its file of traffic say is ordered, all of it; what is wrong in either is an error,
// which names the file, and no empty order.
func TestConfiguredFlowsAreOrdered(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	orders := func(traffic string) ([]agent.Order, error) {
		t.Helper()
		write("traffic.yaml", traffic)
		conf, err := config.ReadAgent(write("agent.yaml", "ip: 10.9.0.1\nport: {device: net_null0, rate: 10Gbps}\n"+
			"flows: [{to: 10.9.0.3, qp: 7, size: 2KB}]\ntraffic: traffic.yaml\n"))
		if err != nil {
			t.Fatal(err)
		}
		return configuredOrders(conf)
	}
	list, err := orders(`
hosts: [10.9.0.1, 10.9.0.2]
flows:
- {name: late, from: 10.9.0.1, to: 10.9.0.2, start: 5ms, stop: 9ms, rate: 1Gbps, dscp: 34, begin: 2Gbps, weight: 3}
- {name: theirs, from: 10.9.0.2, to: 10.9.0.1, size: 1KB}
- {name: soon, from: 10.9.0.1, to: 10.9.0.2, size: 10KB}
`)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d flows: %v", len(list), err)
	}
	other, third := wire.IPv4(10, 9, 0, 2), wire.IPv4(10, 9, 0, 3)
	if f := list[0]; f.Peer != third || f.QP != 7 || f.Size != 2*units.KB || f.Group != "" {
		t.Errorf("of the configuration: %+v", f)
	}
	if f := list[1]; f.Peer != other || f.PeerMAC != config.MACFor(other) || f.Size != 10*units.KB ||
		f.Group != "soon" || f.Start != 0 {
		t.Errorf("the first of the file: %+v", f)
	}
	want := agent.Order{Group: "late", Stop: 9 * units.Millisecond, FlowSpec: agent.FlowSpec{
		Peer: other, PeerMAC: config.MACFor(other), DSCP: 34, Weight: 3,
		Start: 5 * units.Millisecond, Limit: units.Gbps, Begin: 2 * units.Gbps,
	}}
	if list[2] != want {
		t.Errorf("the last of the file: %+v\nnot %+v", list[2], want)
	}
	self := "flows: [{from: 10.9.0.1, to: 10.9.0.1, size: 1KB}]"
	for _, wrong := range []string{"", self, "flows: [{to: nobody}]", "flows: ["} {
		list, err := orders(wrong)
		var located *config.Error
		if !errors.As(err, &located) || filepath.Base(located.File) != "traffic.yaml" || list != nil {
			t.Errorf("%q: %d flows, %v", wrong, len(list), err)
		}
	}
}

// Each flow that ended is a row of the results, and of the log until there are too many at once: then one line has the
// rest. What was sent of a flow is what left the port.
func TestEndedFlowsAreReported(t *testing.T) {
	const refused = loggedAtOnce + 5
	o := sending(t, 0)
	w, h := o.d.world.(*still), o.d.host
	var log bytes.Buffer
	o.d.log = newLog(Options{Log: &log})
	file, err := os.Create(filepath.Join(t.TempDir(), "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if o.results, err = startResults(file); err != nil {
		t.Fatal(err)
	}
	flow := node.FlowOrder{To: wire.IPv4(10, 9, 0, 2), QP: 9, Size: units.GB}
	if _, err := o.Order(node.FlowOrders{Flows: []node.FlowOrder{flow}}); err != nil {
		t.Fatal(err)
	}
	flow.Start = units.Second // its queue pair may be free again by then, and is not
	for range refused {
		if _, err := o.Order(node.FlowOrders{Flows: []node.FlowOrder{flow}}); err != nil {
			t.Fatal(err)
		}
	}
	var out [1]fabric.Frame
	for h.DataSent() < 3000 { // it announces itself, too
		w.now = max(w.now, h.Next(w.now, 0))
		h.Transmit(w.now, 0, out[:])
	}
	s := o.List(0, 1).Flows[0]
	if s.WireBytes != h.DataSent() || s.Packets != 3 || s.State != "running" || s.Size != int64(units.GB) {
		t.Errorf("%d bytes left: %+v", h.DataSent(), s)
	}
	for range 2 {
		w.now += units.Second
		o.reportOnce()
	}
	text := log.String()
	n := strings.Count(text, "flow to 10.9.0.2, queue pair 9, was refused")
	if n != loggedAtOnce || strings.Count(text, "5 more flows ended") != 1 {
		t.Errorf("%d lines of refused flows:\n%s", n, text)
	}
	if err := o.results.close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file.Name())
	rows := strings.Count(string(b), "\n") - 1
	if n := strings.Count(string(b), ",refused,"); err != nil || n != refused || rows != refused {
		t.Errorf("%d rows of %d: %v\n%s", n, refused, err, b)
	}
}

// Of two orders at once that want the same queue pairs one is taken, all of it, and nothing of the other, however many
// flows they have.
func TestAnOrderIsTakenWholeOrNotAtAll(t *testing.T) {
	var many node.FlowOrders
	for qp := range flowsPerCall + 1 {
		many.Flows = append(many.Flows, node.FlowOrder{To: wire.IPv4(10, 9, 0, 2), QP: uint32(1 + qp)})
	}
	for range 5 {
		o := sending(t, 0)
		o.d.world = &passing{o.d.world.(*still)}
		var both sync.WaitGroup
		var count [2]int
		var why [2]error
		for i := range 2 {
			both.Go(func() {
				done, err := o.Order(many)
				count[i], why[i] = done.Count, err
			})
		}
		both.Wait()
		pending, running, _, _ := o.traffic.Counts()
		if (why[0] == nil) == (why[1] == nil) || count[0]+count[1] != len(many.Flows) || pending+running != len(many.Flows) {
			t.Fatalf("of %d flows each %d and %d are taken, %d are there: %v, %v",
				len(many.Flows), count[0], count[1], pending+running, why[0], why[1])
		}
	}
}

// A queue pair that is in use when a flow of an order begins has that flow refused, and no other, be it the last of
// many.
func TestALateFlowIsRefusedAlone(t *testing.T) {
	o := sending(t, 0)
	w := o.d.world.(*still)
	to := wire.IPv4(10, 9, 0, 2)
	list := []node.FlowOrder{{To: to, QP: 9, Size: units.GB}}
	for len(list) < flowsPerCall {
		list = append(list, node.FlowOrder{To: to, Size: units.KB})
	}
	list = append(list, node.FlowOrder{To: to, QP: 9, Size: units.KB, Start: 1})
	o.d.world = &passing{w}
	done, err := o.Order(node.FlowOrders{Flows: list})
	if err != nil || done.Count != len(list) {
		t.Errorf("%d of %d flows are taken: %v", done.Count, len(list), err)
	}
}

// passing is a world in which time passes from one look to the next, and others look meanwhile.
type passing struct{ *still }

func (w *passing) Do(f func(units.Time)) {
	w.still.Do(func(now units.Time) {
		f(now)
		w.now += units.Microsecond
	})
	time.Sleep(time.Millisecond)
}
