package testbed

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"photon/lab/nodecontrol"
	"photon/telemetry/client"
	"photon/telemetry/node"
	"photon/telemetry/show"
	"photon/units"
)

// running is a node at work.
type running struct {
	*client.Client
	nodecontrol.Running // that the experiment knows, and which asks this one

	offset units.Time // the node's clock less this machine's
	skew   units.Time // at most so wrong
	child  *exec.Cmd
	log    lockedBuffer
	ended  chan error
	dir    string

	answerTime time.Duration // how long it may take for an answer
}

// lockedBuffer collects what a child prints.
type lockedBuffer struct {
	sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.Write(p)
}

// tail is the last line that was printed.
func (b *lockedBuffer) tail() string {
	b.Lock()
	defer b.Unlock()
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	return lines[len(lines)-1]
}

const (
	// patience is how long a node may take to start, and to be found.
	patience = 30 * time.Second
	// answerTime is how long a node may take to answer, over ssh on a busy machine, and fetchTime for what it has
	// recorded, which may be hundreds of megabytes.
	answerTime = 30 * time.Second
	fetchTime  = 10 * answerTime
	// asked is how often a node's clock is asked for.
	asked = 9
)

// Start starts a node with its scheme, or reaches one that runs.
func (t *Testbed) Start(ctx context.Context, w nodecontrol.Spec) (of *nodecontrol.Running, err error) {
	n := t.Nodes[w.Name]
	if n == nil {
		return nil, t.wrong(fmt.Errorf("the experiment has a node %s, and the testbed does not", w.Name))
	}
	r := &running{
		Running: nodecontrol.Running{Spec: w}, ended: make(chan error, 1), answerTime: cmp.Or(t.answerTime, answerTime),
	}
	r.Control = r
	defer func() {
		if err != nil {
			_ = r.Stop() // err says more
			err = fmt.Errorf("%s: %w", w.Name, err)
		}
	}()
	if n.started() {
		err = t.startChild(ctx, n, r)
	} else {
		err = t.reach(ctx, n, r)
	}
	if err != nil {
		return nil, err
	}
	if r.Info.Switch != w.Switch {
		return nil, errors.New("it should be " + kind(w.Switch) + ", and is " + kind(r.Info.Switch))
	}
	r.offset, r.skew, err = r.compareClocks(ctx)
	return &r.Running, err
}

func kind(isSwitch bool) string {
	if isSwitch {
		return "a switch"
	}
	return "an agent"
}

// reach connects to a node that runs.
func (t *Testbed) reach(ctx context.Context, n *Node, r *running) (err error) {
	if c := t.command(n); c != nil {
		r.Client = client.DialCommand(c)
	} else if r.Client, err = client.Dial(n.Socket.V, n.Name.V); err != nil {
		return err
	}
	if r.Info, err = r.Node(ctx); err != nil {
		return err
	}
	r.Port, err = ports(n, r)
	return err
}

// Node implements nodecontrol.Control.
func (r *running) Node(ctx context.Context) (node.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, r.answerTime)
	defer cancel()
	return r.Client.Node(ctx)
}

// SetScheme implements nodecontrol.Control. The file of a node that was started here names the scheme, but it says
// nothing of the experiment's network, and an agent that goes by a file refuses notifications that come too soon.
func (r *running) SetScheme(ctx context.Context, s node.Scheme) error {
	ctx, cancel := context.WithTimeout(ctx, r.answerTime)
	defer cancel()
	return r.Client.SetScheme(ctx, s)
}

// OrderFlows implements nodecontrol.Control.
func (r *running) OrderFlows(ctx context.Context, o node.FlowOrders) (node.FlowsOrdered, error) {
	ctx, cancel := context.WithTimeout(ctx, r.answerTime)
	defer cancel()
	return r.Client.OrderFlows(ctx, o)
}

// Watch implements nodecontrol.Control.
func (r *running) Watch(ctx context.Context, w node.Watch) error {
	ctx, cancel := context.WithTimeout(ctx, r.answerTime)
	defer cancel()
	return r.Client.Watch(ctx, w)
}

// Recorded implements nodecontrol.Control.
func (r *running) Recorded(ctx context.Context) (node.Recording, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	return r.Client.Recorded(ctx)
}

// ports finds the node's ports for the experiment's: by the names in links, else
// in the same order.
func ports(n *Node, r *running) (list []int, err error) {
	for i, neighbour := range r.Neighbour {
		name, named := n.Links[neighbour]
		at := i
		if named {
			at = -1
			for k, p := range r.Info.Ports {
				if p == name.V {
					at = k
				}
			}
		}
		if at < 0 || at >= len(r.Info.Ports) || !named && len(n.Links) > 0 {
			return nil, fmt.Errorf("which port leads to %s? (`links: {%s: PORT}`; it has %s)", neighbour, neighbour, strings.Join(r.Info.Ports, ", "))
		}
		list = append(list, at)
	}
	return list, nil
}

// startChild starts a photon of its own.
func (t *Testbed) startChild(ctx context.Context, n *Node, r *running) (err error) {
	devices := []string{n.Port.V}
	if r.Switch {
		devices = nil
		for _, neighbour := range r.Neighbour {
			devices = append(devices, n.Links[neighbour].V)
		}
	}
	for i, d := range devices {
		if d == "" {
			return fmt.Errorf("which device leads to %s? (`links:` of a switch, `port:` of a host)", r.Neighbour[i])
		}
		r.Port = append(r.Port, i)
	}
	if r.dir, err = os.MkdirTemp("", "photon-testbed"); err != nil {
		return err
	}
	file, socket := filepath.Join(r.dir, r.Name+".yaml"), filepath.Join(r.dir, "admin.sock")
	text, err := r.Config(devices, socket, n.Delay, t.Response.Or(100*units.Microsecond))
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{self, map[bool]string{true: "switch", false: "agent"}[r.Switch], "-c", file}
	if n.Netns != "" {
		args = append([]string{"ip", "netns", "exec", n.Netns}, args...)
	}
	r.child = exec.Command(args[0], args[1:]...)
	r.child.Stdout, r.child.Stderr = &r.log, &r.log
	r.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := r.child.Start(); err != nil {
		return err
	}
	go func() { r.ended <- r.child.Wait() }()
	r.Client = client.At(socket)
	for deadline := time.Now().Add(patience); ; {
		if r.Info, err = r.Node(ctx); err == nil {
			return nil
		}
		select {
		case failed := <-r.ended:
			r.ended <- failed
			return fmt.Errorf("it does not start: %s", r.words(failed))
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it does not answer after %v: %s", patience, r.log.tail())
		}
	}
}

// compareClocks finds out how much more the node's clock shows than this machine's, and how wrong that is at most.
func (r *running) compareClocks(ctx context.Context) (offset, skew units.Time, err error) {
	skew = units.Never
	for range asked {
		before := nodecontrol.Now()
		info, err := r.Node(ctx)
		if err != nil {
			return 0, 0, err
		}
		after := nodecontrol.Now()
		if half := (after - before) / 2; half < skew {
			offset, skew = info.Now-(before+half), half
		}
	}
	return offset, skew, nil
}

// Drift implements nodecontrol.Control.
func (r *running) Drift(ctx context.Context) (units.Time, error) {
	offset, skew, err := r.compareClocks(ctx)
	if moved := offset - r.offset; err == nil && (moved > skew+r.skew || moved < -skew-r.skew) {
		return moved, nil
	}
	return 0, err
}

// HostPorts implements nodecontrol.Control.
func (r *running) HostPorts(ctx context.Context) (map[string]string, error) {
	var documents []show.Document
	for _, name := range []string{"fdb", "neighbours", "routes"} {
		topic, err := show.FindTopic(name)
		if err != nil {
			return nil, err
		}
		d, _, err := r.Show(ctx, topic)
		if err != nil {
			return nil, err
		}
		documents = append(documents, d)
	}
	return hostPorts(documents[0].(*show.FDB), documents[1].(*show.Neighbours), documents[2].(*show.Routes)), nil
}

// hostPorts are the ports behind addresses, and those of a route's next hops as often as each is chosen. A next hop
// that may be at any port of its VLAN is where its Ethernet address is.
func hostPorts(addresses *show.FDB, neighbours *show.Neighbours, routes *show.Routes) map[string]string {
	where, asked := map[string]string{}, map[string]string{}
	for _, entry := range addresses.Entries {
		where[entry.MAC] = strings.Join(entry.Ports, ",")
	}
	for _, n := range neighbours.Neighbours {
		asked[n.Address] = n.MAC
	}
	for _, route := range routes.Routes {
		var ports []string
		for _, via := range route.Via {
			port := cmp.Or(via.Port, where[cmp.Or(via.MAC, asked[via.Address])])
			ports = append(ports, slices.Repeat([]string{port}, via.Weight)...)
		}
		where[route.Prefix] = strings.Join(ports, ",")
	}
	return where
}

// Flows implements nodecontrol.Control.
func (r *running) Flows(ctx context.Context, after uint64) (f nodecontrol.Flows, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	all, err := r.ListFlows(ctx, after)
	if err != nil {
		return f, err
	}
	f.Open = all.Running + all.Pending
	for _, s := range all.Flows {
		f.List = append(f.List, nodecontrol.Flow{
			ID: s.ID, State: s.State, Why: s.Why, End: s.End,
			Packets: s.Packets, WireBytes: s.WireBytes, Notified: s.Notified,
		})
	}
	return f, nil
}

// At is the node's time at a time of this machine.
func (r *running) At(here units.Time) units.Time { return here + r.offset }

// Skew bounds how wrong At is.
func (r *running) Skew() units.Time { return r.skew }

// words are why a node that was started here has ended: what it said last, or the signal that ended it, of which it
// could say nothing.
func (r *running) words(failed error) string {
	var exit *exec.ExitError
	if errors.As(failed, &exit) {
		if status, is := exit.Sys().(syscall.WaitStatus); is && status.Signaled() {
			return fmt.Sprintf("signal %d (%v)", status.Signal(), status.Signal())
		}
	}
	return r.log.tail()
}

// Ended implements nodecontrol.Control.
func (r *running) Ended() error {
	select {
	case failed := <-r.ended:
		r.ended <- failed
		return fmt.Errorf("it has ended: %s", r.words(failed))
	default:
		return nil
	}
}

// Stop lets go of the node; one that was started here ends. The error is of a
// node that does not account for its frames.
func (r *running) Stop() error {
	if r.Client != nil {
		r.Close()
	}
	if r.dir != "" {
		defer os.RemoveAll(r.dir)
	}
	if r.child == nil || r.child.Process == nil {
		return nil
	}
	_ = r.child.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-r.ended:
		if err != nil {
			return fmt.Errorf("%s: %s", r.Name, r.words(err))
		}
		return nil
	case <-time.After(patience):
		_ = r.child.Process.Kill()
		<-r.ended
		return fmt.Errorf("%s does not stop", r.Name)
	}
}
