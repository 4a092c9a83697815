//go:build dpdk

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"photon/wire"
)

// fragments are the two halves of a UDP packet from one host to another.
func fragments(from, to int, id uint16) (all [][]byte) {
	for i := range 2 {
		b := udp(from, to, 0, 434, uint32(id)) // of a priority that is not marked
		binary.BigEndian.PutUint16(b[18:], id)
		at := uint16(1 << 13) // more fragments
		if i == 1 {
			at = (434 - 34) / 8
		}
		binary.BigEndian.PutUint16(b[20:], at)
		wire.SetIPv4Checksum(b[14:])
		b[len(b)-1] = byte(i)
		all = append(all, b)
	}
	return all
}

// Nothing puts IPv4 fragments together on their way: each leaves as it came, in order,
// and hosts that fragment reach each other.
func TestFragmentsLeaveAsTheyCame(t *testing.T) {
	o := operate(t, "")
	o.hosts[1].Flush()
	var sent [][]byte
	for id := range uint16(50) {
		for _, f := range fragments(0, 1, 1000+id) {
			o.hosts[0].Send(f)
			sent = append(sent, f)
		}
	}
	isFragment := func(b []byte) bool {
		return len(b) > 34 && b[12] == 8 && b[13] == 0 && b[23] == wire.ProtoUDP && b[20]&0x3F|b[21] != 0
	}
	var got [][]byte
	within(t, func() bool {
		got = append(got, o.hosts[1].Collect(20*time.Millisecond, isFragment)...)
		return len(got) >= len(sent)
	}, func() string {
		return fmt.Sprintf("%d of %d fragments arrived\n%s", len(got), len(sent), o.process.log)
	})
	if !slices.EqualFunc(got, sent, bytes.Equal) {
		t.Errorf("%d fragments arrive, changed or in another order", len(got))
	}
	for host := range 2 {
		o.address(host, "eth0", fmt.Sprintf("10.9.0.%d/24", host+1))
	}
	if !o.pings(0, "10.9.0.2", "-s", "4000") {
		t.Error("no ping of three fragments")
	}
	server := o.fourHosts.hosts[1].Command("iperf3", "-s", "-1", "--forceflush")
	listening := &watched{wait: "listening", found: make(chan struct{})}
	server.Stdout = listening
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	<-listening.found
	o.fourHosts.hosts[0].Run(t, "iperf3", "-u", "-c", "10.9.0.2", "-l", "8000", "-b", "10M", "-n", "1M")
	if err := server.Wait(); err != nil {
		t.Errorf("iperf3 server: %v", err)
	}
	if out := listening.String(); !strings.Contains(out, " 0/") {
		t.Errorf("UDP of 8000 bytes was lost:\n%s", out)
	}
	if n := o.discards("oversize"); n != 0 {
		t.Errorf("%v frames were put together", n)
	}
}

// Frames that the kernel's interface does not take arrive or are counted, whatever the
// switch thinks of them: by a byte more than the MTU, by a tag more, by two tags of a
// provider; and when somebody lowers the interface's MTU while the switch runs.
func TestFramesThatTheInterfaceDoesNotTake(t *testing.T) {
	l := newFourHosts(t)
	l.hosts[0].Run(t, "ip", "link", "set", "eth0", "mtu", "1600")
	l.sw.Run(t, "ip", "link", "set", "sw0", "mtu", "1600")
	o := operateOn(t, l, "metrics: 127.0.0.1:9464\n")
	o.hosts[1].Flush()
	counted := func() float64 {
		m := o.process.metrics()
		return sum(m, "photon_device_tx_too_long_total", `port="sw1"`) + sum(m, "photon_port_discards_total", `reason="oversize"`, `port="sw0"`)
	}
	sent, arrived := 0, 0
	var address [6]byte
	mac(1).Put(address[:])
	send := func(b []byte) {
		t.Helper()
		o.hosts[0].Send(b)
		sent++
	}
	balance := func(what string) {
		t.Helper()
		within(t, func() bool {
			arrived += len(o.hosts[1].Collect(20*time.Millisecond, func(b []byte) bool { return bytes.HasPrefix(b, address[:]) }))
			return arrived+int(counted()) >= sent
		}, func() string {
			return fmt.Sprintf("%s: %d frames sent, %d arrived, %v counted\n%s", what, sent, arrived, counted(), o.process.log)
		})
		if n := arrived + int(counted()); n != sent {
			t.Errorf("%s: %d frames sent, %d arrived, %v counted", what, sent, arrived, counted())
		}
	}
	tagged := func(length int, types ...uint16) []byte {
		b := udp(0, 1, 26, length-4*len(types), 0)
		tags := []byte{}
		for _, kind := range types {
			tags = append(tags, byte(kind>>8), byte(kind), 3<<5, 0)
		}
		return slices.Concat(b[:12], tags, b[12:])
	}
	for more := range 10 { // from the longest that is right
		send(udp(0, 1, 26, 1514+more, 0))
		send(tagged(1518+more, 0x8100))
		send(tagged(1522+more, 0x88A8, 0x8100))
		send(tagged(1522+more, 0x8100, 0x8100))
	}
	balance("longer than the MTU")
	if arrived < 2 {
		t.Errorf("%d frames arrived", arrived)
	}
	o.sw.Run(t, "ip", "link", "set", "sw1", "mtu", "1000")
	o.until("a line in the log", func() bool {
		return strings.Contains(o.process.log.String(), "port sw1: the interface takes no frames of mtu 1500, but of 1000 at most: `ip link set sw1 mtu 1500`")
	})
	for range 20 {
		send(udp(0, 1, 26, 1400, 0))
		send(udp(0, 1, 26, 1014, 0))
	}
	balance("the MTU of the interface was lowered")
	o.sw.Run(t, "ip", "link", "set", "sw1", "mtu", "1500")
	o.until("another", func() bool {
		return strings.Contains(o.process.log.String(), "port sw1: the interface takes frames of mtu 1500 again")
	})
	before := arrived
	for range 20 {
		send(udp(0, 1, 26, 1514, 0))
	}
	balance("it was raised again")
	if arrived != before+20 {
		t.Errorf("%d of 20 frames arrived", arrived-before)
	}
}
