//go:build dpdk

package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"

	"photon/pfc"
	"photon/telemetry/show"
	"photon/wire"
)

// TCP of the kernel, with ECN, through a lossy queue: it hears of congestion by marks and holds the queue far below its
// limit; nothing is lost. Its receiver counts the packets that the switch has marked.
func TestTCPWithECNHoldsTheQueue(t *testing.T) {
	o := operate(t, "metrics: 127.0.0.1:9464\nrate: 50Mbps\nlossy_queue: 600KB\nqueues: {0: {wred: {kmin: 30KB, kmax: 90KB, pmax: 1}}}\n")
	for host := range 2 {
		o.address(host, "eth0", fmt.Sprintf("10.9.0.%d/24", host+1))
		h := o.fourHosts.hosts[host]
		h.Run(t, "sysctl", "-qw", "net.ipv4.tcp_ecn=1", "net.ipv4.tcp_congestion_control=reno", "net.ipv4.tcp_no_metrics_save=1")
		h.Run(t, "ethtool", "-K", "eth0", "tx", "off", "tso", "off", "gso", "off", "gro", "off")
	}
	from, to := o.fourHosts.hosts[0], o.fourHosts.hosts[1]
	o.tcp(from, to, "10.9.0.2")
	metrics := o.process.metrics()
	marked := sum(metrics, "photon_queue_ecn_marked_packets_total", `port="sw1"`, `priority="0"`)
	counted := kernelCounter(t, to.Run(t, "nstat", "-az", "IpExtInCEPkts"), "IpExtInCEPkts")
	if marked == 0 || counted != marked {
		t.Errorf("the switch has marked %v packets, the receiver's kernel counts %v", marked, counted)
	}
	peak := sum(metrics, "photon_queue_watermark_bytes", `port="sw1"`, `priority="0"`)
	if peak < 30_000 || peak > 400_000 {
		t.Errorf("the queue was %v bytes at most; it is marked from 30 kB on, and every frame from 90 kB", peak)
	}
	if lost := o.discards("tail_drop"); lost != 0 {
		t.Errorf("%v frames found no room", lost)
	}
	cut := kernelCounter(t, from.Run(t, "nstat", "-az", "TcpExtTCPDeliveredCE"), "TcpExtTCPDeliveredCE")
	if cut == 0 {
		t.Error("the sender was never told")
	}
	t.Logf("%v packets marked, the queue was %v bytes at most", marked, peak)
	var m show.Marking
	o.show("marking", &m)
	if len(m.WRED) != 4 || m.WRED[1].Kmax != 90_000 || float64(m.Ports[1].Marked[0]) != marked {
		t.Errorf("show marking says %+v", m)
	}
}

// kernelCounter reads a counter of nstat.
func kernelCounter(t *testing.T, text, name string) float64 {
	t.Helper()
	m := regexp.MustCompile(name + ` +(\d+)`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in\n%s", name, text)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// pauseAll is an 802.3x PAUSE frame.
func pauseAll(host int, quanta uint16) []byte {
	b := make([]byte, pfc.FrameLen)
	(&pfc.Frame{Global: true, Quanta: [8]uint16{quanta}}).Encode(b, mac(host))
	return b
}

// Real frames are marked, and dropped, as the curve says of the queue, which is known to the byte: a host that obeys
// none of PFC pauses the whole port, so that a queue fills up in which nothing moves, and lets it run empty. Kernels say
// things of their own in priorities 0 and 6.
func TestREDAccuracy(t *testing.T) { redAccuracy(t, 60) }

func redAccuracy(t *testing.T, rounds int) {
	const (
		length, limit = 1000, 60 // bytes; frames in the queue
		kmin, kmax    = 10_000, 50_000
		pmax          = 0.4
	)
	o := operate(t, fmt.Sprintf("metrics: 127.0.0.1:9464\npfc: {priorities: []}\nrate: 20Mbps\nlossy_queue: %dB\nqueues: {1: {wred: {kmin: %dB, kmax: %dB, pmax: %v}}}\n", limit*length, kmin, kmax, pmax))
	probability := func(queued int) float64 {
		switch {
		case queued <= kmin:
			return 0
		case queued > kmax:
			return 1
		}
		return pmax * float64(queued-kmin) / (kmax - kmin)
	}
	type draws struct{ n, happened, expected, variance float64 }
	var marks, drops [6]draws // by ten kilobytes of the queue
	add := func(of *[6]draws, queued int, happened bool) {
		d, p := &of[min(queued/10_000, 5)], probability(queued)
		if d.n++; happened {
			d.happened++
		}
		d.expected += p
		d.variance += p * (1 - p)
	}
	pauses := func() (n float64) {
		return sum(o.process.metrics(), "photon_pfc_rx_frames_total", `port="sw2"`, `priority="0"`)
	}
	pausesBefore := pauses()
	number := uint32(1)
	for range rounds {
		for _, capable := range []bool{true, false} {
			o.hosts[2].Flush()
			o.hosts[2].Send(pauseAll(2, pfc.MaxQuanta)) // 1.7 s at this rate
			within(t, func() bool { return pauses() > pausesBefore }, func() string { return "the port is not paused" })
			first := number
			var q show.Queues
			o.show("queues", &q)
			before := q.Ports[2].Packets[1]
			for range limit {
				b := udp(0, 2, 8, length, number)
				if !capable {
					b[15] &^= 3
					wire.SetIPv4Checksum(b[14:])
				}
				o.hosts[0].Send(b)
				number++
			}
			var got [][]byte
			last := udp(0, 2, 40, 64, 0) // of another priority: it is there when all others have come
			o.hosts[0].Send(last)
			o.until("the last frame came", func() bool {
				o.show("queues", &q)
				return q.Ports[2].Queued[5] == 1
			})
			o.hosts[2].Send(pauseAll(2, 0))
			o.until("all that was queued has come", func() bool {
				got = append(got, o.hosts[2].Collect(10*time.Millisecond, isUDP(8))...)
				o.show("queues", &q)
				return q.Ports[2].Queued[1] == 0 && q.Ports[2].Queued[5] == 0 && uint64(len(got)) >= q.Ports[2].Packets[1]-before
			})
			pausesBefore = pauses()
			arrived := map[uint32]bool{}
			for i, b := range got {
				n := uint32(b[42])<<24 | uint32(b[43])<<16 | uint32(b[44])<<8 | uint32(b[45])
				arrived[n] = true
				if behind := (len(got) - 1 - i) * length; capable {
					add(&marks, behind, wire.ECN(b[14:]) == wire.CE)
				}
			}
			if capable && len(got) != limit {
				t.Fatalf("%d of %d frames arrive that are not to be dropped", len(got), limit)
			}
			if !capable {
				queued := 0
				for n := first; n < number; n++ {
					add(&drops, queued, !arrived[n])
					if arrived[n] {
						queued += length
					}
				}
			}
		}
	}
	worst := 0.0
	for what, of := range map[string]*[6]draws{"marked": &marks, "dropped": &drops} {
		for i, d := range of {
			if d.n == 0 {
				continue
			}
			sigma := math.Sqrt(d.variance)
			t.Logf("%d kB: %.0f frames, %s %.4f, curve %.4f, standard error %.4f", 10*i, d.n, what, d.happened/d.n, d.expected/d.n, sigma/d.n)
			off := math.Abs(d.happened - d.expected)
			if off > 4.5*sigma+1e-9 {
				t.Errorf("%s at %d kB: %.0f of %.0f, and the curve says %.1f +- %.1f", what, 10*i, d.happened, d.n, d.expected, sigma)
			}
			if sigma > 0 {
				worst = max(worst, off/sigma)
			}
		}
	}
	if 3*int(marks[3].n) < 25*rounds || 3*int(drops[1].n) < 5*rounds {
		t.Error("too few frames")
	}
	t.Logf("red_accuracy: at most %.1f standard errors off the curve", worst)
	if n := o.discards("wred"); n == 0 {
		t.Errorf("%v frames are counted as dropped", n)
	}
}
