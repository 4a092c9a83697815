package client

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"photon/telemetry/node"
	"photon/telemetry/show"
)

// Of a node that is killed while it answers one line says which it was.
func TestNodeEndsWhileItAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(c, said)
		c.Close()
	}))
	s.Listener = l
	s.Start()
	defer s.Close()
	c, err := Dial(path, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	head := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	const block = "20\r\n\x06\x00\x00\x00\x20\x00\x00\x00 half"
	want := path + ": the answer broke off: the photon that gave it has ended"
	for _, said = range []string{"", head[:17], head, head + "9\r\n{\"sa", head + block} {
		for what, ask := range map[string]func() error{
			"live":    func() error { _, err := c.Live(ctx, 1); return err },
			"show":    func() error { _, _, err := c.Show(ctx, &show.Topics[0]); return err },
			"flows":   func() error { _, err := c.ListFlows(ctx, 0); return err },
			"reload":  func() error { _, err := c.Reload(ctx); return err },
			"port":    func() error { _, err := c.SetPort(ctx, "sw0", true); return err },
			"capture": func() error { _, err := c.Capture(ctx, "sw0", 64, 0, io.Discard, func() {}); return err },
		} {
			if strings.Contains(said, "half") && what != "capture" {
				continue // that is no JSON
			}
			if err := ask(); err == nil || err.Error() != want {
				t.Errorf("%s after %q: %v", what, said, err)
			}
		}
	}
}

// hung is a client of a node that takes questions and never answers.
func hung(t *testing.T) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c, err := Dial(path, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A node that takes a question and hangs has one line, too, that names it.
func TestNodeHangs(t *testing.T) {
	c := hung(t)
	path := c.path
	c.patience = time.Millisecond
	for what, ask := range map[string]func() error{
		"live":  func() error { _, err := c.Live(context.Background(), 1); return err },
		"show":  func() error { _, _, err := c.Show(context.Background(), &show.Topics[0]); return err },
		"list":  func() error { _, err := c.ListFlows(context.Background(), 0); return err },
		"stop":  func() error { _, err := c.StopFlows(context.Background(), []uint64{1}); return err },
		"clear": func() error { _, err := c.ClearWatermarks(context.Background(), ""); return err },
		"port":  func() error { _, err := c.SetPort(context.Background(), "sw0", true); return err },
		"capture": func() error {
			_, err := c.Capture(context.Background(), "sw0", 64, 0, io.Discard, func() { t.Error("a capture has begun") })
			return err
		},
	} {
		if err := ask(); err == nil || err.Error() != path+": no answer: that photon hangs, or was stopped" {
			t.Error(what, err)
		}
	}
}

// What may take a node long says that it waits, and ends, too: after a longer time, or at Ctrl-C.
func TestNodeHangsAtAnOrder(t *testing.T) {
	c := hung(t)
	orders := map[string]func(context.Context) error{
		"reload": func(ctx context.Context) error { _, err := c.Reload(ctx); return err },
		"add":    func(ctx context.Context) error { _, err := c.AddPort(ctx, "net_ring0", ""); return err },
		"remove": func(ctx context.Context) error { _, err := c.RemovePort(ctx, "sw0"); return err },
		"flows":  func(ctx context.Context) error { _, err := c.OrderFlows(ctx, node.FlowOrders{}); return err },
	}
	said := make(chan string, len(orders))
	c.Slow = func(line string) { said <- line }
	c.patience, c.longest = time.Millisecond, 2*time.Millisecond
	for what, order := range orders {
		want := c.path + ": no answer: that photon hangs, or was stopped; it may still do what it was asked to"
		if err := order(context.Background()); err == nil || err.Error() != want {
			t.Error(what, err)
		}
		want = c.path + ": no answer for 1ms; this waits for 2ms at most, or until Ctrl-C"
		if line := <-said; line != want {
			t.Errorf("%s: it says %q", what, line)
		}
	}
	c.longest = time.Hour
	for what, order := range orders {
		ctx, interrupt := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- order(ctx) }()
		<-said
		interrupt()
		want := c.path + ": context canceled; it may still do what it was asked to"
		if err := <-ended; err == nil || err.Error() != want {
			t.Error(what, err)
		}
	}
}
