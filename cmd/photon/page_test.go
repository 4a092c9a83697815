package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// output collects what a process writes, for those who wait for a part of it.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *output) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(b)
}

func (h *output) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// served is a photon that serves a page of replays.
type served struct {
	t     *testing.T
	cmd   *exec.Cmd
	said  *output
	url   string
	ended chan error
}

// serveReplay starts a photon with --serve at a free port and returns when it has said where.
func serveReplay(ctx context.Context, t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{t: t, said: &output{}, ended: make(chan error, 1)}
	s.cmd = exec.CommandContext(ctx, os.Args[0], append(args, "--serve=127.0.0.1:0")...)
	s.cmd.Env = append(os.Environ(), beMain+"=1")
	s.cmd.Stdout, s.cmd.Stderr = s.said, s.said
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- s.cmd.Wait() }()
	where := regexp.MustCompile(`live page: (http://127\.0\.0\.1:\d+/)`)
	s.until("the page's address", func() bool {
		m := where.FindStringSubmatch(s.said.String())
		if m != nil {
			s.url = m[1]
		}
		return m != nil
	})
	return s
}

// until waits for something of the process that serves.
func (s *served) until(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-s.ended:
			s.ended <- err
			if ok() {
				return
			}
			s.t.Fatalf("%s: photon ended before that: %v\n%s", what, err, s.said)
		default:
		}
		if time.Now().After(end) {
			s.t.Fatalf("never: %s\n%s", what, s.said)
		}
	}
}

// stop is Ctrl-C, after which it must end as if nothing had been wrong.
func (s *served) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		s.t.Fatal(err)
	}
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Errorf("photon: %v\n%s", err, s.said)
		}
	case <-time.After(patience):
		s.t.Fatal("it does not end")
	}
}

func (s *served) get(path string) (status int, body string) {
	s.t.Helper()
	r, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.said)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// A replay with a page has the same result as without, is on the page while it
// runs, stays there after it, and ends at Ctrl-C.
func TestReplayServes(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	dir := t.TempDir()
	file := filepath.Join(dir, "many.yaml")
	if err := os.WriteFile(file, []byte(manyRuns), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, said := photon(ctx, nil, "run", file, "--out", filepath.Join(dir, "alone")); c.Run() != nil {
		t.Fatal(said)
	}
	s := serveReplay(ctx, t, "run", file, "--out", filepath.Join(dir, "shown"))
	type state struct {
		Part        float64
		Over        bool
		Experiments []struct{ Report string }
		Shown       struct {
			Runs []struct {
				Name, State  string
				Ended, Seeds int
				HasLines     bool `json:"seen"`
			}
		}
	}
	var last state
	s.until("the end, on the page", func() bool {
		_, body := s.get("state")
		last = state{}
		if err := json.Unmarshal([]byte(body), &last); err != nil {
			t.Fatal(err, body)
		}
		return last.Over
	})
	if last.Part < 0.999 || len(last.Shown.Runs) != 3 || last.Shown.Runs[0].Seeds != 8 || last.Shown.Runs[0].Ended != 8 || !last.Shown.Runs[0].HasLines || last.Shown.Runs[2].Name != "pcn otherwise" || last.Shown.Runs[2].Ended != 5 {
		t.Errorf("%+v", last)
	}
	s.until("where the page stays", func() bool { return strings.Contains(s.said.String(), "the page stays at "+s.url+" until Ctrl-C") })
	if status, body := s.get(last.Experiments[0].Report); status != 200 || !strings.Contains(body, "eight runs of two schemes") {
		t.Errorf("the report: %d", status)
	}
	s.stop()
	for _, name := range []string{"result.json", "pcn.csv", "dcqcn.csv"} {
		alone, err := os.ReadFile(filepath.Join(dir, "alone", "test-many", "sim", name))
		if err != nil {
			t.Fatal(err)
		}
		shown, err := os.ReadFile(filepath.Join(dir, "shown", "test-many", "sim", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(alone) != string(shown) {
			t.Errorf("%s differs where somebody looked", name)
		}
	}
}

// Ctrl-C ends a replay that is shown like any other, and --serve-for ends the page.
func TestReplayServesAndEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	file := filepath.Join(t.TempDir(), "hours.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(manyRuns, "repeat: 8", "repeat: 8000", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	s := serveReplay(ctx, t, "run", file, "--out", t.TempDir())
	s.until("a run", func() bool { _, body := s.get("state"); return strings.Contains(body, `"state":"runs"`) })
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := <-s.ended; err == nil || !strings.Contains(s.said.String(), "interrupted: ") {
		t.Errorf("%v\n%s", err, s.said)
	}
	s = serveReplay(ctx, t, "replay", "pcn/fig11", "--schemes", "pcn", "--quick", "--out", t.TempDir(), "--serve-for", "1ms")
	if err := <-s.ended; err != nil || !strings.Contains(s.said.String(), "report: ") {
		t.Errorf("%v\n%s", err, s.said)
	}
}

func TestServeFlags(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for args, want := range map[string]string{
		"--serve=0.0.0.0:9470":             "--serve: 0.0.0.0:9470 is not a loopback address: whoever reaches it could look (--serve-remote allows that)",
		"--serve=9470":                     `--serve: "9470" is not an address (write it like 127.0.0.1:9470; port 0 takes any that is free)`,
		"--serve 127.0.0.1:9470":           `"127.0.0.1:9470" is no experiment; to serve the page there, write --serve=127.0.0.1:9470`,
		"--serve-for 1s":                   "--serve-remote and --serve-for go with --serve",
		"--serve --serve-for=-1s":          "--serve-for -1s must not be negative",
		"--serve-remote":                   "--serve-remote and --serve-for go with --serve",
		"--serve=" + taken.Addr().String(): fmt.Sprintf("live page: listen tcp %v: bind: address already in use (--serve=127.0.0.1:0 takes any port that is free)", taken.Addr()),
	} {
		root := newRoot()
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		root.SetArgs(append([]string{"replay", "pcn/fig11", "--out", t.TempDir()}, strings.Fields(args)...))
		if err := root.Execute(); err == nil || err.Error() != want {
			t.Errorf("%s: %v", args, err)
		} else if _, ok := err.(badInput); !ok {
			t.Errorf("%s: not the user's to mend", args)
		}
	}
}
