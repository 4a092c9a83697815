//go:build dpdk

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/pfc"
	"photon/telemetry/show"
)

// operated is a switch with four hosts, started from a file, with an admin socket.
type operated struct {
	*fourHosts
	t       *testing.T
	process *process
	file    string
	socket  string
	hosts   [4]*testnet.Socket
}

// operate starts a switch whose file has these lines beside its ports.
func operate(t *testing.T, lines string) *operated {
	t.Helper()
	return operateOn(t, newFourHosts(t), lines)
}

// operateOn is operate with hosts that are there.
func operateOn(t *testing.T, l *fourHosts, lines string) *operated {
	t.Helper()
	o := &operated{fourHosts: l, t: t, file: filepath.Join(t.TempDir(), "switch.yaml"), socket: filepath.Join(t.TempDir(), "sw.sock")}
	o.write(lines)
	o.process = start(t, o.sw, "switch", "-c", o.file)
	for i, h := range o.fourHosts.hosts {
		o.hosts[i] = h.Open(t, "eth0")
		o.hosts[i].Send(udp(i, (i+1)%4, 0, 100, 0)) // to be learned
	}
	o.until("four addresses learned", func() bool {
		var fdb show.FDB
		o.show("fdb", &fdb)
		learned := 0
		for _, e := range fdb.Entries {
			if slices.ContainsFunc([]int{0, 1, 2, 3}, func(i int) bool { return mac(i).String() == e.MAC }) {
				learned++
			}
		}
		return learned == 4
	})
	return o
}

// write makes the switch's file anew.
func (o *operated) write(lines string) {
	o.t.Helper()
	text := "name: sw\nadmin: " + o.socket + "\nports:\n"
	for i := range 4 {
		text += fmt.Sprintf("- device: net_af_packet%d,iface=sw%d\n", i, i)
	}
	o.rewrite(text + lines)
}

// rewrite makes it anew, whole.
func (o *operated) rewrite(text string) {
	o.t.Helper()
	if err := os.WriteFile(o.file, []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// photon runs a command against the switch's socket and returns what it prints.
func (o *operated) photon(args ...string) (string, error) {
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetArgs(append(args, "--socket", o.socket))
	err := root.Execute()
	return out.String(), err
}

// show fetches a topic as JSON, and sees to it that the table comes too.
func (o *operated) show(topic string, into any) {
	o.t.Helper()
	words := append([]string{"show"}, strings.Fields(topic)...)
	if table, err := o.photon(words...); err != nil || !strings.Contains(table, "---") {
		o.t.Fatalf("show %s: %v\n%s", topic, err, table)
	}
	text, err := o.photon(append(words, "--json")...)
	if err != nil {
		o.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		o.t.Fatalf("show %s --json: %v\n%s", topic, err, text)
	}
}

// until waits for something that takes effect in a while.
func (o *operated) until(what string, ok func() bool) {
	o.t.Helper()
	within(o.t, ok, func() string { return fmt.Sprintf("not within minutes: %s\n%s", what, o.process.log) })
}

// logged waits until the log has something so many times: what photon has written may be read a little later. It returns
// the submatches of the last.
func (o *operated) logged(times int, what string) (last []string) {
	o.t.Helper()
	pattern := regexp.MustCompile(what)
	o.until(fmt.Sprintf("%q in the log, %d times", what, times), func() bool {
		all := pattern.FindAllStringSubmatch(o.process.log.String(), -1)
		if len(all) > times {
			o.t.Fatalf("the log has %q %d times, not %d:\n%s", what, len(all), times, o.process.log)
		}
		if len(all) == times {
			last = all[times-1]
		}
		return last != nil
	})
	return last
}

// pauseFrame is a PFC frame of priority 3 from a host.
func pauseFrame(host int, quanta uint16) []byte {
	f := pfc.Frame{Enable: 1 << 3}
	f.Quanta[3] = quanta
	b := make([]byte, pfc.FrameLen)
	f.Encode(b, mac(host))
	return b
}

// arrives waits until a host has received so many frames of priority 3, and returns them.
func (o *operated) arrives(host, n int) (frames [][]byte) {
	o.t.Helper()
	return o.arrivesOf(host, 26, n)
}

func (o *operated) arrivesOf(host int, dscp uint8, n int) (frames [][]byte) {
	o.t.Helper()
	within(o.t, func() bool {
		frames = append(frames, o.hosts[host].Collect(20*time.Millisecond, isUDP(dscp))...)
		return len(frames) >= n
	}, func() string {
		return fmt.Sprintf("%d of %d frames arrived at h%d\n%s", len(frames), n, host, o.process.log)
	})
	return frames
}
