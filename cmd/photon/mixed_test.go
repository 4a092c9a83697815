//go:build dpdk

package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// numbered is a stream of numbered frames, and what arrived of it.
type numbered struct {
	from, to int
	sent     atomic.Uint32
	got      atomic.Uint32
}

func (n *numbered) missing() uint32 { return n.sent.Load() - n.got.Load() }

// TestMixed has everything happen to a switch at once, for seconds, or for as
// long as MIXED says (`make mixed`): lossless and lossy traffic, bursts, reloads,
// captures, a link that goes and comes, a peer that storms PAUSE, and malformed
// frames. Nothing lossless is lost but what the watchdog was told to drop, all
// counters add up, and memory does not grow.
func TestMixed(t *testing.T) {
	span := 8 * time.Second
	if s := os.Getenv("MIXED"); s != "" {
		var err error
		if span, err = time.ParseDuration(s); err != nil {
			t.Fatalf("MIXED: %v", err)
		}
	}
	fixed := "metrics: 127.0.0.1:9464\nrate: 50Mbps\nlossy_queue: 30KB\ndpdk: {garbage: 8MB, frames: 65536}\nforwarding: {static: [{mac: '" + mac(2).String() + "', port: 2}]}\n"
	// Headroom for seconds without a poll: the machine may have other work.
	file := func(iteration int) string {
		return fixed + fmt.Sprintf("pfc: {xoff: %dKB, headroom: 8MB, watchdog: {detect: 150ms, restore: 100ms, action: drop}}\nscheme: {name: %s}\nweights: {0: %d, 1: 2}\n",
			30+10*(iteration%3), []string{"pcn", "none"}[iteration%2], 1+iteration%2)
	}
	o := operate(t, file(0))
	end := make(chan struct{})
	var all sync.WaitGroup
	every := func(span time.Duration, do func(turn int)) {
		all.Go(func() {
			tick := time.NewTicker(span)
			defer tick.Stop()
			for iteration := 1; ; iteration++ {
				select {
				case <-end:
					return
				case <-tick.C:
					do(iteration)
				}
			}
		})
	}

	// Lossless, to be received in order and complete.
	streams := []*numbered{{from: 1, to: 0}, {from: 3, to: 0}}
	stopReceiving := make(chan struct{})
	received := make(chan error, 1)
	go func() { received <- receiveAll(o.hosts[0], streams, stopReceiving) }()
	obeys := map[int]*obedience{1: {}, 3: {}}
	for host, x := range obeys {
		all.Go(func() { x.listen(o.hosts[host], end) })
	}
	for _, s := range streams {
		every(3*time.Millisecond, func(int) {
			if obeys[s.from].may() {
				o.hosts[s.from].Send(udp(s.from, s.to, 26, 1000, s.sent.Load()))
				s.sent.Add(1)
			}
		})
	}
	// Lossless and lossy, to hosts that pause or have no link.
	every(10*time.Millisecond, func(turn int) {
		if obeys[1].may() {
			o.hosts[1].Send(udp(1, 3, 26, 1000, uint32(turn)))
			o.hosts[1].Send(udp(1, 2, 26, 500, uint32(turn)))
		}
		o.hosts[1].Send(udp(1, 2, 8, 500, uint32(turn)))
	})
	every(500*time.Millisecond, func(turn int) { // more than a lossy queue holds
		for i := range 100 {
			o.hosts[3].Send(udp(3, 0, uint8(8*(turn%2)), 1000, uint32(i)))
		}
	})
	random := rand.New(rand.NewPCG(1, 2))
	every(20*time.Millisecond, func(int) { o.hosts[3].Send(malformed(random)) })
	every(2*time.Second, func(turn int) { // a storm, of half a second
		for begin := time.Now(); time.Since(begin) < 500*time.Millisecond; time.Sleep(20 * time.Millisecond) {
			o.hosts[3].Send(pauseFrame(3, pfc.MaxQuanta))
		}
		o.hosts[3].Send(pauseFrame(3, 0))
	})
	every(2*time.Second, func(turn int) {
		o.fourHosts.hosts[2].Run(t, "ip", "link", "set", "eth0", []string{"up", "down"}[turn%2])
	})
	every(700*time.Millisecond, func(turn int) {
		o.write(file(turn))
		if out, err := o.photon("reload"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	capture := filepath.Join(t.TempDir(), "sw0.pcapng")
	every(time.Second, func(int) {
		out, err := o.photon("capture", "sw0", "-w", capture, "-c", "200")
		if err != nil && !strings.Contains(err.Error(), "is being captured already") { // the switch has not seen yet that the last one ended
			t.Errorf("%v\n%s", err, out)
		}
	})
	every(time.Second, func(int) { o.process.metrics() })

	time.Sleep(span / 4)
	for deadline := time.Now().Add(patience); strings.Count(o.process.log.String(), "collected ") < 2; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) { // until then the heap grows, as `garbage` allows
			t.Fatalf("garbage was not collected twice\n%s", o.process.log)
		}
	}
	before := resident(t, o.process)
	time.Sleep(span * 3 / 4)
	after := resident(t, o.process)
	close(end)
	quiet := startStream(o.hosts[1], time.Millisecond, udp(1, 0, 0, 100, 0)) // for the capture that still counts
	all.Wait()
	quiet.end()
	o.hosts[3].Send(pauseFrame(3, 0))
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline) && (streams[0].missing() > 0 || streams[1].missing() > 0); {
		time.Sleep(20 * time.Millisecond)
	}
	close(stopReceiving)
	if err := <-received; err != nil {
		t.Error(err)
	}
	for _, s := range streams {
		if n := s.missing(); n > 0 {
			t.Errorf("%d of %d lossless frames from host %d did not arrive", n, s.sent.Load(), s.from)
		}
	}
	m := o.process.metrics()
	for _, reason := range []string{"pfc_watchdog", "tail_drop", "link_down", "reserved_address"} {
		if sum(m, "photon_port_discards_total", `reason="`+reason+`"`) == 0 {
			t.Errorf("nothing was discarded as %s: this was no mixed run", reason)
		}
	}
	if n := sum(m, "photon_port_discards_total", `reason="headroom"`); n != 0 {
		t.Errorf("%v frames overran the headroom", n)
	}
	if n := sum(m, "photon_device_rx_missed_total"); n != 0 {
		t.Errorf("%v frames overran the kernel's rings", n)
	}
	if after > before+4*16<<20 { // rings of captures, 16 MB each, of which some are garbage for a while
		t.Errorf("%d MB resident after the first collections of garbage, %d at the end", before>>20, after>>20)
	}
	t.Logf("%v: %d and %d lossless frames; %d and %d MB resident; longest poll gap %.3g s", span, streams[0].sent.Load(), streams[1].sent.Load(), before>>20, after>>20,
		sum(m, "photon_worker_poll_gap_max_seconds"))
	o.process.stop() // which checks that every frame is accounted for
}

// obedience is a host that does not send priority 3 while the switch pauses it.
type obedience struct{ until atomic.Int64 }

func (o *obedience) may() bool { return time.Now().UnixNano() >= o.until.Load() }

// listen takes in the switch's PFC frames.
func (o *obedience) listen(at *testnet.Socket, end chan struct{}) {
	for {
		select {
		case <-end:
			return
		default:
		}
		var f pfc.Frame
		if b := at.Receive(20 * time.Millisecond); b != nil && wire.MACAt(b) == pfc.Destination && f.Decode(b) == nil && f.Enable>>3&1 != 0 {
			o.until.Store(time.Now().Add(pfc.Duration(f.Quanta[3], 50*units.Mbps).Duration()).UnixNano())
		}
	}
}

// receiveAll takes what arrives at a host and checks the order of streams.
func receiveAll(at *testnet.Socket, streams []*numbered, stop chan struct{}) error {
	lossless := isUDP(26)
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		b := at.Receive(20 * time.Millisecond)
		if b == nil || !lossless(b) {
			continue
		}
		for _, s := range streams {
			if wire.MACAt(b) != mac(s.to) || wire.MACAt(b[6:]) != mac(s.from) { // or flooded, since host 2 is forgotten
				continue
			}
			if n := binary.BigEndian.Uint32(b[42:]); n != s.got.Load() {
				return fmt.Errorf("frame %d from host %d arrives, %d was expected; the observer missed %d frames", n, s.from, s.got.Load(), at.Missed())
			}
			s.got.Add(1)
		}
	}
}

// malformed is a frame that no host should send.
func malformed(r *rand.Rand) []byte {
	b := make([]byte, 14+r.IntN(1400))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	mac(0).Put(b)
	mac(9).Put(b[6:])
	set := func(etherType uint16) { binary.BigEndian.PutUint16(b[12:], etherType) }
	switch r.IntN(7) {
	case 0: // MAC control of some opcode
		pfc.Destination.Put(b)
		set(wire.TypeMACControl)
	case 1: // addresses of the link
		wire.MAC(0x0180_C200_0000 | wire.MAC(r.IntN(16))).Put(b)
	case 2: // IP that is not
		set(wire.TypeIPv4)
	case 3: // tags and no more
		for i := 12; i+4 <= len(b); i += 4 {
			binary.BigEndian.PutUint16(b[i:], 0x8100)
		}
	case 4: // half of a packet
		whole := udp(3, 0, 0, 100, 0)
		b = whole[:14+r.IntN(40)]
	case 5: // from everybody
		wire.Broadcast.Put(b[6:])
	case 6: // an IPv6 header cut short
		set(0x86DD)
		b = b[:min(len(b), 14+r.IntN(40))]
	}
	return b
}

// resident is how much memory of a process there is, in bytes.
func resident(t *testing.T, p *process) (bytes int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &bytes); !ok || err != nil {
		t.Fatalf("%v\n%s", err, status)
	}
	return bytes << 10
}
