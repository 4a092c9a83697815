// Package httpd has the HTTP server of a daemon's sockets: once it is closed nothing
// is being answered any more, so that what answers ask may be taken away.
package httpd

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Patience is how long requests may take to end by themselves when a server is
// closed, before their connections are.
const Patience = time.Second

// idle is for how long a connection without requests is kept: longer than between two scrapes. Each takes tens of KB
// of a daemon that runs for years.
const idle = 2 * time.Minute

// Server answers requests until it is closed. Handlers are to end soon after the
// context of their request has, which is what closing their connections does.
type Server struct {
	listener net.Listener
	http     http.Server

	mu     sync.Mutex // of closed
	closed bool
	all    sync.WaitGroup // requests that are being answered

	answered func(*http.Request, time.Duration) // nil: not called
}

// New returns a server for a listener, which it will close. set is for its limits.
func New(l net.Listener, h http.Handler, set func(*http.Server)) *Server {
	s := &Server{listener: l}
	s.http = http.Server{ReadHeaderTimeout: 10 * time.Second, IdleTimeout: idle}
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.begin() {
			defer s.all.Done()
			began := time.Now()
			h.ServeHTTP(w, r)
			if s.answered != nil {
				s.answered(r, time.Since(began))
			}
		}
	})
	if set != nil {
		set(&s.http)
	}
	return s
}

func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.all.Add(1)
	}
	return !s.closed
}

// Watch has each request reported when it was answered, with the time that took; call it before Serve.
func (s *Server) Watch(answered func(*http.Request, time.Duration)) { s.answered = answered }

// Serve begins to answer.
func (s *Server) Serve() { go func() { _ = s.http.Serve(s.listener) }() } // ends with Close

// Address is where it listens.
func (s *Server) Address() net.Addr { return s.listener.Addr() }

// Close lets requests finish for a while, ends the others, and returns when there are
// none.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	err := s.http.Shutdown(ctx)
	_ = s.listener.Close() // one that never served is not known to the server
	if ctx.Err() != nil {
		err = s.http.Close()
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.all.Wait()
	return err
}
