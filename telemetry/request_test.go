package telemetry

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever is sent to the admin socket is answered, with JSON if it was
// understood; nothing is reloaded that was not asked for.
func FuzzAdminRequest(f *testing.F) {
	a, err := Listen(filepath.Join(f.TempDir(), "a.sock"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { a.Close() })
	reloads := 0
	a.Show(source(false))
	a.Reload(func() ([]string, error) { reloads++; return []string{"xoff"}, nil })
	a.Captures(func(string, int) (Stream, func(), error) { return nil, nil, errors.New("there is no such port") })
	for i := range Topics {
		f.Add([]byte("GET " + Topics[i].path() + " HTTP/1.1\r\nHost: photon\r\n\r\n"))
	}
	f.Add([]byte("POST /reload HTTP/1.1\r\nHost: photon\r\n\r\n"))
	f.Add([]byte("GET /capture?port=sw0&snap=64 HTTP/1.1\r\nHost: photon\r\n\r\n"))
	f.Add([]byte("GET /capture?port=%zz&snap=-1 HTTP/1.0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(b)))
		if err != nil {
			return
		}
		before := reloads
		w := httptest.NewRecorder()
		a.mux.ServeHTTP(w, r.WithContext(context.Background()))
		if reloads != before && (r.Method != http.MethodPost || r.URL.Path != "/reload") {
			t.Fatalf("%q reloads", b)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%q is answered %q", b, w.Body)
		}
		if w.Code < 200 || w.Code > 599 {
			t.Fatalf("%q: status %d", b, w.Code)
		}
	})
}
