package metrics

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"photon/internal/httpd"
	"photon/telemetry"
)

// Server answers scrapes until it is closed.
type Server struct {
	server *httpd.Server
	mux    *http.ServeMux
}

// Listen listens on an address. Who asks waits until Serve.
func Listen(address string) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{mux: http.NewServeMux()}
	s.server = httpd.New(l, s.mux, nil)
	return s, nil
}

// Serve begins to answer. The source is asked at every scrape.
func (s *Server) Serve(version string, source *telemetry.Source, series Series) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(Collector(source, series, version), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := s.mux
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		source.Snapshot() // the workers answer
		fmt.Fprintln(w, "ok")
	})
	s.server.Serve()
}

// Profiles begins to answer for the runtime's profiles, and nothing else.
func (s *Server) Profiles() {
	s.mux.HandleFunc("/debug/pprof/", pprof.Index)
	s.mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	s.mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	s.mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	s.server.Serve()
}

// Watch has each request reported when it was answered; call it before Serve.
func (s *Server) Watch(answered func(*http.Request, time.Duration)) { s.server.Watch(answered) }

// Address is where the server listens.
func (s *Server) Address() string { return s.server.Address().String() }

// Close lets requests finish and stops listening.
func (s *Server) Close() error { return s.server.Close() }
