//go:build dpdk

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"photon/pfc"
	"photon/telemetry/show"
)

// What is shown is what happened: every topic, as a table and as JSON.
func TestShow(t *testing.T) {
	o := operate(t, "metrics: off\nrate: 100Mbps\nforwarding: {static: [{mac: '02:00:00:00:00:99', port: 3}]}\n")
	const frames = 50
	for n := range uint32(frames) {
		o.hosts[1].Send(udp(1, 0, 26, 1000, n))
	}
	o.arrives(0, frames)
	for range 20 {
		o.hosts[0].Send(pauseFrame(0, pfc.MaxQuanta))
		o.hosts[0].Send(pauseFrame(0, 0))
	}
	o.hosts[1].Send(udp(1, 0, 26, 1000, frames))
	o.arrives(0, 1)

	var counters show.PFC
	o.until("40 control frames received", func() bool {
		o.show("pfc counters", &counters)
		return counters.Ports[0].Control == 40
	})
	if p := counters.Ports[0]; p.Port != "sw0" || p.Rx != [8]uint64{3: 40} || p.Control != 40 || p.RxTransitions[3] != 20 || counters.Ports[1].Control != 0 {
		t.Errorf("%+v", counters)
	}
	var queues show.Queues
	o.show("queues", &queues)
	if p := queues.Ports[0]; p.Packets[3] != frames+1 || p.Bytes[3] != 1000*(frames+1) || p.Watermark[3] < 2000 || p.Occupancy[3] != 0 {
		t.Errorf("%+v", queues)
	}
	var buffer show.Buffer
	o.show("buffer", &buffer)
	if len(buffer.Profiles) != 4 || buffer.Profiles[0].XOFF != 512_000 || buffer.Ports[1].Watermark[3] < 2000 || buffer.Lossy+buffer.Reserved != buffer.Size {
		t.Errorf("%+v", buffer)
	}
	var fdb show.FDB
	o.show("fdb", &fdb)
	at := map[string]string{}
	for _, e := range fdb.Entries {
		at[e.MAC] = e.Type + " " + strings.Join(e.Ports, ",")
	}
	for i := range 4 {
		if want := fmt.Sprintf("Dynamic sw%d", i); at[mac(i).String()] != want {
			t.Errorf("%v: %q, not %q", mac(i), at[mac(i).String()], want)
		}
	}
	if at["02:00:00:00:00:99"] != "Static sw3" {
		t.Error(at)
	}
	var marking show.Marking
	o.show("marking", &marking)
	if marking.Scheme != "pcn" || marking.Ports[0].Marked[3] == 0 {
		t.Errorf("%+v", marking)
	}
	var ports show.Ports
	o.show("ports", &ports)
	if p := ports.Ports[1]; p.Port != "sw1" || !p.Up || p.Rx < frames+2 || p.Discards != 0 {
		t.Errorf("%+v", ports)
	}
}

// A socket that is in use is said before anything is disturbed; the default
// place, taken or not, keeps no switch from its work.
func TestSocketInUse(t *testing.T) {
	o := operate(t, "metrics: off\n")
	root := newRoot()
	root.SetArgs([]string{"switch", "--port", "net_null8", "--port", "net_null9", "--metrics", "off", "--admin", o.socket})
	if err := root.Execute(); err == nil || !strings.HasSuffix(err.Error(), "another photon answers there") {
		t.Error(err)
	}
	if _, err := o.photon("show", "queues"); err != nil {
		t.Error(err)
	}
}

// A host that pauses for ever: its frames are dropped and counted, everybody
// else's pass, and it is taken back when it is quiet.
func TestPauseStorm(t *testing.T) {
	o := operate(t, "metrics: 127.0.0.1:9464\nrate: 1Gbps\npfc: {xoff: 20KB, headroom: 500KB, watchdog: {detect: 200ms, restore: 100ms, action: drop}}\n")
	pauses := startStream(o.hosts[0], 5*time.Millisecond, pauseFrame(0, pfc.MaxQuanta)) // the longest pause is 34 ms
	quiet := sync.OnceFunc(pauses.end)
	t.Cleanup(quiet)
	for n := range uint32(30) { // more than XOFF
		o.hosts[1].Send(udp(1, 0, 26, 1000, n))
	}
	var watchdog show.PFCWD
	queue := func() show.PFCWDQueue {
		o.show("pfcwd", &watchdog)
		return watchdog.Queues[0]
	}
	o.until("a storm", func() bool { return queue().Status == "stormed" })
	before := len(o.hosts[0].Collect(0, isUDP(26))) // the first pause
	for n := range uint32(100) {
		o.hosts[1].Send(udp(1, 0, 26, 1000, n))
		o.hosts[1].Send(udp(1, 2, 26, 1000, n))
	}
	o.arrives(2, 100)
	o.until("all frames dropped that came after the pause", func() bool { return queue().Dropped == uint64(130-before) })
	if len(o.hosts[0].Collect(0, isUDP(26))) != 0 {
		t.Error("frames arrive in spite of the pause")
	}
	if m := o.process.metrics(); sum(m, "photon_pfc_watchdog_storms_total", `action="drop"`, `port="sw0"`) != 1 || sum(m, "photon_ingress_buffer_bytes", `port="sw1"`) != 0 {
		t.Error("metrics tell of no storm, or of a buffer that it holds")
	}
	quiet()
	o.until("restored", func() bool { return queue().Restored == 1 })
	o.hosts[1].Send(udp(1, 0, 26, 1000, 1))
	o.arrives(0, 1)
	stormsLogged := func() int { return strings.Count(o.process.log.String(), "port sw0: its peer storms, priority 3") }
	o.until("a line in the log", func() bool {
		return stormsLogged() > 0 && strings.Contains(o.process.log.String(), "restored after a storm")
	})

	again := startStream(o.hosts[0], 5*time.Millisecond, pauseFrame(0, pfc.MaxQuanta))
	o.until("another storm", func() bool { q := queue(); return q.Status == "stormed" && q.Storms == 2 && q.Restored == 1 })
	again.end()
	o.until("the end of it", func() bool { q := queue(); return q.Status == "operational" && q.Storms == 2 && q.Restored == 2 })
	o.until("a line for each storm", func() bool { return stormsLogged() >= 2 })
	if n := stormsLogged(); n != 2 {
		t.Errorf("the log tells of 2 storms %d times", n)
	}
}

// With drop_both what a storming host sends of the priority is dropped, too, and counted at its port; its other
// priorities pass, and everything after the storm.
func TestPauseStormDropsBoth(t *testing.T) {
	o := operate(t, "rate: 1Gbps\npfc: {xoff: 20KB, headroom: 500KB, watchdog: {detect: 200ms, restore: 100ms, action: drop_both}}\n")
	send := func() { // four of its own, and four for it
		for n := range uint32(4) {
			o.hosts[0].Send(udp(0, 2, 26, 500, n))
			o.hosts[1].Send(udp(1, 0, 26, 500, n))
		}
	}
	send()
	o.arrives(2, 4)
	o.arrives(0, 4)
	pauses := startStream(o.hosts[0], 5*time.Millisecond, pauseFrame(0, pfc.MaxQuanta))
	quiet := sync.OnceFunc(pauses.end)
	t.Cleanup(quiet)
	var watchdog show.PFCWD
	status := func() show.PFCWDQueue {
		o.show("pfcwd", &watchdog)
		return watchdog.Queues[0]
	}
	o.until("a storm", func() bool { return status().Status == "stormed" })
	before := status().Dropped
	send()
	o.hosts[0].Send(udp(0, 2, 10, 500, 0))
	o.arrivesOf(2, 10, 1)
	o.until("what it sends, and what is for it, is dropped", func() bool { return status().Dropped == before+8 })
	if n := len(o.hosts[2].Collect(0, isUDP(26))) + len(o.hosts[0].Collect(0, isUDP(26))); n != 0 {
		t.Errorf("%d frames pass", n)
	}
	quiet()
	o.until("the end of it", func() bool { return status().Restored == 1 })
	send()
	o.arrives(2, 4)
	o.arrives(0, 4)
}

// The hosts stand for the rest of a cycle: one pauses the switch, and what the
// switch asks it comes back through another. The switch says so until it is over.
func TestDeadlock(t *testing.T) {
	// At this rate a pause lasts longer than the machine can be busy with others.
	o := operate(t, "rate: 10Mbps\npfc: {xoff: 20KB, headroom: 500KB, deadlock: 200ms}\n")
	pauses := startStream(o.hosts[0], 50*time.Millisecond, pauseFrame(0, pfc.MaxQuanta))
	quiet := sync.OnceFunc(pauses.end)
	t.Cleanup(quiet)
	o.until("a pause", func() bool {
		var counters show.PFC
		o.show("pfc counters", &counters)
		return counters.Ports[0].Rx[3] > 0
	})
	for n := range uint32(40) { // more than XOFF
		o.hosts[1].Send(udp(1, 0, 26, 1000, n))
	}
	isProbe := func(b []byte) bool { return binary.BigEndian.Uint16(b[12:]) == pfc.ProbeType }
	var seen show.Deadlocks
	queue := func(i int) show.DeadlockQueue {
		o.show("deadlocks", &seen)
		return seen.Queues[i]
	}
	o.until("a deadlock", func() bool {
		for _, b := range o.hosts[0].Collect(20*time.Millisecond, isProbe) {
			var p pfc.Probe
			if !p.Decode(b) {
				t.Fatalf("% x", b)
			}
			p.Hops++ // the next switch of the cycle
			p.Encode(b, mac(1))
			o.hosts[1].Send(b)
		}
		return queue(0).Status == "deadlocked"
	})
	if q := queue(1); q.Found != 0 {
		t.Errorf("%+v", q)
	}
	if n := len(o.hosts[2].Collect(0, isProbe)); n != 0 {
		t.Errorf("%d probes went where nothing is paused", n)
	}
	o.until("a line in the log", func() bool {
		return strings.Contains(o.process.log.String(), "port sw0: deadlock: the queue of priority 3 waits for itself, in a cycle of paused queues through 2 switches")
	})
	quiet()
	o.until("its end", func() bool { return queue(0).Status == "operational" && queue(0).Bytes == 0 })
}

// What commands leave is collected when it is much, with the peers paused; no
// frame is lost by it.
func TestCollection(t *testing.T) {
	o := operate(t, "metrics: off\nrate: 1Gbps\npfc: {headroom: 800KB}\ndpdk: {garbage: 1MB}\n")
	sent := uint32(0)
	var counters show.PFC
	o.until("a collection", func() bool {
		for range 20 {
			o.hosts[1].Send(udp(1, 0, 26, 1000, sent))
			sent++
		}
		o.show("pfc counters", &counters)
		return strings.Contains(o.process.log.String(), "of garbage in")
	})
	if got := len(o.arrives(0, int(sent))); got != int(sent) {
		t.Errorf("%d of %d frames arrive", got, sent)
	}
	o.until("an end of the pause", func() bool {
		o.show("pfc counters", &counters)
		return counters.Ports[1].TxTransitions[3] > 0
	})
}

// A changed file is taken over while frames pass, and none is lost; a file that
// is wrong, or changes what cannot change, is refused whole.
func TestReload(t *testing.T) {
	const fixed = "metrics: off\nrate: 1Gbps\n"
	o := operate(t, fixed+"pfc: {xoff: 30KB, headroom: 800KB}\n")
	var number uint32
	sent := make(chan uint32)
	stop := make(chan struct{})
	go func() { // two frames a millisecond, and a check of each below
		for {
			select {
			case <-stop:
				sent <- number
				return
			case <-time.After(time.Millisecond):
				for range 2 {
					o.hosts[1].Send(udp(1, 0, 26, 1000, number))
					number++
				}
			}
		}
	}()
	ended := sync.OnceValue(func() uint32 { close(stop); return <-sent })
	t.Cleanup(func() { ended() })

	for i := range 30 {
		o.write(fmt.Sprintf("%spfc: {xoff: %dKB, headroom: 800KB}\nscheme: {name: %s}\nforwarding: {static: [{mac: '%v', port: %d}]}\n",
			fixed, 3+40*(i%2), []string{"pcn", "dcqcn", "none"}[i%3], mac(7), i%4))
		out, err := o.photon("reload")
		if want := fmt.Sprintf("pfc.xoff: %dKB -> %dKB\n", 43-40*(i%2), 3+40*(i%2)); err != nil || i > 0 && !strings.Contains(out, want) {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if out, err := o.photon("reload"); err != nil || out != "nothing changed\n" {
		t.Error(out, err)
	}
	var marking show.Marking
	var fdb show.FDB
	var buffer show.Buffer
	inForce := func() string {
		o.show("marking", &marking)
		o.show("fdb", &fdb)
		o.show("buffer", &buffer)
		static := ""
		for _, e := range fdb.Entries {
			if e.Type == "Static" {
				static += e.MAC + " " + e.Ports[0]
			}
		}
		return fmt.Sprint(marking.Scheme, " ", buffer.Profiles[0].XOFF, " ", static)
	}
	want := fmt.Sprintf("none 43000 %v sw1", mac(7))
	if got := inForce(); got != want {
		t.Errorf("in force: %s, expected %s", got, want)
	}
	for lines, reason := range map[string]string{
		fixed + "pfc: {xoff: 99KB}\nmtu: 4000\n":     "cannot change while photon runs (restart it, or take it back): mtu: (default) -> 4000",
		fixed + "pfc: {xoff: 99KB, xon: 200KB}\n":    "xon 200KB is above xoff 99KB",
		fixed + "pfc: {xoff: 99KB}\nspeed: 5\n":      `unknown key "speed"`,
		fixed + "pfc: {xoff: 99KB}\nbuffer: 100KB\n": "the buffer is too small",
		fixed + "pfc: {xoff: 20MB}\n":                "the last XOFF would never be sent",
	} {
		o.write(lines)
		if _, err := o.photon("reload"); err == nil || !strings.Contains(err.Error(), reason) || !strings.HasPrefix(err.Error(), o.file+":") || !errors.As(err, &badInput{}) {
			t.Errorf("%v, expected %s", err, reason)
		}
	}
	if got := inForce(); got != want {
		t.Errorf("after refusals: %s, expected %s", got, want)
	}
	// A signal does the same.
	o.write(fixed + "scheme: {name: tcd+dcqcn}\n")
	if err := o.process.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	o.until("the signal's scheme", func() bool { return strings.HasPrefix(inForce(), "tcd+dcqcn 512000") })
	o.until("both in the log", func() bool {
		log := o.process.log.String()
		return strings.Contains(log, "reloaded: scheme.name: none -> tcd+dcqcn") && strings.Contains(log, "not reloaded: ")
	})
	for i, b := range o.arrives(0, int(ended())) {
		if n := binary.BigEndian.Uint32(b[42:]); n != uint32(i) {
			t.Fatalf("frame %d comes as %d", n, i)
		}
	}
	var queues show.Queues
	o.show("queues", &queues)
	if p := queues.Ports[0]; p.Drops[3] != 0 || p.Packets[3] != uint64(ended()) {
		t.Errorf("%+v", p)
	}
}

// cutLast splits a row at its last separator.
func cutLast(row string) (before, last string, ok bool) {
	at := strings.LastIndexByte(row, '|')
	return row[:at], row[at+1:], at >= 0
}

// What a port receives and sends is recorded, and Wireshark's eyes see which
// is which, on which interface, and of which priority.
func TestCapture(t *testing.T) {
	o := operate(t, "metrics: off\nrate: 1Gbps\ndscp_to_priority: {10: 5}\n")
	file := filepath.Join(t.TempDir(), "sw0.pcapng")
	root, begun, ended := newRoot(), &watched{wait: "capturing on sw0", found: make(chan struct{})}, make(chan error)
	root.SetErr(begun)
	root.SetArgs([]string{"capture", "sw0", "-w", file, "-c", "24", "--socket", o.socket})
	go func() { ended <- root.Execute() }()
	select {
	case <-begun.found:
	case err := <-ended:
		t.Fatalf("%v\n%s", err, o.process.log)
	}
	if _, err := o.photon("capture", "sw0", "-w", file+"2"); err == nil || err.Error() != "port sw0 is being captured already" {
		t.Error(err)
	}
	if _, err := o.photon("capture", "sw9", "-w", file+"2"); err == nil || err.Error() != `there is no port "sw9" (there are sw0, sw1, sw2, sw3)` || !errors.As(err, &badInput{}) {
		t.Error(err)
	}
	if _, err := o.photon("capture", "sw1", "-w", filepath.Join(file, "x", "y")); err == nil || !strings.Contains(err.Error(), "y: n") || !errors.As(err, &badInput{}) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := os.Stat(file + "2"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a capture that did not begin leaves a file: %v", err)
	}
	if err := os.WriteFile(file+"3", []byte("of yesterday"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := o.photon("capture", "sw9", "-w", file+"3"); err == nil {
		t.Error("a port that is not there is captured")
	}
	if b, err := os.ReadFile(file + "3"); string(b) != "of yesterday" {
		t.Errorf("a capture that did not begin leaves %q of another, %v", b, err)
	}
	begin := time.Now()
	o.hosts[0].Send(udp(0, 1, 26, 500, 1))
	o.arrives(1, 1)
	o.hosts[1].Send(udp(1, 0, 10, 900, 2))
	o.arrivesOf(0, 10, 1)
	o.hosts[0].Send(pauseFrame(0, 77))
	o.hosts[0].Send(pauseFrame(0, 0))
	o.until("two control frames received", func() bool {
		var c show.PFC
		o.show("pfc", &c)
		return c.Ports[0].Control == 2
	})
	for i := range 24 {
		o.hosts[1].Send(udp(1, 0, 0, 200, uint32(i)))
		o.hosts[2].Send(udp(2, 0, 0, 100, uint32(i)))
	}
	select {
	case err := <-ended:
		if err != nil || !strings.Contains(begun.String(), "24 frames\n") {
			t.Fatalf("%v\n%s", err, begun)
		}
	case <-time.After(time.Minute):
		t.Fatalf("the capture does not see 24 frames\n%s\n%s", begun, o.process.log)
	}
	c := exec.Command("tshark", "-r", file, "-Y", "udp.dstport == 12345 || macc", "-T", "fields", "-E", "separator=|", "-e", "frame.interface_name", "-e", "frame.packet_flags_direction",
		"-e", "frame.comment", "-e", "frame.len", "-e", "macc.cbfc.pause_time.c3", "-e", "udp.dstport", "-e", "frame.time_epoch")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(out)), "\n") // hosts' kernels say things of their own, which are left out
	if len(rows) < 10 {
		t.Fatalf("tshark says\n%s", out)
	}
	for i, want := range []string{
		"sw0|0x00000001|priority 3|500||12345", "sw0|0x00000002|priority 5|900||12345", "sw0|0x00000001||60|77|", "sw0|0x00000001||60|0|",
	} {
		row, stamp, _ := cutLast(rows[i])
		if row != want {
			t.Errorf("frame %d: %s, expected %s", i+1, row, want)
		}
		if at, err := strconv.ParseFloat(stamp, 64); err != nil || at < float64(begin.Unix())-1 || at > float64(begin.Unix())+60 {
			t.Errorf("frame %d: at %s", i+1, stamp)
		}
	}
	for _, row := range rows[4:] {
		if !strings.HasPrefix(row, "sw0|0x00000002|priority 0|") {
			t.Error(row)
		}
	}
	o.until("the capture ended", func() bool {
		return strings.Contains(o.process.log.String(), "port sw0 is not captured any more: 0 frames were missed")
	})
}

// A link that goes takes its queue and its addresses with it, and comes back.
func TestLinkDownAndUp(t *testing.T) {
	// At this rate a pause lasts for seconds.
	o := operate(t, "metrics: 127.0.0.1:9464\nrate: 10Mbps\n")
	state := func() show.PortStatus {
		var p show.Ports
		o.show("ports", &p)
		return p.Ports[0]
	}
	const waiting = 30
	o.hosts[0].Send(pauseFrame(0, pfc.MaxQuanta))
	var q show.Queues
	held := func() uint64 { o.show("queues", &q); return q.Ports[0].Queued[3] }
	o.until("a pause", func() bool {
		var c show.PFC
		o.show("pfc", &c)
		return c.Ports[0].Control > 0
	})
	for n := range uint32(waiting) {
		o.hosts[1].Send(udp(1, 0, 26, 1000, n))
	}
	o.until("frames that wait", func() bool { return held() == waiting })
	o.fourHosts.hosts[0].Run(t, "ip", "link", "set", "eth0", "down")
	o.until("link down", func() bool { p := state(); return !p.Up && p.Changes == 1 })
	if n := sum(o.process.metrics(), "photon_port_discards_total", `port="sw0"`, `priority="3"`, `reason="link_down"`); held() != 0 || n != waiting {
		t.Errorf("%d frames wait for a link that is down, %v of %d were discarded", held(), n, waiting)
	}
	var fdb show.FDB
	o.show("fdb", &fdb)
	for _, e := range fdb.Entries {
		if slices.Contains(e.Ports, "sw0") {
			t.Errorf("%s is still known at sw0", e.MAC)
		}
	}
	for n := range uint32(40) {
		o.hosts[1].Send(udp(1, 0, 26, 1000, n)) // unknown now: to the others
	}
	o.arrives(2, 40)
	if n := sum(o.process.metrics(), "photon_device_up", `port="sw0"`); n != 0 {
		t.Error("metrics tell of a link")
	}
	o.fourHosts.hosts[0].Run(t, "ip", "link", "set", "eth0", "up")
	o.until("link up", func() bool { p := state(); return p.Up && p.Changes == 2 })
	again := o.fourHosts.hosts[0].Open(t, "eth0")
	again.Send(udp(0, 1, 26, 500, 1))
	o.arrives(1, 1)
	o.hosts[0] = again
	o.hosts[1].Send(udp(1, 0, 26, 1000, 7))
	o.arrives(0, 1)
	o.logged(1, "port sw0: link down")
	o.logged(1, "port sw0: link up")
}

// SIGTERM stops a switch when what it held has left, and its peers know.
func TestTermDrains(t *testing.T) {
	o := operate(t, "metrics: off\nrate: 10Mbps\npfc: {headroom: 800KB}\n")
	const frames = 200 // 165 ms of them
	for n := range uint32(frames) {
		o.hosts[1].Send(udp(1, 0, 26, 1000, n))
	}
	before := len(o.arrives(0, 1))
	o.process.stop() // fails the test unless every frame is accounted for
	if n := before + len(o.hosts[0].Collect(100*time.Millisecond, isUDP(26))); n != frames {
		t.Errorf("%d of %d frames arrived", n, frames)
	}
	if log := o.process.log.String(); !strings.Contains(log, "drained") || !strings.Contains(log, "port sw0: ") {
		t.Errorf("the log says\n%s", log)
	}
	isXOFF := func(b []byte) bool {
		var f pfc.Frame
		return b[12] == 0x88 && b[13] == 0x08 && f.Decode(b) == nil && f.Quanta[3] != 0
	}
	if len(o.hosts[1].Collect(time.Millisecond, isXOFF)) == 0 {
		t.Error("the peer was not told to stop")
	}
	if _, err := os.Stat(o.socket); !os.IsNotExist(err) {
		t.Error("the socket stays:", err)
	}
}

// A switch that stops takes no orders any more, and no signal keeps it from saying
// that every frame is accounted for.
func TestOrdersWhileItStops(t *testing.T) {
	o := operate(t, "metrics: off\nrate: 10Mbps\n")
	o.hosts[0].Send(pauseFrame(0, pfc.MaxQuanta)) // 3.4 s: what it holds cannot leave
	o.until("a pause", func() bool {
		var c show.PFC
		o.show("pfc", &c)
		return c.Ports[0].Control == 1
	})
	o.hosts[1].Send(udp(1, 0, 26, 1000, 0))
	o.until("a frame that waits", func() bool {
		var q show.Queues
		o.show("queues", &q)
		return q.Ports[0].Queued[3] > 0
	})
	if err := o.process.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for isXOFF := false; !isXOFF; { // it drains
		b := o.hosts[1].Receive(10 * time.Second)
		if b == nil {
			t.Fatalf("the peer is not told to stop\n%s", o.process.log)
		}
		var f pfc.Frame
		isXOFF = b[12] == 0x88 && b[13] == 0x08 && f.Decode(b) == nil && f.Quanta[3] != 0
	}
	o.write("metrics: off\nrate: 10Mbps\npfc: {xoff: 99KB}\n")
	if out, err := o.photon("reload"); err == nil || err.Error() != "this switch is stopping: nothing changes any more" {
		t.Errorf("%v, %s", err, out)
	}
	for o.process.cmd.Process.Signal(syscall.SIGHUP) == nil {
		time.Sleep(100 * time.Microsecond)
	}
	if err := <-o.process.ended; err != nil {
		t.Errorf("%v\n%s", err, o.process.log)
	}
	o.process.ended = nil
	if log := o.process.log.String(); !strings.Contains(log, " frames were still queued") || !strings.Contains(log, "port sw3: ") {
		t.Errorf("the log says\n%s", log)
	}
}
