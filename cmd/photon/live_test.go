//go:build dpdk

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"photon/telemetry/live"
)

// The page of a switch at work: its document moves, by its address only; there is
// none unless it is asked for.
func TestLivePageOfASwitch(t *testing.T) {
	o := operate(t, "metrics: off\nrate: 100Mbps\nlive: {listen: 127.0.0.1:9471}\n")
	if !strings.Contains(o.process.log.String(), "live page http://127.0.0.1:9471/") {
		t.Error("the log does not say where the page is")
	}
	client := o.sw.Client()
	get := func(host, path string) (int, string) {
		t.Helper()
		r, err := http.NewRequest("GET", "http://127.0.0.1:9471"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		a, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		b, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(b)
	}
	if status, body := get("127.0.0.1:9471", "/"); status != 200 || !strings.Contains(body, "<title>sw – photon</title>") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := get("photon.example:9471", "/live"); status != 403 {
		t.Errorf("by a name: %d", status)
	}
	s := startStream(o.hosts[1], 2*time.Millisecond, udp(1, 0, 26, 1000, 1))
	defer s.end()
	look := func() (d live.Node) {
		t.Helper()
		status, body := get("localhost:9471", "/live")
		if err := json.Unmarshal([]byte(body), &d); err != nil || status != 200 {
			t.Fatalf("%d %v %s", status, err, body)
		}
		return d
	}
	before := look()
	o.until("the stream in what moves", func() bool {
		now := look()
		return now.Now > before.Now && now.Ports[1].RxPackets[3] > before.Ports[1].RxPackets[3]+10 && now.Ports[0].TxPackets[3] > before.Ports[0].TxPackets[3]+10
	})
	o.write("metrics: off\nrate: 100Mbps\n")
	if _, err := o.photon("reload"); err == nil || !strings.Contains(err.Error(), "live.listen: 127.0.0.1:9471 -> (default)") {
		t.Errorf("a reload takes the page away: %v", err)
	}
	o.process.stop()
	start(t, o.sw, "switch", "-c", o.file)
	if r, err := client.Get("http://127.0.0.1:9471/"); err == nil {
		r.Body.Close()
		t.Error("there is a page that nobody asked for")
	}
}
