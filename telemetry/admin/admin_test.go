package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"photon/internal/httpd"
	"photon/internal/sample"
	"photon/telemetry"
	"photon/telemetry/client"
	"photon/telemetry/live"
	"photon/telemetry/show"
	"photon/telemetry/socket"
)

// serve answers for a source on a socket of its own.
func serve(t *testing.T, s *telemetry.Source) (*Server, *client.Client) {
	t.Helper()
	a, err := Listen(filepath.Join(t.TempDir(), "a.sock"))
	if err != nil {
		t.Fatal(err)
	}
	a.Show(s)
	a.Live(s)
	a.Serve()
	t.Cleanup(func() { a.Close() })
	c, err := client.Dial(a.Path(), "")
	if err != nil {
		t.Fatal(err)
	}
	return a, c
}

// Every topic goes over the socket and comes out as the table switches print.
func TestShow(t *testing.T) {
	_, c := serve(t, sample.Source(false))
	for name, lines := range map[string][]string{
		"pfc counters": {
			"Port Rx  PFC0  PFC1  PFC2  PFC3  PFC4  PFC5  PFC6  PFC7",
			"-------  ----  ----  ----  ----  ----  ----  ----  ----",
			"    sw0     0     0     0     5     0     0     0     0",
			"Port Tx  PFC0  PFC1  PFC2  PFC3  PFC4  PFC5  PFC6  PFC7",
			"    sw0     0     0     0     3     0     0     0     0",
		},
		"neighbours": {
			" Address         MacAddress  Port  VLAN      State  Waiting  Requests  Failures",
			"10.0.0.9  02:00:00:00:00:09   sw0     -  reachable        0         3         0",
			" fd00::9                  -     -    20     failed        0         4         1",
		},
		"queues": {
			"Port  TxQ  Counter/pkts  Counter/bytes  Drop/pkts  Occupancy/bytes",
			" sw0  UC0             0              0          9                0",
			" sw0  UC3             9              0          6             2000",
			"Port Watermark  UC0  UC1  UC2   UC3  UC4  UC5  UC6  UC7",
			"           sw0    0    0    0  5000    0    0    0    0",
		},
		"buffer": {
			"                 Pool   Size  Used  Watermark", "ingress_lossless_pool  520KB   6KB          -", "        headroom_pool   80KB   1KB        4KB", "          shared_pool  1.4MB    0B        9KB",
			"Ports and priorities may take 88KB of the headroom pool together: it is over-subscribed 1.1 times.", "Port Headroom watermark  PG0  PG1  PG2   PG3  PG4  PG5  PG6  PG7", "                    sw0    0    0    0  4000    0    0    0    0", " sw0  PG3  512KB  509KB      88KB      0",
			"A lossy queue drops beyond 1MB.",
			"Port Ingress/bytes  PG0  PG1  PG2   PG3  PG4  PG5  PG6  PG7", "               sw0    0    0    0  7000    0    0    0    0",
			"Port Watermark  PG0  PG1  PG2   PG3  PG4  PG5  PG6  PG7", "           sw0    0    0    0  9000    0    0    0    0",
			"Port  Lossy  Limit  Alpha  Limit now  Drop/pkts", " sw0    3KB    1MB    0.5      700KB          0", "Port  TxQ   Min  Alpha", " sw0  UC1  20KB   0.25",
		},
		"fdb": {
			"No.  Vlan         MacAddress  Port     Type  Age", "  1     -  02:00:00:00:00:01   sw0  Dynamic   7s", "  2     -  02:00:00:00:00:02   sw0   Static    -",
			"  3    10  02:00:00:00:00:03     -   Router    -", "Total number of entries 4",
		},
		"vlan": {
			"VLAN ID  Ports  Port Tagging  Addresses", "     10    sw0      untagged          1", "     20    sw0        tagged          0", "     30      -             -          0",
		},
		"routes": {
			"   Prefix            NextHop  Port  VLAN  Weight  Link", "0.0.0.0/0  02:00:00:00:00:01   sw0     -       1  down",
			"fd00::/64  02:00:00:00:00:01   sw0     -       1  down", "           02:00:00:00:00:02   sw0    20       3  down",
			"Router 02:00:00:00:00:03, addresses 10.0.0.1", "Total number of routes 2, packets routed 5",
		},
		"marking": {
			"Scheme: pcn", "Priorities: 0 3", "   period    5ms  configuration",
			"Port  TxQ   Kmin   Kmax  Pmax  ECN  Drop", " sw0  UC0  100KB  400KB   0.1   on    on",
			"Port  TxQ  WredDrop/pkts  EcnMarked/pkts  EcnMarked/bytes  Undetermined/pkts  CNM/pkts  CNP/pkts",
			" sw0  UC0              7               0                0                  0         0         0",
			" sw0  UC3              0               4                0                  0         0         0",
		},
		"pfcwd": {
			"Action  Detection time  Restoration time", "  drop           400ms                1s",
			"Queue   Status  Storm detected/restored  Storm time  TX OK/drop",
			"sw0:3  stormed                      2/1        1.5s         9/6",
		},
		"deadlocks": {"Queue       Status  Found  Bytes", "sw0:3  operational      0   2000"},
		"ports": {
			"Port     Device  Oper  Admin  Speed  Changes  RX/pkts  TX/pkts  Drop/pkts  Missed/pkts  Flow control",
			" sw0  net_null0    up     up    N/A        2       10        9         15            3    not needed",
		},
	} {
		topic, err := show.FindTopic(name)
		if err != nil {
			t.Fatal(err)
		}
		d, raw, err := c.Show(context.Background(), topic)
		if err != nil {
			t.Fatal(name, err)
		}
		var b strings.Builder
		d.Table(&b)
		for _, l := range lines {
			if !strings.Contains(b.String(), l+"\n") {
				t.Errorf("show %s lacks\n%s\nin\n%s", name, l, b.String())
			}
		}
		var loose map[string]any
		if err := json.Unmarshal(raw, &loose); err != nil || loose["node"] != "n1" {
			t.Errorf("show %s --json: %v\n%s", name, err, raw)
		}
		if regexp.MustCompile(`[0-9](B|bps)"`).Match(raw) {
			t.Errorf("show %s --json: a number is text\n%s", name, raw)
		}
	}
}

// What moves comes over the socket, flows with those that are allowed most first.
func TestLive(t *testing.T) {
	_, c := serve(t, sample.Source(false))
	d, err := c.Live(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if p := d.Ports[0]; d.Host || d.Now != 5 || p.Port != "sw0" || !p.Up || p.Rate != 10e9 || p.Queue[3] != 2000 || p.Full != [8]int64{1e6, 1e6, 1e6, 512e3, 1e6, 1e6, 1e6, 1e6} ||
		p.TxPausedNow != 1<<3 || p.RxPausedNow != 0 || p.Headroom[3] != 1000 || p.TxPaused[3] != 0.25 || p.Discards[3] != 6 || p.Lossless != 8 {
		t.Errorf("%+v", d)
	}
	_, c = serve(t, sample.Source(true))
	if d, err = c.Live(context.Background(), 3); err != nil {
		t.Fatal(err)
	}
	var qps []uint32
	for _, f := range d.Flows {
		qps = append(qps, f.QP)
	}
	if !d.Host || d.Active != 5 || !slices.Equal(qps, []uint32{3, 1, 4}) || d.Flows[1].Rate != 2e9 || d.Ports[0].Full[3] != 0 {
		t.Errorf("%+v", d)
	}
	if _, err := c.Live(context.Background(), live.MaxTop+1); err == nil || err.Error() != `"1001" flows: from 0 to 1000` {
		t.Error(err)
	}
	topic, err := show.FindTopic("flows")
	if err != nil {
		t.Fatal(err)
	}
	flows, _, err := c.Show(context.Background(), topic)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	flows.Table(&b)
	if !strings.Contains(b.String(), "10.0.0.2   3         3  200Gbps        8      8000         3\n") || !strings.Contains(b.String(), "Flows being sent: 5\n") {
		t.Error(b.String())
	}
}

// A host has counters of PFC and a port; the rest is refused in words.
func TestShowOfAHost(t *testing.T) {
	_, c := serve(t, sample.Source(true))
	for i := range show.Topics {
		_, _, err := c.Show(context.Background(), &show.Topics[i])
		if slices.Contains([]string{"pfc counters", "ports", "flows"}, show.Topics[i].Name) != (err == nil) {
			t.Errorf("%s: %v", show.Topics[i].Name, err)
		}
		if err != nil && err.Error() != fmt.Sprintf("an agent has no %s: ask a switch", show.Topics[i].Name) {
			t.Error(err)
		}
	}
	if _, err := show.FindTopic("weather"); err == nil || !strings.Contains(err.Error(), "pfc counters, pfc history, ports, queues") {
		t.Error(err)
	}
	if topic, err := show.FindTopic("pfc"); err != nil || topic.Name != "pfc counters" {
		t.Error(topic, err)
	}
}

// Only the owner may open it, at no time anybody else, whatever the umask.
func TestSocketIsTheOwners(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	a, _ := serve(t, sample.Source(false))
	info, err := os.Stat(a.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
}

func TestSocketThatIsThere(t *testing.T) {
	a, c := serve(t, sample.Source(false))
	if _, err := Listen(a.Path()); err == nil || !strings.HasSuffix(err.Error(), "another photon answers there") {
		t.Error("in use:", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(a.Path()); !os.IsNotExist(err) {
		t.Error("the socket stays:", err)
	}
	// One whose maker was killed is replaced.
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: a.Path(), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, _, err := c.Show(context.Background(), &show.Topics[0]); err == nil || !strings.HasSuffix(err.Error(), "the photon that made it has ended") {
		t.Error("stale:", err)
	}
	again, err := Listen(a.Path())
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	// What is no socket stays.
	if err := os.WriteFile(a.Path(), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(a.Path()); err == nil || !strings.HasSuffix(err.Error(), "there is something that is not a socket") {
		t.Error("a file:", err)
	}
	if _, err := Listen("/nowhere/a.sock"); err == nil || err.Error() != "admin socket /nowhere/a.sock: no such file or directory" {
		t.Error(err)
	}
}

// However many replace the socket that a killed photon has left at once, one of them gets it, and it is reached
// there: the others must not remove its socket as if it were the one that was left.
func TestOneReplacesTheSocket(t *testing.T) {
	for range 200 {
		path := filepath.Join(t.TempDir(), "a.sock")
		left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		left.SetUnlinkOnClose(false)
		left.Close()
		got, begin := make(chan *Server, 8), make(chan struct{})
		for range cap(got) {
			go func() {
				<-begin
				a, err := Listen(path)
				if err != nil && !errors.Is(err, ErrTaken) {
					t.Error(err)
				}
				got <- a
			}()
		}
		close(begin)
		n := 0
		for range cap(got) {
			if a := <-got; a != nil {
				n++
				defer a.Close()
			}
		}
		if n != 1 {
			t.Fatalf("%d photons have the socket", n)
		}
	}
}

// Without a path, the only photon there is is meant; of several, the one named.
func TestFindingTheSocket(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "photon")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old := socket.System
	socket.System = filepath.Join(t.TempDir(), "none")
	defer func() { socket.System = old }()
	if _, err := client.Dial("", ""); err == nil || !strings.HasPrefix(err.Error(), "no photon runs here") {
		t.Error(err)
	}
	for _, name := range []string{"a", "b"} {
		l, err := Listen(filepath.Join(dir, name+".sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c, err := client.Dial("", map[string]string{"a": "", "b": "b"}[name])
		if err != nil || c.Path() != l.Path() {
			t.Error(c, err)
		}
	}
	if _, err := client.Dial("", ""); err == nil || !strings.HasPrefix(err.Error(), "several photons run here") {
		t.Error(err)
	}
	// What a photon that was killed has left is passed over for one that answers, and named if there is no other.
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "0.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	if c, err := client.Dial("", "0"); err != nil || c.Path() != left.Addr().String() {
		t.Error(c, err)
	}
	if err := os.Rename(filepath.Join(dir, "b.sock"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if c, err := client.Dial("", ""); err != nil || c.Path() != filepath.Join(dir, "a.sock") {
		t.Error(c, err)
	}
	if err := os.MkdirAll(socket.System, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(left.Addr().String(), filepath.Join(socket.System, "a.sock")); err != nil {
		t.Fatal(err)
	}
	if c, err := client.Dial("", "a"); err != nil || c.Path() != filepath.Join(dir, "a.sock") {
		t.Error(c, err)
	}
	if _, err := client.Dial("", "c"); err == nil || !strings.HasPrefix(err.Error(), `no photon of the name "c" runs here`) {
		t.Error(err)
	}
}

// The default place is made; where that is not allowed, the user's own is taken.
func TestDefaultPlace(t *testing.T) {
	old := socket.System
	defer func() { socket.System = old }()
	socket.System = filepath.Join(t.TempDir(), "run", "photon")
	a, err := ListenDefault("sw")
	if err != nil || a.Path() != filepath.Join(socket.System, "sw.sock") {
		t.Fatal(a, err)
	}
	if info, err := os.Stat(socket.System); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the place of the sockets: %v, %v", info.Mode(), err)
	}
	a.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	socket.System = filepath.Join(file, "photon") // cannot be made
	own := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", own)
	if a, err = ListenDefault("sw"); err != nil || a.Path() != filepath.Join(own, "photon", "sw.sock") {
		t.Fatal(a, err)
	}
	a.Close()
	t.Setenv("XDG_RUNTIME_DIR", "")
	if _, err := ListenDefault("sw"); err == nil {
		t.Error("no place, no error")
	}
}

// Once the socket is closed nobody asks the node any more, not even who asked before
// and got no answer for longer than the socket waits.
func TestCloseWaitsForTheNode(t *testing.T) {
	asked, answer, answered := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := sample.Source(false)
	take := s.Snapshot
	s.Snapshot = func() telemetry.Snapshot {
		close(asked)
		<-answer
		close(answered)
		return take()
	}
	a, c := serve(t, s)
	go func() {
		_, _, _ = c.Show(t.Context(), &show.Topics[slices.IndexFunc(show.Topics[:], func(x show.Topic) bool { return x.Path() == "/show/queues" })])
	}()
	<-asked
	time.AfterFunc(httpd.Patience+200*time.Millisecond, func() { close(answer) })
	a.Close()
	select {
	case <-answered:
	default:
		t.Error("the node is still being asked")
	}
}
