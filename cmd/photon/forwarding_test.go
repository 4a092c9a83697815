//go:build dpdk

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/telemetry/show"
	"photon/wire"
)

// address gives a host addresses on an interface, and the MAC address that the
// tests know it by.
func (o *operated) address(host int, iface string, addresses ...string) {
	o.t.Helper()
	h := o.fourHosts.hosts[host]
	h.Run(o.t, "ip", "link", "set", "eth0", "address", mac(host).String())
	for _, a := range addresses {
		args := []string{"addr", "add", a, "dev", iface}
		if strings.Contains(a, ":") {
			args = append(args, "nodad")
		}
		h.Run(o.t, "ip", args...)
	}
}

// pings reports whether a host reaches an address.
func (o *operated) pings(host int, to string, args ...string) bool {
	o.t.Helper()
	return o.fourHosts.hosts[host].Ping(o.t, 3, to, args...) == ""
}

// tcp has one host send to another with TCP.
func (o *operated) tcp(from, to *testnet.Namespace, address string) {
	o.t.Helper()
	server := to.Command("iperf3", "-s", "-1", "--forceflush")
	listening := &watched{wait: "listening", found: make(chan struct{})}
	server.Stdout = listening
	if err := server.Start(); err != nil {
		o.t.Fatal(err)
	}
	<-listening.found
	from.Run(o.t, "iperf3", "-c", address, "-n", "10M")
	if err := server.Wait(); err != nil {
		o.t.Errorf("iperf3 server: %v", err)
	}
}

// discards is how many frames were discarded for a reason.
func (o *operated) discards(reason string) float64 {
	o.t.Helper()
	return sum(o.process.metrics(), "photon_port_discards_total", `reason="`+reason+`"`)
}

// Two switches with a trunk between them, and hosts that know nothing of VLANs: who
// is in a VLAN reaches the others in it on the other switch, and nobody else.
func TestVLANsOverATrunk(t *testing.T) {
	t.Parallel()
	o := operate(t, "vlans:\n- {id: 10, untagged: [0, 1], tagged: [3]}\n- {id: 20, untagged: [2], tagged: [3]}\n- {id: 30, untagged: [3]}\n")
	// What was h3 is a switch with a port on its eth0, and hosts of its own.
	other := o.fourHosts.hosts[3]
	far := []*testnet.Namespace{testnet.New(t, "f0"), testnet.New(t, "f1")}
	text := "name: other\nadmin: off\nmetrics: off\nports:\n- device: net_af_packet0,iface=eth0\n"
	for i, h := range far {
		testnet.Veth(t, h, "eth0", other, fmt.Sprintf("p%d", i))
		h.Run(t, "ip", "addr", "add", fmt.Sprintf("10.9.0.%d0/24", i+1), "dev", "eth0")
		text += fmt.Sprintf("- device: net_af_packet%d,iface=p%d\n", i+1, i)
	}
	file := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(file, []byte(text+"vlans:\n- {id: 10, tagged: [0], untagged: [1]}\n- {id: 20, tagged: [0], untagged: [2]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, other, "switch", "-c", file)
	for host, address := range []string{"10.9.0.1/24", "10.9.0.2/24", "10.9.0.3/24"} {
		o.address(host, "eth0", address)
	}
	for _, c := range []struct {
		from int
		to   string
		want bool
	}{{0, "10.9.0.2", true}, {0, "10.9.0.10", true}, {1, "10.9.0.10", true}, {2, "10.9.0.20", true}, {0, "10.9.0.3", false}, {0, "10.9.0.20", false}} {
		if got := o.pings(c.from, c.to, map[bool][]string{false: {"-W", "1"}}[c.want]...); got != c.want {
			t.Errorf("h%d reaches %s: %v", c.from, c.to, got)
		}
	}
	o.tcp(o.fourHosts.hosts[0], o.fourHosts.hosts[1], "10.9.0.2")
	o.tcp(o.fourHosts.hosts[0], far[0], "10.9.0.10")

	var fdb show.FDB
	o.show("fdb", &fdb)
	var at []string
	for _, e := range fdb.Entries {
		if e.MAC == mac(0).String() || e.MAC == mac(2).String() {
			at = append(at, fmt.Sprint(e.VLAN, e.Ports))
		}
	}
	if !slices.Equal(at, []string{"10 [sw0]", "20 [sw2]"}) {
		t.Error("addresses are at", at)
	}
	var vlans show.VLANs
	o.show("vlan", &vlans)
	if m := vlans.VLANs; len(m) != 3 || m[0].ID != 10 || len(m[0].Members) != 3 || m[0].Members[0].Port != "sw0" || m[0].Members[0].Addresses == 0 || m[0].Members[0].Tagged || !m[0].Members[2].Tagged {
		t.Errorf("%+v", vlans)
	}

	// h2 moves to the other VLAN, without a restart.
	o.write("vlans:\n- {id: 10, untagged: [0, 1, 2], tagged: [3]}\n- {id: 20, tagged: [3]}\n- {id: 30, untagged: [3]}\n")
	if out, err := o.photon("reload"); err != nil || !strings.Contains(out, "vlans[0].untagged: [0 1] -> [0 1 2]") {
		t.Fatal(out, err)
	}
	// The kernel may still be asking for the neighbour that it did not find above.
	o.until("h2 is in its new VLAN", func() bool { return o.pings(0, "10.9.0.3") })
	before := o.discards("vlan")
	frame := udp(0, 1, 0, 100, 0)
	o.hosts[0].Send(slices.Concat(frame[:12], []byte{0x81, 0, 0, 77}, frame[12:]))
	o.until("a frame of no VLAN is discarded", func() bool { return o.discards("vlan") == before+1 })
}

// Two subnets: hosts find the router by themselves, the router knows them by its
// routes. Routes change while it runs, and nothing happens if they are wrong.
func TestRoutingBetweenSubnets(t *testing.T) {
	const router = "router: {mac: '02:00:00:00:aa:aa', addresses: [10.1.0.1, 10.2.0.1, 'fd00:1::1', 'fd00:2::1']}\n"
	o := operate(t, router)
	for i := range 2 {
		o.address(i, "eth0", fmt.Sprintf("10.%d.0.2/24", i+1), fmt.Sprintf("fd00:%d::2/64", i+1))
		h := o.fourHosts.hosts[i]
		h.Run(t, "ip", "route", "add", "default", "via", fmt.Sprintf("10.%d.0.1", i+1))
		h.Run(t, "ip", "-6", "route", "add", "default", "via", fmt.Sprintf("fd00:%d::1", i+1))
	}
	o.until("the router answers", func() bool { return o.pings(0, "10.1.0.1") && o.pings(1, "fd00:2::1") })
	if o.pings(0, "10.2.0.2", "-W", "1") || o.discards("no_route") == 0 {
		t.Error("there is no route yet")
	}
	routes := router + "routes:\n"
	for i := range 2 {
		for _, prefix := range []string{"10.%d.0.2/32", "fd00:%d::/64"} {
			routes += fmt.Sprintf("- {prefix: '"+prefix+"', via: [{port: %d, mac: '%v'}]}\n", i+1, i, mac(i))
		}
	}
	o.write(routes)
	if out, err := o.photon("reload"); err != nil || !strings.Contains(out, "routes: 0 -> 4") {
		t.Fatal(out, err)
	}
	o.until("pings through the router", func() bool { return o.pings(0, "10.2.0.2") && o.pings(1, "10.1.0.2") && o.pings(0, "fd00:2::2") })
	o.tcp(o.fourHosts.hosts[0], o.fourHosts.hosts[1], "10.2.0.2")
	o.tcp(o.fourHosts.hosts[1], o.fourHosts.hosts[0], "fd00:1::2")
	if out := o.fourHosts.hosts[0].Run(t, "ip", "neigh", "show", "10.1.0.1"); !strings.Contains(out, "02:00:00:00:aa:aa") {
		t.Errorf("the neighbour is %s", out)
	}
	// What arrives has one hop less to live, which tshark sees, with good checksums.
	o.hosts[1].Flush()
	frame := udp(0, 1, 26, 200, 7)
	copy(frame, []byte{2, 0, 0, 0, 0xAA, 0xAA})
	copy(frame[26:], []byte{10, 1, 0, 2, 10, 2, 0, 2})
	setChecksum(frame)
	o.hosts[0].Send(frame)
	got := o.arrives(1, 1)
	rows := testnet.Tshark(t, got[:1], "ip.ttl", "eth.src", "eth.dst", "ip.dsfield.dscp", "ip.dst")
	if row := strings.Join(rows[0], " "); row != "63 02:00:00:00:aa:aa "+mac(1).String()+" 26 10.2.0.2" {
		t.Error(row)
	}
	frame[22] = 1
	setChecksum(frame)
	o.hosts[0].Send(frame)
	o.until("a packet whose time is over is discarded", func() bool { return o.discards("ttl") == 1 })

	o.write(routes + "- {prefix: 10.3.0.0/24, via: [{port: 8, mac: '02:00:00:00:00:01'}]}\n")
	if out, err := o.photon("reload"); err == nil || !strings.Contains(err.Error(), "there is no port 8 (there are 0 to 3)") {
		t.Error(out, err)
	}
	var shown show.Routes
	o.show("routes", &shown)
	if len(shown.Routes) != 4 || shown.Routed < 1000 || shown.MAC != "02:00:00:00:aa:aa" || shown.Routes[0].Prefix != "10.1.0.2/32" || shown.Routes[0].Via[0].Port != "sw0" || !shown.Routes[0].Via[0].LinkUp {
		t.Errorf("%+v", shown)
	}
	if lost := o.discards("headroom") + o.discards("bad_ip_header"); lost != 0 {
		t.Errorf("%v frames lost", lost)
	}
}

// A storm of broadcasts is cut to its limit, and what else is sent passes.
func TestStormControl(t *testing.T) {
	o := operate(t, "forwarding: {flood: false}\nstorm_control: {broadcast: {rate: 1pps, burst: 5}}\n")
	o.hosts[1].Flush()
	storm := udp(0, 0, 26, 100, 0)
	copy(storm, []byte{255, 255, 255, 255, 255, 255})
	for range 400 {
		o.hosts[0].Send(storm)
	}
	for n := range uint32(50) {
		o.hosts[0].Send(udp(0, 1, 0, 100, n))
	}
	o.hosts[0].Send(udp(0, 77, 26, 100, 0))
	o.arrivesOf(1, 0, 50)
	o.until("all is received", func() bool { return o.discards("unknown_unicast") >= 1 })
	// Some may pass in the seconds that this takes, on a busy machine too.
	if n := o.discards("flood_limit"); n < 300 || n > 400 {
		t.Errorf("%v of 400 frames were held", n)
	}
}

// The longest frames there are, over kernel interfaces that took none such before.
func TestJumboFrames(t *testing.T) {
	o := operate(t, "mtu: 9216\n")
	for i := range 2 {
		o.fourHosts.hosts[i].Run(t, "ip", "link", "set", "eth0", "mtu", "9216")
		o.address(i, "eth0", fmt.Sprintf("10.9.0.%d/24", i+1))
	}
	if !o.pings(0, "10.9.0.2", "-M", "do", "-s", "9188") {
		t.Error("no ping of 9216 bytes")
	}
	o.hosts[1].Flush()
	o.hosts[0].Send(udp(0, 1, 26, 9000, 1))
	if got := o.arrives(1, 1); len(got[0]) != 9000 {
		t.Errorf("%d bytes", len(got[0]))
	}
	o.tcp(o.fourHosts.hosts[0], o.fourHosts.hosts[1], "10.9.0.2")
	var ports show.Ports
	o.show("ports", &ports)
	if p := ports.Ports[0]; p.Missed != 0 || p.Discards != 0 {
		t.Errorf("%+v", p)
	}
}

// Frames as long as the MTU allows pass, and longer ones are discarded and counted,
// whatever the interface would take: by a byte, by a tag, and longer than a frame buffer.
func TestFramesAboveTheMTU(t *testing.T) {
	l := newFourHosts(t)
	for i := range 2 { // before photon, which does not lower what is higher
		l.sw.Run(t, "ip", "link", "set", fmt.Sprintf("sw%d", i), "mtu", "9000")
		l.hosts[i].Run(t, "ip", "link", "set", "eth0", "mtu", "9000")
	}
	o := operateOn(t, l, "metrics: 127.0.0.1:9464\nmtu: 2000\n")
	const longest = 14 + 4 + 2000 // with a tag, at which this switch does not look
	tagged := func(length int, number uint32) []byte {
		b := udp(0, 1, 26, length-4, number)
		return slices.Concat(b[:12], []byte{0x81, 0, 3 << 5, 0}, b[12:])
	}
	o.hosts[1].Flush()
	for n, f := range [][]byte{
		udp(0, 1, 26, longest-4, 0), udp(0, 1, 26, longest+1, 1), udp(0, 1, 26, 9014, 2), tagged(longest, 3), tagged(longest+1, 4), udp(0, 1, 0, longest+1, 5), udp(0, 1, 26, longest-4, 6),
	} {
		if o.hosts[0].Send(f); n%2 == 0 { // some by themselves, some together
			time.Sleep(5 * time.Millisecond)
		}
	}
	var lengths []int
	for _, b := range o.arrives(1, 3) {
		lengths = append(lengths, len(b))
	}
	if !slices.Equal(lengths, []int{longest - 4, longest, longest - 4}) {
		t.Errorf("frames of %v bytes arrive", lengths)
	}
	o.until("the others are counted", func() bool { return o.discards("oversize") == 4 })
	if n := len(o.hosts[1].Collect(100*time.Millisecond, func(b []byte) bool { return len(b) > longest })); n != 0 {
		t.Errorf("%d longer ones arrive", n)
	}
}

// setChecksum makes the checksum of a frame's IPv4 header right.
func setChecksum(frame []byte) { wire.SetIPv4Checksum(frame[14:]) }
