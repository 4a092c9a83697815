//go:build dpdk

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"photon/wire"
)

// What merges frames at a port's own interface is switched off, and the log says so.
func TestMergingIsSwitchedOff(t *testing.T) {
	l := newFourHosts(t)
	l.sw.Run(t, "ethtool", "-K", "sw0", "gro", "on")
	o := operateOn(t, l, "")
	o.until("gro is off", func() bool {
		return strings.Contains(l.sw.Run(t, "ethtool", "-k", "sw0"), "generic-receive-offload: off")
	})
	o.until("a line in the log", func() bool {
		return strings.Contains(o.process.log.String(), "port sw0: gro was on at the interface, by which the kernel merges frames: switched off")
	})
}

// At the other end of the cable offloads were left on, as they are unless somebody
// switches them off: ping works, and TCP does not. A counter and the log say what is
// wrong, and how to mend it; when it is mended TCP works.
func TestChecksumsLeftOpen(t *testing.T) {
	for name, on := range map[string][]string{
		"all":       {"tx", "on", "tso", "on", "gso", "on"},
		"checksums": {"tx", "on", "tso", "off", "gso", "off"},
	} {
		t.Run(name, func(t *testing.T) {
			o := operate(t, "metrics: 127.0.0.1:9464\n")
			for i := range 2 {
				o.address(i, "eth0", fmt.Sprintf("10.9.0.%d/24", i+1))
			}
			from, to := o.fourHosts.hosts[0], o.fourHosts.hosts[1]
			from.Run(t, "ethtool", append([]string{"-K", "eth0"}, on...)...)
			if !o.pings(0, "10.9.0.2") {
				t.Error("no ping")
			}
			client := from.Command("iperf3", "-c", "10.9.0.2", "-n", "1M") // it need not find a server: it will not
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			o.until("they are counted", func() bool {
				return sum(o.process.metrics(), "photon_device_rx_open_checksums_total", `port="sw0"`) > 0
			})
			_ = client.Process.Kill()
			_ = client.Wait()
			o.until("a line in the log", func() bool {
				return strings.Contains(o.process.log.String(), "port sw0: frames without their checksum come, which receivers drop: offloads are on at the other end of the cable (there, if it is eth0: `ethtool -K eth0 tx off tso off gso off`)")
			})
			if sum(o.process.metrics(), "photon_device_rx_open_checksums_total", `port="sw1"`) != 0 {
				t.Error("what is right is counted")
			}
			from.Run(t, "ethtool", "-K", "eth0", "tx", "off", "tso", "off", "gso", "off")
			o.tcp(from, to, "10.9.0.2")
		})
	}
}

// Several frames in one, which a card was to take apart: they are dropped, and called
// what they are. Of one that is no longer than a frame an older kernel tells only that its
// checksum is open.
func TestSuperFrames(t *testing.T) {
	o := operate(t, "metrics: 127.0.0.1:9464\n")
	o.fourHosts.hosts[0].Run(t, "ethtool", "-K", "eth0", "tx", "on", "tso", "on", "gso", "on")
	o.hosts[1].Flush()
	const times = 500 // some come right when the port is looked at
	lengths := []int{1000, 3000, 9000, 40_000}
	for range times {
		for _, length := range lengths {
			b := udp(0, 1, 0, length, 0)
			b[23] = wire.ProtoTCP
			b[46] = 5 << 4 // the length of TCP's header
			wire.SetIPv4Checksum(b[14:])
			o.hosts[0].SendSegments(b, 34, 54, 200)
		}
		time.Sleep(100 * time.Microsecond) // so that the ring is never full
	}
	o.hosts[0].Send(udp(0, 1, 26, 1000, 0))
	o.arrives(1, 1)
	metric := func(name, port string) float64 { return sum(o.process.metrics(), name, `port="`+port+`"`) }
	o.until("all are counted", func() bool {
		several := metric("photon_device_rx_super_frames_total", "sw0")
		open := metric("photon_device_rx_open_checksums_total", "sw0")
		return several >= float64(times*(len(lengths)-1)) && several+open == float64(times*len(lengths))
	})
	o.until("a line in the log", func() bool {
		return strings.Contains(o.process.log.String(), "port sw0: super-frames come, several in one, which are dropped: offloads are on at the other end")
	})
	if n := len(o.hosts[1].Collect(100*time.Millisecond, func(b []byte) bool { return b[23] == wire.ProtoTCP && len(b) != 1000 })); n != 0 {
		t.Errorf("%d super-frames or pieces of them arrive", n)
	}
	if n := o.discards("oversize"); n != 0 {
		t.Errorf("%v are called oversize", n)
	}
}
