package page

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func site() *Site {
	return &Site{
		Title: "a <test>", Script: fstest.MapFS{"own.js": {Data: []byte("const own = 1;")}}, Order: []string{"own.js"},
		Answer: map[string]func(*http.Request) Answer{
			"/number": func(*http.Request) Answer { return Answer{Body: []byte("7")} },
			"/report/{of}": func(r *http.Request) Answer {
				return Answer{Type: "text/html", Body: []byte(r.PathValue("of")), Inline: true}
			},
		},
	}
}

// request asks the page, with headers as name and value.
func request(method, url string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, url, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	site().Handler().ServeHTTP(w, r)
	return w
}

func TestPageIsWhole(t *testing.T) {
	w := request("GET", "http://127.0.0.1:9470/")
	if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, "<title>a &lt;test&gt;</title>") || strings.Contains(body, "http://") || strings.Contains(body, "https://") {
		t.Errorf("%d %s", w.Code, body)
	}
	script := request("GET", "http://127.0.0.1:9470/page.js").Body.String()
	for _, part := range []string{"Leon Sorokin", "const uPlot = ", "class Chart", "const own = 1;"} {
		if !strings.Contains(script, part) {
			t.Errorf("the script lacks %s", part)
		}
	}
	if w := request("GET", "http://127.0.0.1:9470/page.css"); !strings.Contains(w.Body.String(), ".u-over") || !strings.Contains(w.Body.String(), "prefers-color-scheme: dark") || w.Header().Get("Content-Type") != "text/css; charset=utf-8" {
		t.Error("the style is not whole")
	}
	if w := request("GET", "http://127.0.0.1:9470/number"); w.Body.String() != "7" || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%v", w)
	}
}

// A page tells only, only those who asked for it by an address, and no other page.
func TestGuard(t *testing.T) {
	for _, c := range []struct {
		method, url string
		headers     []string
		want        int
	}{
		{"GET", "http://127.0.0.1:9470/number", nil, 200},
		{"HEAD", "http://127.0.0.1:9470/number", nil, 200},
		{"GET", "http://localhost:9470/number", nil, 200},
		{"GET", "http://localhost/number", nil, 200},
		{"GET", "http://[::1]:9470/number", nil, 200},
		{"GET", "http://10.1.2.3:9470/number", nil, 200},
		{"GET", "http://evil.example/number", nil, 403},
		{"GET", "http://evil.example:9470/", nil, 403},
		{"GET", "http://127.0.0.1.evil.example:9470/number", nil, 403},
		{"GET", "http://localhost.evil.example:9470/number", nil, 403},
		{"POST", "http://127.0.0.1:9470/number", nil, 405},
		{"PUT", "http://127.0.0.1:9470/", nil, 405},
		{"DELETE", "http://127.0.0.1:9470/number", nil, 405},
		{"OPTIONS", "http://127.0.0.1:9470/number", []string{"Origin", "http://evil.example", "Access-Control-Request-Method", "GET"}, 405},
		{"GET", "http://127.0.0.1:9470/number", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		{"GET", "http://127.0.0.1:9470/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200}, // a link to it
		{"GET", "http://127.0.0.1:9470/number", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"}, 200},
		{"GET", "http://127.0.0.1:9470/../page.go", nil, 404},
		{"GET", "http://127.0.0.1:9470/uplot/LICENSE", nil, 404},
	} {
		w := request(c.method, c.url, c.headers...)
		if w.Code != c.want && !(c.want == 404 && w.Code/100 == 3) {
			t.Errorf("%s %s %v: %d, not %d", c.method, c.url, c.headers, w.Code, c.want)
		}
		h := w.Header()
		if h.Get("Access-Control-Allow-Origin") != "" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" || h.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s %s: %v", c.method, c.url, h)
		}
		if c.want != 200 && strings.Contains(w.Body.String(), "7") {
			t.Errorf("%s %s: refused, and yet answered", c.method, c.url)
		}
	}
	if h := request("GET", "http://127.0.0.1:9470/report/x").Header().Get("Content-Security-Policy"); !strings.Contains(h, "script-src 'unsafe-inline'") || strings.Contains(h, "connect-src") {
		t.Errorf("a report's policy is %s", h)
	}
}

func TestServe(t *testing.T) {
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Serve(site())
	r, err := http.Get(s.URL() + "number")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if b, _ := io.ReadAll(r.Body); string(b) != "7" {
		t.Errorf("%s", b)
	}
	if _, err := Listen(strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), "/")); err == nil || !strings.HasPrefix(err.Error(), "live page: ") {
		t.Errorf("two at one address: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("it answers after it was closed")
	}
}
