package live

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"photon/internal/sample"
	"photon/telemetry"
)

// The page's document has what moves, of switch and agent; the node is asked when
// somebody looks, and once for many who do.
func TestLivePage(t *testing.T) {
	every := liveEvery
	defer func() { liveEvery = every }()
	for _, host := range []bool{false, true} {
		var asked atomic.Int32
		of := sample.Source(host)
		take := of.Snapshot
		of.Snapshot = func() telemetry.Snapshot { asked.Add(1); return take() }
		liveEvery = time.Hour
		h := Page("n1", of).Handler()
		look := func(path string) string {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1:9471"+path, nil))
			if w.Code != http.StatusOK {
				t.Fatalf("%s: %d", path, w.Code)
			}
			return w.Body.String()
		}
		sample.Contains(t, look("/"), "<title>n1 – photon</title>")
		sample.Contains(t, look("/page.js"), "function compare(was, is)")
		if n := asked.Load(); n != 0 {
			t.Errorf("the node was asked %d times before anybody looked", n)
		}
		text := look("/live")
		for range 10 {
			if look("/live") != text {
				t.Error("two who look see different things")
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("the node was asked %d times for many who look", n)
		}
		liveEvery = 0
		look("/live")
		if n := asked.Load(); n != 2 {
			t.Errorf("the node was asked %d times, and not anew", n)
		}
		var d Node
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		p := d.Ports[0]
		if d.Node != "n1" || d.Host != host || d.Scheme != "pcn" || d.Now != 5 || p.RxPackets[3] != 10 || p.TxPFC[3] != 3 || p.RxPFC[3] != 5 || p.TxPausedNow != 8 || p.TxPaused[3] != 0.25 {
			t.Errorf("%s", text)
		}
		if host && (d.Sent != 7 || len(d.Flows) != 5 || d.Watchdog != "") {
			t.Errorf("agent: %s", text)
		}
		if !host && (d.Watchdog != "drop" || p.Storm != 8 || p.Storms[3] != 2 || d.Response != 0.01 || p.Full[3] != 512000 || p.Headroom[3] != 1000) {
			t.Errorf("switch: %s", text)
		}
	}
}

// A queue is as full as its own port says: a port without lossless priorities drops where its queues are full.
func TestLosslessOfPort(t *testing.T) {
	of := sample.Busiest(false, 2, 0)
	take := of.Snapshot
	of.Snapshot = func() telemetry.Snapshot {
		s := take()
		s.Buffer.PFC[1], s.Buffer.Ports[1] = 0, 0
		s.Buffer.Thresholds[0][3].XOFF = 512_000
		return s
	}
	d := Take(of, 0)
	with, without := &d.Ports[0], &d.Ports[1]
	if with.Lossless != 0xFF || with.Full[3] != 512_000 {
		t.Errorf("lossless %08b, full at %d", with.Lossless, with.Full[3])
	}
	if tail := int64(of.Snapshot().Buffer.Tail); without.Lossless != 0 || without.Full[3] != tail {
		t.Errorf("lossless %08b, full at %d: it drops beyond %d", without.Lossless, without.Full[3], tail)
	}
}

// The page takes no orders: nothing of the admin socket but what moves is there.
func TestLivePageOnlyTells(t *testing.T) {
	h := Page("n1", sample.Source(true)).Handler()
	for _, request := range []string{"POST /reload", "POST /flows", "POST /flows/stop", "GET /flows", "GET /capture", "GET /show/ports", "POST /live", "GET /metrics", "GET /debug/pprof/", "POST /testbed"} {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "http://127.0.0.1:9471"+path, nil))
		if w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", request, w.Code)
		}
	}
}

// What a look at the page costs beside the workers: the document of a switch of
// 64 ports, and of an agent of 4096 flows.
func BenchmarkLook(b *testing.B) {
	every := liveEvery
	liveEvery = 0
	defer func() { liveEvery = every }()
	for name, s := range map[string]*telemetry.Source{"switch/ports=4": sample.Busiest(false, 4, 0), "switch/ports=64": sample.Busiest(false, 64, 0), "agent/flows=4096": sample.Busiest(true, 1, 4096)} {
		b.Run(name, func(b *testing.B) {
			h := Page("n1", s).Handler()
			size, before := 0, sample.Processor(b)
			for b.Loop() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1:9471/live", nil))
				size = w.Body.Len()
			}
			b.ReportMetric((sample.Processor(b)-before).Seconds()*1e3/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(size), "bytes/op")
		})
	}
}
