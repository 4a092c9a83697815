package top

import (
	"context"
	"errors"
	"math"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"photon/telemetry"
	"photon/telemetry/live"
)

// after is a switch of two ports, or an agent, after so many seconds: priority 3
// of sw1 receives a full link of 10 Gbit/s in frames of 1000 bytes, and is paused
// for half of the time.
func after(seconds float64, host bool) *live.Node {
	frames := uint64(seconds * 10e9 / 8 / 1024)
	d := &live.Node{Node: "sw", Scheme: "pcn", Now: seconds, Host: host, Ports: []live.Port{{Port: "sw0", Up: true}, {Port: "sw1", Up: true}}}
	if host {
		d.Node, d.Ports = "h0", d.Ports[:1]
	}
	for i := range d.Ports {
		d.Ports[i].Lossless, d.Ports[i].Full[3] = 1<<3, 512_000
	}
	p := &d.Ports[len(d.Ports)-1]
	p.RxPackets[3], p.RxBytes[3], p.TxPaused[3], p.TxPausedNow = frames, 1000*frames, seconds/2, 1<<3
	p.Queue[3], p.Marked[3], p.Discards[0], p.RxPackets[0] = 256_000, frames/2, uint64(3*seconds), 1
	d.Poll = live.Poll{Longest: 0.0123, Bounds: []float64{1e-6, 1e-3, 1}, Gaps: []uint64{uint64(1e6 * seconds), uint64(seconds), 1, 0}}
	if host {
		d.Active = 3
		d.Flows = []telemetry.Flow{
			{Peer: "10.0.0.2", QP: 1, Rate: 4e9, Bytes: uint64(4e8 * seconds), Notified: uint64(20 * seconds)},
			{Peer: "10.0.0.2", QP: 2, Rate: 2e9, Bytes: uint64(5e8 * seconds)},
			{Peer: "10.0.0.3", QP: uint32(10 * seconds), Rate: 1e9}, // another each time
		}
	}
	return d
}

func TestCompare(t *testing.T) {
	v := Compare(after(10, false), after(12, false))
	r := v.Rows[8+3]
	if v.Span != 2 || r.Port != "sw1" || r.Priority != 3 || r.Rx < 9.999e9 || r.Rx > 10.001e9 || r.Tx != 0 || r.TxPaused != 0.5 || !r.TxPausedNow || r.RxPausedNow || r.Queue != 256_000 {
		t.Errorf("%+v", r)
	}
	if v.Rows[8].Discards != 3 || v.Poll.Longest != 0.0123 || v.Poll.P99 != 1e-6 || v.Poll.Worst != 1e-3 {
		t.Errorf("%+v %+v", v.Rows[8], v.Poll)
	}
	// A node that was started anew, or the first look.
	for _, before := range []float64{20, 12} {
		if v := Compare(after(before, false), after(12, false)); v.Rows[8+3].Rx != 0 || v.Rows[8+3].TxPaused != 0 || v.Rows[8+3].Queue != 256_000 {
			t.Errorf("%+v", v.Rows[8+3])
		}
	}
	other := after(12, false) // up for longer than the one before it was at the last look
	other.Began++
	if v := Compare(after(10, false), other); v.Rows[8+3].Rx != 0 || v.Span != 0 {
		t.Errorf("a restart is not seen: %+v", v.Rows[8+3])
	}
	v = Compare(after(10, true), after(12, true))
	if len(v.Flows) != 3 || v.Flows[0].Tx != 3.2e9 || v.Flows[0].CNPs != 20 || !v.Flows[1].known || v.Flows[2].known {
		t.Errorf("%+v", v.Flows)
	}
}

// Numbers have three digits, and no more than five characters, however large a counter is.
func TestNumbersOfAnySize(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.9996: "1.00", 9.995: "10.0", 999.4: "999", 999.6: "1.00k", 9.9949e14: "999T", 9.996e14: "1.00P",
		1.6e16: "16.0P", math.MaxUint64: "18.4E",
	} {
		if got := si(v); got != want {
			t.Errorf("%g is %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{
		0: "0", 12e-9: "12ns", 9.996e-7: "1us", 0.99961e-3: "1ms", 0.0123: "12.3ms", 0.9999: "1s", 2.5: "2.5s", 999.6: "1000s",
		86400: "86400s",
	} {
		if got := seconds(v); got != want {
			t.Errorf("%g s is %s, want %s", v, got, want)
		}
	}
}

func TestPrint(t *testing.T) {
	var b strings.Builder
	if err := Compare(after(10, false), after(12, false)).Print(&b, Options{Order: "rx"}); err != nil {
		t.Fatal(err)
	}
	want := `sw  switch, scheme pcn, up 12s, longest poll gap 12.3ms
rx 10.0Gbps tx 0bps  marks 610k/s  drops 3.00/s  poll gap p99 1us max 1ms

PORT        PR     RX      TX  QUEUE                 PAUSED         MARKS  DROPS
sw1         3*  10.0G       0  [|||||     ]   256kB        tx 50!    610k      0
sw0         3*      0       0  [          ]      0B                     0      0
sw1         0       0       0                                           0   3.00
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", &b, want)
	}
	b.Reset()
	if err := Compare(after(10, true), after(12, true)).Print(&b, Options{Order: "tx"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"h0  agent, scheme pcn, up 12s", "  flows 3  ",
		"10.0.0.2                               2     2.00G     4.00G         0    6.00GB\n" +
			"10.0.0.2                               1     4.00G     3.20G      20.0    4.80GB\n" +
			"10.0.0.3                             120     1.00G         -         -        0B\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if err := (&Options{Order: "colour"}).Check(); err == nil || !strings.Contains(err.Error(), "[port rx tx queue paused marks drops]") {
		t.Error(err)
	}
}

// A link that is down is a word where its rate would be, also where there are no colours.
func TestLinkDownIsSaid(t *testing.T) {
	before, now := after(10, false), after(12, false)
	now.Ports[0].Up = false
	var b strings.Builder
	if err := Compare(before, now).Print(&b, Options{Order: "port"}); err != nil {
		t.Fatal(err)
	}
	for port, want := range map[string]bool{"sw0": true, "sw1": false} {
		for _, line := range strings.Split(b.String(), "\n") {
			if words := strings.Fields(line); len(words) > 2 && words[0] == port && (words[2] == "down") != want {
				t.Errorf("%s: %s", port, line)
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.5: "0.50", 9.996: "10.0", 99.96: "100", 999.4: "999", 999.6: "1.00k", 1e9: "1.00G", 123456: "123k", 2e15: "2.00P"} {
		if got := si(v); got != want {
			t.Errorf("%v: %s, not %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0", 64e-9: "64ns", 1.5e-6: "1.5us", 0.0123: "12.3ms", 2: "2s"} {
		if got := seconds(v); got != want {
			t.Errorf("%v: %s, not %s", v, got, want)
		}
	}
	if got := clip("net_af_packet12", 11); got != "~f_packet12" {
		t.Error(got)
	}
}

// terminal is a screen of 80x24 with `photon top` on it.
type terminal struct {
	t      *testing.T
	screen vt10x.Terminal
	keys   *os.File
	ended  chan error
}

func open(t *testing.T, ask Ask) *terminal {
	t.Helper()
	return openUntil(context.Background(), t, ask)
}

// openUntil shows the view until a context ends, or the test.
func openUntil(ctx context.Context, t *testing.T, ask Ask) *terminal {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	keys, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(keys, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	s := &terminal{t: t, screen: vt10x.New(vt10x.WithSize(80, 24)), keys: keys, ended: make(chan error, 1)}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := keys.Read(b)
			if err != nil {
				return
			}
			_, _ = s.screen.Write(b[:n])
		}
	}()
	over := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-over // it reads keys until then
		keys.Close()
		tty.Close()
	})
	go func() {
		defer close(over)
		s.ended <- Run(ctx, ask, 20*time.Millisecond, Options{}, tea.WithInput(tty), tea.WithOutput(tty), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	}()
	return s
}

// lines is what the screen shows, without the spaces at the ends.
func (s *terminal) lines() (lines []string) {
	for line := range strings.Lines(s.screen.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}

// until waits until the screen is as it should be.
func (s *terminal) until(what string, ok func(lines []string) bool) {
	s.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if lines := s.lines(); len(lines) >= 24 && ok(lines) {
			return
		}
	}
	s.t.Fatalf("not on the screen: %s\n%s", what, s.screen)
}

func (s *terminal) press(keys string) {
	s.t.Helper()
	if _, err := s.keys.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// node is what is asked; a second passes between two looks.
type node struct {
	mu      sync.Mutex
	seconds float64
	host    bool
	err     error
}

func (n *node) ask(context.Context, int) (*live.Node, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seconds++
	if n.err != nil {
		return nil, n.err
	}
	return after(n.seconds, n.host), nil
}

func (n *node) polls() float64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seconds
}

// What is on a screen of 80x24, and what the keys do.
func TestKeys(t *testing.T) {
	n := &node{}
	s := open(t, n.ask)
	first := func(want string) func([]string) bool {
		return func(lines []string) bool { return strings.HasPrefix(lines[4], want) }
	}
	s.until("the table", func(lines []string) bool {
		return strings.HasPrefix(lines[0], "sw  switch, scheme pcn, up ") && strings.HasSuffix(lines[0], "every 20ms") && strings.HasPrefix(lines[1], "rx 10.0Gbps tx 0bps") &&
			lines[3] == "PORT        PR     RX      TX  QUEUE                 PAUSED         MARKS  DROPS" &&
			strings.HasPrefix(lines[4], "sw0         3*") && strings.HasPrefix(lines[5], "sw1         0") && strings.HasPrefix(lines[23], "q quit") &&
			lines[6] == "sw1         3*  10.0G       0  [|||||     ]   256kB        tx 50!    610k      0"
	})
	s.press("s")
	s.until("sorted by rx", first("sw1         3*  10.0G"))
	s.press("sssss")
	s.until("sorted by drops", first("sw1         0"))
	s.press("S")
	s.until("sorted by marks", first("sw1         3*"))
	s.press("r")
	s.until("reversed", first("sw0         3*"))
	s.press("r")
	s.press("a")
	s.until("all priorities", func(lines []string) bool { return strings.HasPrefix(lines[5], "sw0         0 ") })
	s.press("\x1b[6~") // page down: 16 lines fit
	s.press("a")
	s.until("scrolled back", first("sw1         3*"))
	s.press("?")
	s.until("help", func(lines []string) bool { return strings.HasPrefix(lines[3], "RX, TX    bits on the wire") })
	s.press("?")
	s.until("no help", first("sw1         3*"))

	s.press(" ")
	var still string
	s.until("frozen", func(lines []string) bool { still = lines[0]; return strings.HasSuffix(lines[0], "FROZEN") })
	looks := n.polls()
	s.until("looks while frozen", func([]string) bool { return n.polls() > looks+10 })
	if s.lines()[0] != still {
		t.Errorf("frozen, and yet %q becomes %q", still, s.lines()[0])
	}
	s.press("f")
	s.until("running again", func(lines []string) bool { return strings.HasSuffix(lines[0], "every 20ms") && lines[0] != still })

	n.mu.Lock()
	n.err = errors.New("nobody answers")
	n.mu.Unlock()
	s.until("why nothing moves", func(lines []string) bool {
		return lines[0] == "nobody answers" && strings.HasPrefix(lines[4], "sw1         3*")
	})
	n.mu.Lock()
	n.err = nil
	n.mu.Unlock()
	s.until("the node is back", func(lines []string) bool { return strings.HasSuffix(lines[0], "every 20ms") })

	s.press("q")
	select {
	case err := <-s.ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("q does not quit")
	}
}

// A node that hangs answers nothing, and the screen says so; when it goes on, so does the screen.
func TestNodeThatHangs(t *testing.T) {
	n := &node{}
	var hangs atomic.Bool
	s := open(t, func(ctx context.Context, flows int) (*live.Node, error) {
		if hangs.Load() {
			<-ctx.Done()
			return nil, errors.New("no answer")
		}
		return n.ask(ctx, flows)
	})
	s.until("the table", func(lines []string) bool { return strings.HasPrefix(lines[4], "sw0         3*") })
	hangs.Store(true)
	s.until("that it hangs", func(lines []string) bool {
		return lines[0] == "no answer" && strings.HasPrefix(lines[4], "sw0         3*")
	})
	hangs.Store(false)
	s.until("the node is back", func(lines []string) bool { return strings.HasSuffix(lines[0], "every 20ms") })
}

// A signal ends it as the key does, each time.
func TestSignalsEndIt(t *testing.T) {
	for i := range 20 {
		signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
		ctx, stop := signal.NotifyContext(context.Background(), signals...)
		s := openUntil(ctx, t, (&node{}).ask)
		s.until("the table", func(lines []string) bool { return strings.HasPrefix(lines[4], "sw0         3*") })
		if err := syscall.Kill(syscall.Getpid(), signals[i%2].(syscall.Signal)); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-s.ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%v does not end it", signals[i%2])
		}
		stop()
	}
}

// An agent's flows come below its port.
func TestAgentOnTheScreen(t *testing.T) {
	s := open(t, (&node{host: true}).ask)
	s.until("flows", func(lines []string) bool {
		return strings.HasPrefix(lines[0], "h0  agent, scheme pcn") && strings.HasPrefix(lines[7], "PEER") && strings.HasPrefix(lines[8], "10.0.0.2                               1     4.00G     3.20G      20.0")
	})
	s.press("ss")
	s.until("sorted by what they send", func(lines []string) bool {
		return strings.HasPrefix(lines[8], "10.0.0.2                               2")
	})
	s.press("\x03")
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}
