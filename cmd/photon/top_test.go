//go:build dpdk

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"photon/telemetry/top"
)

// photon top on a running switch: once, as text and as JSON, and on a terminal.
func TestTop(t *testing.T) {
	o := operate(t, "metrics: off\nrate: 100Mbps\n")
	s := startStream(o.hosts[1], 2*time.Millisecond, udp(1, 0, 26, 1000, 1)) // 4 Mbit/s
	defer s.end()
	var v top.View
	o.until("the stream in the rates", func() bool {
		text, err := o.photon("top", "--once", "--json", "--every", "200ms", "--sort", "rx")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		r := v.Rows[0]
		return r.Port == "sw1" && r.Priority == 3 && r.Rx > 1e5 && r.Rx < 100e6 && r.Lossless
	})
	if v.Node != "sw" || v.Host || v.Scheme != "pcn" || v.Poll.Longest <= 0 || v.Poll.P99 <= 0 || v.Span <= 0 {
		t.Errorf("%+v", v)
	}
	text, err := o.photon("top", "--once", "--every", "200ms")
	if err != nil || !strings.HasPrefix(text, "sw  switch, scheme pcn, up ") || !strings.Contains(text, "\nsw1         3*") {
		t.Errorf("%v\n%s", err, text)
	}
	for args, want := range map[string]string{
		"--every 1ms": "--every 1ms: from 50ms to 1h", "--sort size": `--sort: sort by "size": there are [port rx tx queue paused marks drops]`,
		"--json": "--json goes with --once", "": "this is no terminal: --once prints the table once",
	} {
		if _, err := o.photon(append([]string{"top"}, strings.Fields(args)...)...); err == nil || err.Error() != want {
			t.Errorf("%s: %v", args, err)
		}
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "top", "--socket", o.socket, "--every", "100ms")
	c.Env = append(os.Environ(), beMain+"=1", "TERM=xterm-256color")
	keys, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	screen := vt10x.New(vt10x.WithSize(80, 24))
	go func() {
		b := make([]byte, 4096)
		for n, err := keys.Read(b); err == nil; n, err = keys.Read(b) {
			_, _ = screen.Write(b[:n])
		}
	}()
	for _, step := range []struct{ keys, want string }{{"", "\nsw1         3*"}, {"s", "\nsw1         3*"}, {" ", "FROZEN"}, {"?", "RX, TX    bits on the wire"}} {
		if _, err := keys.WriteString(step.keys); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); !strings.Contains(screen.String(), step.want); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("after %q there is no %q on the screen\n%s", step.keys, step.want, screen)
			}
		}
	}
	if _, err := keys.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("q: %v", err)
	}
}
