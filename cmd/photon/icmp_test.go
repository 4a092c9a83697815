//go:build dpdk

package main

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/wire"
)

// between has a router between h0 and h1, which find each other through it; lines are of its file.
func between(t *testing.T, lines string) *operated {
	o := operate(t, lines)
	for i := range 2 {
		o.address(i, "eth0", fmt.Sprintf("10.%d.0.2/24", i+1), fmt.Sprintf("fd00:%d::2/64", i+1))
		h := o.fourHosts.hosts[i]
		h.Run(t, "ip", "route", "add", "default", "via", fmt.Sprintf("10.%d.0.1", i+1))
		h.Run(t, "sysctl", "-qw", "net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0") // hosts answer every probe of traceroute
		h.Run(t, "ip", "-6", "route", "add", "default", "via", fmt.Sprintf("fd00:%d::1", i+1))
	}
	return o
}

// says is what a command in h0 prints, which may fail.
func (o *operated) says(command ...string) string {
	o.t.Helper()
	out, _ := o.fourHosts.hosts[0].Command(command[0], command[1:]...).CombinedOutput()
	return string(out)
}

// The tools of operators see the router: where packets end, why, and how long they may be; the kernel believes
// it, and tshark finds nothing wrong with what it says.
func TestRouterTellsSenders(t *testing.T) {
	t.Parallel()
	const router = "router: {mac: '02:00:00:00:aa:aa', addresses: [10.1.0.1, 10.2.0.1, 'fd00:1::1', 'fd00:2::1']%s}\nroutes:\n" +
		"- {prefix: 10.1.0.2/32, via: [{port: 0, mac: '02:00:00:00:00:01'}]}\n- {prefix: 'fd00:1::/64', via: [{port: 0, mac: '02:00:00:00:00:01'}]}\n" +
		"- {prefix: 10.2.0.2/32, via: [{port: 1, mac: '02:00:00:00:00:02', mtu: 1300}]}\n- {prefix: 'fd00:2::/64', via: [{port: 1, mac: '02:00:00:00:00:02', mtu: 1300}]}\n" +
		"- {prefix: 10.3.0.0/16, action: prohibit}\n- {prefix: 'fd00:3::/64', action: prohibit}\n- {prefix: 10.4.0.0/16, action: blackhole}\n"
	text := strings.NewReplacer("02:00:00:00:00:01", mac(0).String(), "02:00:00:00:00:02", mac(1).String()).Replace(router)
	o := between(t, fmt.Sprintf(text, ""))
	o.until("the router answers", func() bool {
		return o.pings(0, "10.1.0.1") && o.pings(0, "fd00:1::1") && o.pings(1, "10.2.0.1") && o.pings(1, "fd00:2::1")
	})
	o.until("and routes", func() bool { return o.pings(0, "10.2.0.2") && o.pings(0, "fd00:2::2") })
	socket := o.fourHosts.hosts[0].Open(t, "eth0")
	socket.Flush()
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"traceroute -n -w 5 10.2.0.2", []string{" 1  10.1.0.1 ", " 2  10.2.0.2 "}},
		{"traceroute -n -6 -w 5 fd00:2::2", []string{" 1  fd00:1::1 ", " 2  fd00:2::2 "}},
		{"traceroute -n -I -w 5 10.2.0.2", []string{" 1  10.1.0.1 ", " 2  10.2.0.2 "}},
		{"traceroute -n -w 5 10.1.0.1", []string{" 1  10.1.0.1 "}},
		{"ping -c 1 -W 5 10.9.9.9", []string{"From 10.1.0.1 icmp_seq=1 Destination Net Unreachable"}},
		{"ping -c 1 -W 5 fd00:9::9", []string{"From fd00:1::1 icmp_seq=1 Destination unreachable: No route"}},
		{"ping -c 1 -W 5 10.3.0.9", []string{"From 10.1.0.1 icmp_seq=1 Packet filtered"}},
		{"ping -c 1 -W 5 fd00:3::9", []string{"From fd00:1::1 icmp_seq=1 Destination unreachable: Administratively prohibited"}},
		{"ping -c 1 -W 5 -t 1 10.2.0.2", []string{"From 10.1.0.1 icmp_seq=1 Time to live exceeded"}},
		{"ping -c 1 -W 5 -t 1 fd00:2::2", []string{"From fd00:1::1 icmp_seq=1 Time exceeded: Hop limit"}},
		{"ping -c 1 -W 5 -M do -s 1400 10.2.0.2", []string{"From 10.1.0.1 icmp_seq=1 Frag needed and DF set (mtu = 1300)"}},
		{"ip route get 10.2.0.2", []string{"mtu 1300"}},
		{"ping -c 1 -W 5 -M do -s 1272 10.2.0.2", []string{" 0% packet loss"}},
		{"ping -c 1 -W 5 -M do -s 1400 fd00:2::2", []string{"From fd00:1::1 icmp_seq=1 Packet too big: mtu=1300"}},
		{"ip route get fd00:2::2", []string{"mtu 1300"}},
		{"ping -c 1 -W 5 -s 1400 fd00:2::2", []string{" 0% packet loss"}}, // the sender makes fragments now
		{"tracepath -n 10.2.0.2", []string{"10.1.0.1", "pmtu 1300", "10.2.0.2", "reached"}},
		{"tracepath -n fd00:2::2", []string{"fd00:1::1", "pmtu 1300", "fd00:2::2", "reached"}},
	} {
		out := o.says(strings.Fields(c.command)...)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", c.command, want, out)
			}
		}
	}
	if n := strings.Count(o.says("ping", "-c", "1", "-W", "1", "10.4.0.1"), "From"); n != 0 {
		t.Errorf("%d answers out of a black hole", n)
	}
	o.tcp(o.fourHosts.hosts[0], o.fourHosts.hosts[1], "10.2.0.2")
	o.tcp(o.fourHosts.hosts[0], o.fourHosts.hosts[1], "fd00:2::2")

	// Each error as tshark reads it: from the router, with sums that hold, and in the class of what keeps networks alive.
	errors4 := socket.Collect(100*time.Millisecond, func(b []byte) bool {
		return len(b) > 34 && wire.MACAt(b[6:]) == 0x02000000AAAA && binary.BigEndian.Uint16(b[12:]) == wire.TypeIPv4 && b[23] == wire.ProtoICMP && b[26] == 10 && b[27] == 1 && b[34] != 0 // from the router itself, and no reply
	})
	if len(errors4) < 5 {
		t.Fatalf("%d errors were heard", len(errors4))
	}
	// What they quote is read, too: the first of two is the error's own.
	for i, row := range testnet.Tshark(t, errors4, "icmp.type", "icmp.checksum.status", "ip.dsfield.dscp", "ip.src") {
		for j := range row {
			row[j], _, _ = strings.Cut(row[j], ",")
		}
		if got := strings.Join(row, " "); got != "3 1 48 10.1.0.1" && got != "11 1 48 10.1.0.1" || !wire.IPv4ChecksumOK(errors4[i][14:]) {
			t.Errorf("tshark finds %s of % x", got, errors4[i])
		}
	}

	// No more than may be: what is beyond is counted.
	o.write(fmt.Sprintf(text, ", icmp: {rate: 1pps, burst: 2}"))
	if out, err := o.photon("reload"); err != nil {
		t.Fatal(out, err)
	}
	dying := udp(0, 1, 26, 200, 7)
	copy(dying, []byte{2, 0, 0, 0, 0xAA, 0xAA})
	copy(dying[26:], []byte{10, 1, 0, 2, 10, 2, 0, 2})
	dying[22] = 1
	setChecksum(dying)
	before := sum(o.process.metrics(), "photon_port_icmp_errors_total")
	ttl := o.discards("ttl")
	for range 200 {
		o.hosts[0].Send(dying)
	}
	o.until("all have died", func() bool { return o.discards("ttl") == ttl+200 })
	sent, limited := sum(o.process.metrics(), "photon_port_icmp_errors_total")-before, sum(o.process.metrics(), "photon_port_icmp_errors_limited_total")
	if sent+limited != 200 || limited < 100 {
		t.Errorf("%v errors sent and %v not", sent, limited)
	}
	o.write(fmt.Sprintf(text, ", icmp: {errors: false}"))
	if out, err := o.photon("reload"); err != nil {
		t.Fatal(out, err)
	}
	if out := o.says("ping", "-c", "1", "-W", "1", "10.3.0.9"); strings.Contains(out, "From") {
		t.Errorf("errors are off: %s", out)
	}
}
