package testbed

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"photon/config"
	"photon/lab/nodecontrol"
	"photon/units"
)

// Testbed is testbed.yaml.
type Testbed struct {
	// SSH is how ssh is called; the machine and the command follow. Absent:
	// ssh -o BatchMode=yes.
	SSH    []string         `yaml:"ssh"`
	Photon string           `yaml:"photon"` // on other machines; photon
	Nodes  map[string]*Node `yaml:"nodes"`  // by the experiment's names
	// Response is how long nodes that are started here may take to act, for the
	// headroom: poll gaps on shared cores; 100us.
	Response config.Value[units.Time] `yaml:"response"`

	file       string
	answerTime time.Duration // how long nodes may take for an answer; 0: answerTime
}

// Node says where a node is.
type Node struct {
	// Started here: the devices of its links.
	Port  config.Value[string]            `yaml:"port"`  // of a host
	Links map[string]config.Value[string] `yaml:"links"` // by neighbour; of a switch. Of one that runs already: its ports' names
	Netns string                          `yaml:"netns"` // network namespace of this machine
	Delay bool                            `yaml:"delay"` // emulate the delays of the experiment's links: virtual devices only

	// Running already.
	Host    config.Value[string] `yaml:"ssh"`     // the machine, as ssh knows it; absent: this one
	Name    config.Value[string] `yaml:"name"`    // of the switch or agent
	Socket  config.Value[string] `yaml:"socket"`  // its path; absent: found by the name
	Command []string             `yaml:"command"` // that joins its standard input and output to the socket, instead of ssh
}

// Read reads and checks a file.
func Read(file string) (*Testbed, error) {
	b, err := config.ReadText(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, b)
}

// mostResponse is the longest that a switch takes for its `pfc: {response: ...}`.
const mostResponse = units.Second

// Parse is Read of a text that was read already; file is for errors and for names beside it.
func Parse(file string, b []byte) (*Testbed, error) {
	t := &Testbed{}
	if err := config.Decode(file, b, t); err != nil {
		return nil, err
	}
	t.file = file // an empty file leaves nothing in t
	if len(t.Nodes) == 0 {
		return nil, t.wrong(errors.New("a testbed needs nodes (`nodes: {H0: {ssh: host0, name: h0}}`)"))
	}
	if r := t.Response; r.IsSet() && (r.V < 0 || r.V > mostResponse) {
		return nil, t.wrong(at(r.Line,
			"response %v: how long nodes that are started here may take to act, 0 to %v", r.V, mostResponse))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Nodes)) {
		n := t.Nodes[name]
		if n == nil {
			return nil, t.wrong(fmt.Errorf("node %s says nothing of where it is", name))
		}
		if err := n.check(); err != nil {
			return nil, t.wrong(ofNode(name, err))
		}
	}
	return t, nil
}

// Covers implements nodecontrol.Testbed.
func (t *Testbed) Covers(nodes []nodecontrol.Spec) error {
	var missing []string
	for _, w := range nodes {
		if t.Nodes[w.Name] == nil {
			missing = append(missing, w.Name)
		}
	}
	if missing != nil {
		return t.wrong(fmt.Errorf("the experiment's nodes %s are nowhere (`nodes:` has %s)",
			strings.Join(missing, ", "), strings.Join(slices.Sorted(maps.Keys(t.Nodes)), ", ")))
	}
	for _, w := range nodes {
		if err := t.Nodes[w.Name].fits(w); err != nil {
			return t.wrong(ofNode(w.Name, err))
		}
	}
	return nil
}

// fits says how a node's devices and links are not those of the experiment's.
func (n *Node) fits(w nodecontrol.Spec) error {
	switch {
	case n.started() && !w.Switch && len(n.Links) > 0:
		return errors.New("it is a host, which has a `port:`, and no `links:`")
	case n.started() && !w.Switch && !n.Port.IsSet():
		return errors.New("it is a host, and has no `port:`")
	case n.started() && w.Switch && n.Port.IsSet():
		return errors.New("it is a switch, which has `links:`, and no `port:`")
	}
	for _, to := range slices.Sorted(maps.Keys(n.Links)) {
		if !slices.Contains(w.Neighbour, to) {
			return at(n.Links[to].Line, "links: it has none to %s in the experiment (%s)",
				to, strings.Join(w.Neighbour, ", "))
		}
	}
	for _, to := range w.Neighbour {
		if _, there := n.Links[to]; !there && len(n.Links) > 0 {
			return fmt.Errorf("links: that to %s is missing", to)
		}
	}
	return nil
}

// at is an error of a line.
func at(line int, format string, args ...any) error {
	return &config.Error{Line: line, Err: fmt.Errorf(format, args...)}
}

// located is an error as one that may have a line.
func located(err error) *config.Error {
	var e *config.Error
	if errors.As(err, &e) {
		return e
	}
	return &config.Error{Err: err}
}

// wrong is an error with the file's name.
func (t *Testbed) wrong(err error) error {
	e := located(err)
	return &config.Error{File: t.file, Line: e.Line, Err: e.Err}
}

// ofNode is a node's error.
func ofNode(name string, err error) error {
	e := located(err)
	return at(e.Line, "node %s: %w", name, e.Err)
}

// started reports whether the node is to be started here.
func (n *Node) started() bool {
	return !n.Host.IsSet() && !n.Name.IsSet() && !n.Socket.IsSet() && len(n.Command) == 0
}

func (n *Node) check() error {
	for i, v := range []config.Value[string]{n.Port, n.Name, n.Socket} {
		if v.IsSet() && v.V == "" {
			return at(v.Line, "%s: a value belongs here", []string{"port", "name", "socket"}[i])
		}
	}
	for _, to := range slices.Sorted(maps.Keys(n.Links)) {
		if v := n.Links[to]; v.V == "" {
			return at(v.Line, "links: %s: a device belongs here, or the port of a switch that runs", to)
		}
	}
	switch {
	case n.started() && !n.Port.IsSet() && len(n.Links) == 0:
		return errors.New("it has neither devices (`port:` of a host, `links:` of a switch) nor a place where it runs (`name:` or `socket:`, with `ssh:` elsewhere)")
	case n.started():
		return nil
	case n.Port.IsSet() || n.Netns != "" || n.Delay:
		return errors.New("it runs already (ssh, name, socket or command): port, netns and delay are for nodes that are started here")
	case len(n.Command) > 0 && (n.Host.IsSet() || n.Name.IsSet() || n.Socket.IsSet()):
		return errors.New("command stands instead of ssh, name and socket")
	case n.Host.IsSet() && (strings.HasPrefix(n.Host.V, "-") || n.Host.V == ""):
		return fmt.Errorf("ssh: %q is not the name of a machine", n.Host.V)
	}
	return nil
}

// command is what reaches a node that runs; nil: its socket on this machine does.
func (t *Testbed) command(n *Node) []string {
	if len(n.Command) > 0 {
		return n.Command
	}
	if !n.Host.IsSet() {
		return nil
	}
	c := t.SSH
	if len(c) == 0 {
		c = []string{"ssh", "-o", "BatchMode=yes"}
	}
	photon := t.Photon
	if photon == "" {
		photon = "photon"
	}
	c = append(slices.Clone(c), n.Host.V, photon, "admin-proxy")
	if n.Socket.IsSet() {
		return append(c, "--socket", n.Socket.V)
	}
	if n.Name.IsSet() {
		return append(c, "--name", n.Name.V)
	}
	return c
}
