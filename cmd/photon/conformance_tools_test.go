//go:build dpdk && conformance

package main

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/pfc"
	"photon/telemetry/show"
	"photon/wire"
)

// slow has a pause of MaxQuanta last for 34 seconds, longer than any of what is done during one.
const slow = "rate: 1Mbps\n"

var lastSentinel atomic.Uint32

// receivedUntilSentinel has a host send another a last frame, and returns those that the other received before it and
// wanted accepts. What the host sent earlier and has not come by then does not come: the last frame is of priority 0,
// DSCP 1, which leaves after all others.
func (o *operated) receivedUntilSentinel(from, to int, wanted func([]byte) bool) (frames [][]byte) {
	o.t.Helper()
	last := udp(from, to, 1, 64, lastSentinel.Add(1))
	o.hosts[from].Send(last)
	here := false
	within(o.t, func() bool {
		frames = append(frames, o.hosts[to].Collect(10*time.Millisecond, func(b []byte) bool {
			here = here || len(b) == len(last) && bytes.Equal(b[26:], last[26:])
			return wanted(b)
		})...)
		return here
	}, func() string { return "the last frame does not arrive\n" + o.process.log.String() })
	return frames
}

// noFrame: nothing of what a host receives is kept.
func noFrame([]byte) bool { return false }

// tests is true of the frames of udp, tagged or not, but for those by which addresses are learned and the last ones of seen.
func tests(b []byte) bool {
	var h wire.Header
	return wire.Parse(b, &h) && h.DstPort == 12345 && h.TOS>>2 > 1
}

// dscpOf is that of a frame of udp.
func dscpOf(b []byte) uint8 {
	var h wire.Header
	wire.Parse(b, &h)
	return h.TOS >> 2
}

// count is how many of the frames have a DSCP.
func count(frames [][]byte, dscp uint8) (n int) {
	for _, b := range frames {
		if dscpOf(b) == dscp {
			n++
		}
	}
	return n
}

// sends has a host send so many frames of a length and of each DSCP to another, in turns.
func (o *operated) sends(from, to, n, length int, dscps ...uint8) {
	for i := range uint32(n) {
		for _, d := range dscps {
			o.hosts[from].Send(udp(from, to, d, length, i))
		}
	}
}

// control sends a MAC control frame, and waits until the switch has taken it.
func (o *operated) control(host int, frame []byte) {
	o.t.Helper()
	var c show.PFC
	o.show("pfc counters", &c)
	before := c.Ports[host].Control
	o.hosts[host].Send(frame)
	o.until("the MAC control frame was taken", func() bool {
		o.show("pfc counters", &c)
		return c.Ports[host].Control > before
	})
}

// pfcFrame is a PFC frame of a host, with the same time for all classes, of which some are enabled.
func pfcFrame(host int, enable uint8, quanta uint16) []byte {
	f := pfc.Frame{Enable: enable}
	for i := range f.Quanta {
		f.Quanta[i] = quanta
	}
	b := make([]byte, pfc.FrameLen)
	f.Encode(b, mac(host))
	return b
}

// stops has a host stop priorities of its port, and resumes let them go.
func (o *operated) stops(host int, priorities ...int) {
	o.t.Helper()
	o.control(host, pfcFrame(host, set(priorities), pfc.MaxQuanta))
}

func (o *operated) resumes(host int, priorities ...int) {
	o.t.Helper()
	o.control(host, pfcFrame(host, set(priorities), 0))
}

func set(priorities []int) (s uint8) {
	for _, p := range priorities {
		s |= 1 << p
	}
	return s
}

// isControl tells MAC control frames from others.
func isControl(b []byte) bool { return len(b) >= 14 && b[12] == 0x88 && b[13] == 0x08 }

// pfcOf is what PFC frames among some say of a priority: the times, in quanta.
func pfcOf(frames [][]byte, priority int) (quanta []uint16) {
	for _, b := range frames {
		var f pfc.Frame
		if isControl(b) && f.Decode(b) == nil && !f.Global && f.Enable>>priority&1 != 0 {
			quanta = append(quanta, f.Quanta[priority])
		}
	}
	return quanta
}

// pausesReceived are the quanta of the PFC frames about a priority that a host has received once the switch has taken
// all that the host sent.
func (o *operated) pausesReceived(host, priority int) []uint16 {
	o.t.Helper()
	o.receivedUntilSentinel(host, (host+1)%4, noFrame)
	return pfcOf(o.receivedUntilSentinel((host+1)%4, host, isControl), priority)
}

// wants fails the test unless something is as expected.
func wants[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

// storms has a host pause priorities without end, until what it returns is called.
func (o *operated) storms(host int, priorities ...int) (quiet func()) {
	s := startStream(o.hosts[host], 5*time.Millisecond, pfcFrame(host, set(priorities), pfc.MaxQuanta))
	quiet = sync.OnceFunc(s.end)
	o.t.Cleanup(quiet)
	return quiet
}

// watchdogOf is what the watchdog says of a queue.
func (o *operated) watchdogOf(port string, priority int) show.PFCWDQueue {
	o.t.Helper()
	var d show.PFCWD
	o.show("pfcwd", &d)
	i := slices.IndexFunc(d.Queues, func(q show.PFCWDQueue) bool { return q.Port == port && q.Priority == priority })
	if i < 0 {
		o.t.Fatalf("no watchdog at %s, priority %d", port, priority)
	}
	return d.Queues[i]
}

func (o *operated) stormed(port string, priority int) {
	o.t.Helper()
	o.until("a storm at "+port, func() bool { return o.watchdogOf(port, priority).Status == "stormed" })
}

func (o *operated) restored(port string, priority int) {
	o.t.Helper()
	o.until("the end of the storm at "+port, func() bool { q := o.watchdogOf(port, priority); return q.Status == "operational" && q.Restored > 0 })
}

// tagged puts a tag into a frame.
func tagged(b []byte, kind uint16, pcp, vlan int) []byte {
	return slices.Concat(b[:12], []byte{byte(kind >> 8), byte(kind), byte(pcp<<5 | vlan>>8), byte(vlan)}, b[12:])
}

// changed is a copy of a frame with something done to it.
func changed(b []byte, change func(b []byte)) []byte {
	b = bytes.Clone(b)
	change(b)
	return b
}

// reads is what tshark reads in the first of some frames, field by field.
func reads(t *testing.T, frames [][]byte, fields ...string) string {
	t.Helper()
	if len(frames) == 0 {
		t.Fatal("there is no frame to read")
	}
	return strings.Join(testnet.Tshark(t, frames[:1], fields...)[0], " ")
}

// reloads takes over a file with other lines.
func (o *operated) reloads(lines string) {
	o.t.Helper()
	o.write(lines)
	if out, err := o.photon("reload"); err != nil {
		o.t.Fatal(out, err)
	}
}
