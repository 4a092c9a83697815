//go:build dpdk

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"photon/scheme"
	"photon/telemetry/show"
)

// randomNetworks is how many networks the test draws.
const randomNetworks = 3

// Hosts that send to each other through a switch, all of it configured at random, while the switch gets other
// configurations: all flows end, nothing of a lossless priority is lost, and nobody ends before it is told to.
// RAPID_SEED says what is drawn, as in all tests that draw; 0 or nothing: something else each time.
func TestRandomSwitches(t *testing.T) {
	seed, _ := strconv.ParseUint(cmp.Or(os.Getenv("RAPID_SEED"), "0"), 10, 64)
	if seed == 0 {
		seed = rand.Uint64()
	}
	for i := range uint64(randomNetworks) {
		t.Run(fmt.Sprintf("%d+%d", seed, i), func(t *testing.T) { (&drawn{rand.New(rand.NewPCG(seed, i))}).play(t) })
	}
}

// drawn draws configurations.
type drawn struct{ *rand.Rand }

func (r *drawn) one(of ...string) string { return of[r.IntN(len(of))] }

// maybe is a text with a probability in percent, else nothing.
func (r *drawn) maybe(percent int, format string, args ...any) string {
	if r.IntN(100) >= percent {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// inside joins what there is of settings.
func inside(settings ...string) string {
	return strings.Join(slices.DeleteFunc(settings, func(s string) bool { return s == "" }), ", ")
}

func (r *drawn) scheme() string { return r.one(scheme.Names()...) }

// switchOf is a switch's file.
func (r *drawn) switchOf(socket, scheme string, workers int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: sw\nadmin: %s\nports:\n", socket)
	for i := range 4 {
		fmt.Fprintf(&b, "- {%s}\n", inside(
			fmt.Sprintf("device: \"net_af_packet%d,iface=sw%d\", rate: 100Mbps", i, i),
			r.maybe(20, "cable_length: %sm", r.one("10", "300", "2000")),
			r.maybe(20, "shaper: {rate: %sMbps, burst: %sKB}", r.one("10", "30", "80"), r.one("20", "64")),
			r.maybe(15, "asymmetric_pfc: true"), r.maybe(15, "lossless: [3, %s]", r.one("1", "4", "5")),
			r.maybe(15, "queues: {%s: {min: 10KB}}", r.one("2", "6")), r.maybe(15, "lossy_ingress: {limit: 200KB}"),
			r.maybe(10, "storm_control: {broadcast: {rate: 100pps}}")))
	}
	fmt.Fprintf(&b, "scheme: {name: %s%s}\npfc: {%s}\n", scheme,
		r.maybe(30, ", priorities: [%s]", r.one("3", "0, 3", "0, 1, 2, 3, 6", "6", "")), inside(
			"response: 20ms", r.one("priorities: [3]", "priorities: [3]", "priorities: [3, 4]"),
			r.maybe(70, "xoff: %sKB", r.one("20", "32", "100", "512")),
			r.maybe(30, "alpha: %s", r.one("0.0625", "0.125", "1", "4")),
			r.maybe(20, "watchdog: {detect: 10s, restore: 1s, action: %s}",
				r.one("drop", "forward", "alert", "drop_both")),
			r.maybe(20, "deadlock: %s", r.one("0s", "10ms", "1s")), r.maybe(20, "pause: %s", r.one("20ms", "100ms"))))
	b.WriteString(r.maybe(30, "weights: {0: %d, 3: %d, 6: %d}\n", 1+r.IntN(100), 1+r.IntN(100), 1+r.IntN(100)))
	b.WriteString(r.maybe(30, "lossy_queue: %sKB\n", r.one("30", "100", "1000")))
	b.WriteString(r.maybe(20, "lossy_alpha: %s\n", r.one("0.1", "1", "4")))
	b.WriteString(r.maybe(30, "forwarding: {age: %s, multicast: %v}\n", r.one("1s", "300s", "0s"), r.IntN(3) > 0))
	b.WriteString(r.maybe(20, "lldp: {}\n"))
	b.WriteString(r.maybe(20, "sflow: {agent: 10.0.0.1, collector: \"127.0.0.1:6343\", sampling: 100}\n"))
	fmt.Fprintf(&b, "dpdk: {workers: %d, frames: 81920}\n", workers)
	return b.String()
}

// agentOf is the file of the agent of a host.
func (r *drawn) agentOf(host int, socket, scheme, recovery, payload string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: h%d\nip: 10.9.0.%d\nadmin: %s\nmetrics: \"off\"\n", host, host+1, socket)
	fmt.Fprintf(&b, "recovery: %s\npayload: %sB\nscheme: {name: %s}\n", recovery, payload, scheme)
	b.WriteString("port: {device: \"net_af_packet0,iface=eth0\", rate: 100Mbps}\n")
	b.WriteString("pfc: {priorities: [3]}\n")
	b.WriteString(r.maybe(30, "ack_every: %s\n", r.one("0", "1", "7", "64")))
	b.WriteString("flows:\n")
	for range 1 + r.IntN(4) {
		fmt.Fprintf(&b, "- {%s}\n", inside(
			fmt.Sprintf("to: 10.9.0.%d, count: %d", (host+1+r.IntN(3))%4+1, 1+r.IntN(3)),
			fmt.Sprintf("start: %sms", r.one("0", "10", "500")),
			fmt.Sprintf("size: %sB", r.one("1", "100", "5000", "64000", "300000")),
			r.maybe(20, "rate: %sMbps", r.one("5", "10", "50")),
			r.maybe(20, "weight: %d", 1+r.IntN(20))))
	}
	return b.String()
}

// play has one network run until all flows have ended.
func (r *drawn) play(t *testing.T) {
	l := newFourHosts(t)
	dir := t.TempDir()
	name, workers := r.scheme(), 1+r.IntN(2)
	o := &operated{fourHosts: l, t: t, file: filepath.Join(dir, "switch.yaml"), socket: filepath.Join(dir, "sw.sock")}
	o.rewrite(r.switchOf(o.socket, name, workers))
	o.process = start(t, l.sw, "switch", "-c", o.file)
	recovery, payload := r.one("go_back_n", "selective"), r.one("64", "256", "1000", "1400")
	var sockets []string
	for i, h := range l.hosts {
		file, socket := filepath.Join(dir, fmt.Sprintf("h%d.yaml", i)), filepath.Join(dir, fmt.Sprintf("h%d.sock", i))
		if err := os.WriteFile(file, []byte(r.agentOf(i, socket, name, recovery, payload)), 0o600); err != nil {
			t.Fatal(err)
		}
		start(t, h, "agent", "-c", file)
		sockets = append(sockets, socket)
	}
	reloads, next := 0, time.Now()
	o.until("all flows are done", func() bool {
		if reloads < 5 && time.Now().After(next) {
			reloads++
			next = time.Now().Add(time.Duration(100+r.IntN(400)) * time.Millisecond)
			o.rewrite(r.switchOf(o.socket, name, workers))
			if out, err := o.photon("reload"); err != nil && !strings.Contains(out+err.Error(), "not reloaded") {
				t.Errorf("reload: %v\n%s", err, out)
			}
		}
		done := reloads == 5
		for _, socket := range sockets {
			done = allDone(t, socket) && done
		}
		return done
	})
	var lost show.Losses
	text, err := o.photon("show", "losses", "--json")
	if err != nil || json.Unmarshal([]byte(text), &lost) != nil || len(lost.Losses) > 0 {
		t.Errorf("%v %s\n%s", err, text, o.process.log)
	}
}

// allDone reports whether an agent has no flow that has not ended.
func allDone(t *testing.T, socket string) bool {
	t.Helper()
	o := &operated{t: t, socket: socket}
	text, err := o.photon("flow", "list", "--json")
	var d show.FlowList
	if err != nil || json.Unmarshal([]byte(text), &d) != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return !slices.ContainsFunc(d.Flows, func(f show.FlowStatus) bool { return f.State != "done" })
}
