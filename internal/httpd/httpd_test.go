package httpd

import (
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

func listen(t *testing.T, h http.HandlerFunc) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(l, h, nil)
	s.Serve()
	t.Cleanup(func() { s.Close() })
	return s
}

// A request that takes longer than the server's patience has ended when the server
// is closed.
func TestCloseWaits(t *testing.T) {
	begun, over := make(chan struct{}), atomic.Bool{}
	s := listen(t, func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		time.Sleep(100 * time.Millisecond)
		over.Store(true)
	})
	go func() {
		if r, err := http.Get("http://" + s.Address().String()); err == nil {
			r.Body.Close()
		}
	}()
	<-begun
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !over.Load() {
		t.Error("it is still being answered")
	}
}

// A request that was read before, and comes to its handler after, is not answered.
func TestNoneBeginsLater(t *testing.T) {
	asked := 0
	s := listen(t, func(w http.ResponseWriter, _ *http.Request) { asked++; _, _ = io.WriteString(w, "yes") })
	r, err := http.Get("http://" + s.Address().String())
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s.http.Handler.ServeHTTP(nil, nil)
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// One that never served lets its place go too.
func TestCloseWithoutServing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := New(l, http.NotFoundHandler(), nil).Close(); err != nil {
		t.Error(err)
	}
	if again, err := net.Listen("tcp", l.Addr().String()); err != nil {
		t.Error(err)
	} else {
		again.Close()
	}
}

// The callback gets each request that was answered, and how long that took.
func TestWatch(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "yes") }), nil)
	answered := make(chan string, 1)
	s.Watch(func(r *http.Request, took time.Duration) {
		if took < 0 {
			t.Error(took)
		}
		answered <- r.Method + " " + r.URL.String()
	})
	s.Serve()
	defer s.Close()
	r, err := http.Get("http://" + s.Address().String() + "/show/ports?x=1")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if got := <-answered; got != "GET /show/ports?x=1" {
		t.Error(got)
	}
}
