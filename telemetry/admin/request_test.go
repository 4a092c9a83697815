package admin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"photon/internal/sample"
	"photon/telemetry/node"
	"photon/telemetry/show"
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
	a.Show(sample.Source(false))
	a.Reload(func() ([]string, error) { reloads++; return []string{"xoff"}, nil })
	a.Captures(func(string, int) (Stream, func(), error) { return nil, nil, errors.New("there is no such port") })
	var flows asked
	a.Flows(&flows)
	a.Testbed(&flows)
	a.Live(sample.Source(true))
	for _, post := range []string{
		`/flows {"flows":[{"to":"10.0.0.2","size":1000}]}`, `/flows/stop {"ids":[1,2]}`, `/node/scheme {"name":"pcn","params":{"period":"1ms"}}`, `/node/watch {"every":1000000,"samples":3,"flows":[1]}`,
	} {
		path, body, _ := strings.Cut(post, " ")
		f.Add([]byte(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: photon\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)))
	}
	f.Add([]byte("GET /flows?after=-1 HTTP/1.1\r\nHost: photon\r\n\r\n"))
	for i := range show.Topics {
		f.Add([]byte("GET " + show.Topics[i].Path() + " HTTP/1.1\r\nHost: photon\r\n\r\n"))
	}
	f.Add([]byte("POST /reload HTTP/1.1\r\nHost: photon\r\n\r\n"))
	f.Add([]byte("GET /capture?port=sw0&snap=64 HTTP/1.1\r\nHost: photon\r\n\r\n"))
	f.Add([]byte("GET /capture?port=%zz&snap=-1 HTTP/1.0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(b)))
		if err != nil {
			return
		}
		before, ordered := reloads, flows
		w := httptest.NewRecorder()
		a.mux.ServeHTTP(w, r.WithContext(context.Background()))
		if reloads != before && (r.Method != http.MethodPost || r.URL.Path != "/reload") {
			t.Fatalf("%q reloads", b)
		}
		if flows.changes != ordered.changes && (r.Method != http.MethodPost || w.Code != http.StatusOK) {
			t.Fatalf("%q changes something, and is answered %d", b, w.Code)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%q is answered %q", b, w.Body)
		}
		if w.Code < 200 || w.Code > 599 {
			t.Fatalf("%q: status %d", b, w.Code)
		}
	})
}

// asked is an agent that does what it is asked to.
type asked struct{ changes int }

func (a *asked) Order(o node.FlowOrders) (node.FlowsOrdered, error) {
	a.changes++
	return node.FlowsOrdered{First: 1, Count: len(o.Flows)}, nil
}
func (a *asked) List(uint64, int) show.FlowList { return show.FlowList{Node: "h0"} }
func (a *asked) Stop(ids []uint64) (int, error) { a.changes++; return len(ids), nil }
func (a *asked) Info() node.Info                { return node.Info{Name: "h0"} }
func (a *asked) SetScheme(node.Scheme) error    { a.changes++; return nil }
func (a *asked) Watch(node.Watch) error         { a.changes++; return nil }
func (a *asked) Recorded() node.Recording       { return node.Recording{} }

// Where a list goes on is a number, or is refused.
func TestListGoesOnAfterANumber(t *testing.T) {
	a, err := Listen(filepath.Join(t.TempDir(), "photon.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.Flows(&asked{})
	for after, want := range map[string]int{"": 200, "?after=": 200, "?after=12": 200, "?after=abc": 409, "?after=-1": 409} {
		w := httptest.NewRecorder()
		a.mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/flows"+after, nil))
		if w.Code != want {
			t.Errorf("%q: %d %s", after, w.Code, w.Body)
		}
	}
}
