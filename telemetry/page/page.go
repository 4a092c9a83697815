package page

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"photon/internal/httpd"
)

//go:embed page.html page.css page.js ground.js uplot
var files embed.FS

// Site is a page: what is asked for is its own or what all pages share.
type Site struct {
	Title  string
	Script fs.FS                                 // its *.js, run in this order after what pages share
	Order  []string                              // their names
	Answer map[string]func(*http.Request) Answer // by path, as in /live
}

// Answer is what a path gives.
type Answer struct {
	Type   string // of its content; empty: JSON
	Body   []byte
	Status int  // 0: 200
	Inline bool // a page that has its scripts and styles in itself, as reports have
}

// Server serves a page until it is closed.
type Server struct {
	server  *httpd.Server
	handler http.Handler
}

// Listen listens on an address that address.Check has let pass. Who asks waits until Serve.
func Listen(address string) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("live page: %w", err)
	}
	s := &Server{}
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) })
	s.server = httpd.New(l, answer, func(s *http.Server) { s.WriteTimeout, s.MaxHeaderBytes = 30*time.Second, 16<<10 })
	return s, nil
}

// Serve begins to answer.
func (s *Server) Serve(site *Site) {
	s.handler = site.Handler()
	s.server.Serve()
}

// URL is where the page is.
func (s *Server) URL() string { return "http://" + s.server.Address().String() + "/" }

// Close lets requests finish and stops listening.
func (s *Server) Close() error { return s.server.Close() }

// Handler answers for the page.
func (s *Site) Handler() http.Handler {
	mux := http.NewServeMux()
	static := func(path, kind string, body []byte) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { write(w, Answer{Type: kind, Body: body}) })
	}
	static("/{$}", "text/html; charset=utf-8", s.html())
	static("/page.css", "text/css; charset=utf-8", []byte(UPlotStyle()+text("page.css")))
	script := UPlot() + Ground() + text("page.js")
	for _, name := range s.Order {
		b, _ := fs.ReadFile(s.Script, name) // embedded, or the program does not build
		script += string(b)
	}
	static("/page.js", "text/javascript; charset=utf-8", []byte(script))
	for path, answer := range s.Answer {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { write(w, answer(r)) })
	}
	return guard(mux)
}

func (s *Site) html() []byte {
	var b strings.Builder
	t := template.Must(template.ParseFS(files, "page.html"))
	if err := t.Execute(&b, s); err != nil {
		panic(err) // of a template that is part of the program
	}
	return []byte(b.String())
}

// strict lets a page load what this server has, and nothing else. uPlot sets styles
// of its elements, which is no inline style to a browser.
const (
	strict = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	inline = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

func write(w http.ResponseWriter, a Answer) {
	h := w.Header()
	if a.Type == "" {
		a.Type = "application/json"
	}
	h.Set("Content-Type", a.Type)
	if a.Inline {
		h.Set("Content-Security-Policy", inline)
	}
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	_, _ = w.Write(a.Body) // who asked may have gone
}

// guard refuses requests from pages of other origins, and all that are not reads.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", strict)
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "this page is read-only", http.StatusMethodNotAllowed)
		case !byAddress(r.Host):
			http.Error(w, "ask for this page by an address or localhost, not by another name", http.StatusForbidden)
		case r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate":
			http.Error(w, "requests from pages of other origins are refused", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// byAddress reports whether a request names an address, or localhost: nobody's
// name server can make another's page come from there.
func byAddress(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if name == "localhost" {
		return true
	}
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil
}

// UPlot is uPlot, as a script, with its licence. It reads devicePixelRatio when it
// starts: charts have at least two pixels for each of the screen, so that they are
// sharp on paper. Its first line, a comment with its address, gives way to the
// licence: a page refers to nothing outside.
func UPlot() string {
	_, code, _ := strings.Cut(text("uplot/uPlot.iife.min.js"), "*/")
	return "'use strict';\n/* uPlot\n" + text("uplot/LICENSE") + "*/\n" +
		"const uPlot = (devicePixelRatio => {" + code + "\nreturn uPlot;})(Math.max(2, window.devicePixelRatio));\n"
}

// Ground tells scripts of the ground that a page is seen on.
func Ground() string { return text("ground.js") }

// UPlotStyle is its style sheet.
func UPlotStyle() string { return text("uplot/uPlot.min.css") }

// text of an embedded file, which is there or the program does not build.
func text(name string) string {
	b, _ := files.ReadFile(name)
	return string(b)
}
