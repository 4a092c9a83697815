//go:build dpdk

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/wire"
)

// process is photon running in a namespace.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	log    *watched
	ended  chan error
	inside *testnet.Namespace
}

// watched collects what a process prints and tells when a text appears.
type watched struct {
	mu    sync.Mutex
	all   bytes.Buffer
	wait  string
	found chan struct{}
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all.Write(b)
	if w.wait != "" && strings.Contains(w.all.String(), w.wait) {
		w.wait = ""
		close(w.found)
	}
	return len(b), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

// start runs photon until the test ends, and waits until it serves.
func start(t *testing.T, n *testnet.Namespace, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return startCommand(t, n, alone(t, n, append([]string{self}, args...)...))
}

// alone is a command in a namespace whose folder for sockets is its own: no other photon
// of this machine, another test's among them, has its name there.
func alone(t *testing.T, n *testnet.Namespace, command ...string) *exec.Cmd {
	t.Helper()
	if err := os.MkdirAll("/run/photon", 0o700); err != nil {
		t.Fatal(err)
	}
	return n.Command("sh", append([]string{"-c", `mount -t tmpfs photon /run/photon && exec "$@"`, "sh"}, command...)...)
}

// startCommand is start with a command of the test's own, which becomes photon.
func startCommand(t *testing.T, n *testnet.Namespace, c *exec.Cmd) *process {
	t.Helper()
	p := launch(t, n, c)
	p.serves()
	return p
}

// launch is startCommand without waiting.
func launch(t *testing.T, n *testnet.Namespace, c *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: c, log: &watched{wait: " runs\n", found: make(chan struct{})}, ended: make(chan error, 1), inside: n}
	p.cmd.Env = append(append(os.Environ(), beMain+"=1"), c.Env...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() { p.stop() })
	return p
}

// serves waits until photon does.
func (p *process) serves() {
	p.t.Helper()
	select {
	case <-p.log.found:
	case err := <-p.ended:
		p.ended <- err
		p.t.Fatalf("%s ended: %v\n%s", strings.Join(p.cmd.Args, " "), err, p.log)
	case <-time.After(patience):
		p.t.Fatalf("%s does not serve\n%s", strings.Join(p.cmd.Args, " "), p.log)
	}
}

// stop ends photon as an operator would; it must account for every frame.
func (p *process) stop() {
	p.t.Helper()
	if p.ended == nil {
		return
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Errorf("%v\n%s", err, p.log)
	}
	select {
	case err := <-p.ended:
		if err != nil {
			p.t.Errorf("photon: %v\n%s", err, p.log)
		}
	case <-time.After(patience):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT) // so that the log says where it stands
		select {
		case <-p.ended:
		case <-time.After(20 * time.Second):
			_ = p.cmd.Process.Kill()
		}
		p.t.Errorf("photon does not stop\n%s", p.log)
	}
	p.ended = nil
}

// metrics scrapes photon and returns its samples by name and labels.
func (p *process) metrics() map[string]float64 {
	p.t.Helper()
	r, err := p.inside.Client().Get("http://127.0.0.1:9464/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	m := map[string]float64{}
	for line := range strings.Lines(string(body)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil && !strings.HasPrefix(line, "#") {
			m[name] = v
		}
	}
	return m
}

// sum adds up the samples of a metric whose labels contain all of some texts.
func sum(m map[string]float64, name string, labels ...string) (total float64) {
	for k, v := range m {
		ok := k == name || strings.HasPrefix(k, name+"{")
		for _, l := range labels {
			ok = ok && strings.Contains(k, l)
		}
		if ok {
			total += v
		}
	}
	return total
}

// fourHosts is four hosts on a switch: namespaces h0..h3 with eth0, joined to sw0..sw3.
type fourHosts struct {
	hosts [4]*testnet.Namespace
	sw    *testnet.Namespace
}

func newFourHosts(t *testing.T) *fourHosts {
	l := &fourHosts{sw: testnet.New(t, "sw")}
	for i := range l.hosts {
		l.hosts[i] = testnet.New(t, fmt.Sprintf("h%d", i))
		testnet.Veth(t, l.hosts[i], "eth0", l.sw, fmt.Sprintf("sw%d", i))
	}
	return l
}

// ports are the arguments that make sw0..sw3 ports of a switch.
func ports() (args []string) {
	for i := range 4 {
		args = append(args, "--port", fmt.Sprintf("net_af_packet%d,iface=sw%d", i, i))
	}
	return args
}

func mac(host int) wire.MAC { return 0x0200_0A09_0001 + wire.MAC(host) }

// udp is a UDP frame from one test host to another, ECN-capable, of a length without FCS.
func udp(from, to int, dscp uint8, length int, number uint32) []byte {
	b := make([]byte, length)
	r := wire.RoCE{DstMAC: mac(to), SrcMAC: mac(from), Src: wire.IPv4(10, 9, 0, byte(from+1)), Dst: wire.IPv4(10, 9, 0, byte(to+1)), TOS: dscp<<2 | wire.ECT0, SrcPort: 4000}
	at := r.Encode(b, length-42)
	b[36], b[37] = 0x30, 0x39 // not RoCE: port 12345
	b[at], b[at+1], b[at+2], b[at+3] = byte(number>>24), byte(number>>16), byte(number>>8), byte(number)
	return b
}

// isUDP tells the frames of udp with a DSCP from all others.
func isUDP(dscp uint8) func([]byte) bool {
	return func(b []byte) bool {
		var h wire.Header
		return wire.Parse(b, &h) && h.DstPort == 12345 && h.TOS>>2 == dscp
	}
}
