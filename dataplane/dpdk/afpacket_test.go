//go:build dpdk

package dpdk

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"photon/dataplane"
	"photon/fabric"
	"photon/internal/testnet"
	"photon/units"
	"photon/wire"
)

// A switch of two workers on kernel interfaces: what the kernel dropped while
// nobody polled is counted, and with what was received adds up to what was sent.
func TestKernelDropsAreCounted(t *testing.T) {
	outside, inside := testnet.New(t, "outside"), testnet.New(t, "inside")
	testnet.Veth(t, outside, "e0", inside, "p0")
	testnet.Veth(t, outside, "e1", inside, "p1")
	w := newWorld(t, Options{Workers: 2, Cores: []int{0, 1}})
	c := dataplane.SwitchConfig{MTU: 1500, Buffer: 8 * units.MB, Tail: 8 * units.MB, Classes: dataplane.DefaultClasses()}
	var devices [2]Device
	for i := range devices {
		err := inside.Do(func() (err error) {
			devices[i], err = w.Open([]string{"net_af_packet0,iface=p0", "net_af_packet1,iface=p1"}[i], 1500)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if !devices[i].Virtual || devices[i].MAC == 0 || !devices[i].Up {
			t.Errorf("%+v", devices[i])
		}
		c.Ports = append(c.Ports, dataplane.PortConfig{MAC: devices[i].MAC, Link: fabric.Link{Rate: rate}, Worker: i})
	}
	envs := w.NewEnvs(2)
	sw, err := dataplane.NewSwitch(c, envs)
	if err != nil {
		t.Fatal(err)
	}
	id := w.Add("switch", sw, envs, []int{0, 1})
	for i, d := range devices {
		if err := w.Attach(fabric.End{Node: id, Port: i}, d, fabric.Link{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Run(context.Background(), units.Millisecond); err != nil { // so that frames are heard
		t.Fatal(err)
	}
	const sent = kernelFrames + 2000
	from, to := outside.Open(t, "e0"), outside.Open(t, "e1")
	frame := make([]byte, 200)
	wire.MAC(0x020000000001).Put(frame)
	wire.MAC(0x020000000002).Put(frame[6:])
	copy(frame[12:], []byte{0x88, 0xB5}) // for experiments
	for range sent {
		from.Send(frame)
	}
	for until := 300 * units.Millisecond; until < 60*units.Second; until += 300 * units.Millisecond { // a busy machine takes its time
		if err := w.Run(context.Background(), until); err != nil {
			t.Fatal(err)
		}
		if d := w.Devices(); d[0].RxFrames+d[0].RxMissed >= sent && d[1].TxFrames >= d[0].RxFrames {
			break
		}
	}
	if err := w.Audit(); err != nil {
		t.Error(err)
	}
	isOurs := func(b []byte) bool { return b[12] == 0x88 && b[13] == 0xB5 }
	// The driver does not tell of carriers; the kernel does, at once.
	for _, up := range []bool{false, true} {
		outside.Run(t, "ip", "link", "set", "e0", map[bool]string{true: "up", false: "down"}[up])
		if d := w.Devices(); d[0].LinkUp != up || !d[1].LinkUp {
			t.Errorf("the other end is up: %v; links: %v, %v", up, d[0].LinkUp, d[1].LinkUp)
		}
	}
	arrived := len(to.Collect(0, isOurs))
	d := w.Devices()
	if d[0].RxMissed < 1900 || d[0].RxFrames+d[0].RxMissed < sent {
		t.Errorf("%d received, %d missed, of %d", d[0].RxFrames, d[0].RxMissed, sent)
	}
	if arrived+int(d[0].RxMissed) < sent || uint64(arrived) > d[1].TxFrames {
		t.Errorf("%d arrived, %d missed, of %d; the device took %d", arrived, d[0].RxMissed, sent, d[1].TxFrames)
	}
}

// Another process may have a group of packet sockets of any number: a port joins none.
func TestGroupsOfOthersDoNotMatter(t *testing.T) {
	n := testnet.New(t, "groups")
	testnet.Veth(t, n, "e0", n, "e1")
	w := newWorld(t, Options{})
	err := n.Do(func() error {
		own, err := net.InterfaceByName("e0")
		if err != nil {
			return err
		}
		other, err := net.InterfaceByName("e1")
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		t.Cleanup(func() { unix.Close(fd) })
		if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: unix.ETH_P_ALL << 8, Ifindex: other.Index}); err != nil {
			return err
		}
		// The number that DPDK would take for e0, and a group of another interface.
		group := (os.Getpid()^own.Index)&0xFFFF | unix.PACKET_FANOUT_LB<<16
		if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_FANOUT, group); err != nil {
			return err
		}
		_, err = w.Open("net_af_packet0,iface=e0", 1500)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// slowInterface is a switch of three ports on one worker, and the hosts at its ports. The
// kernel sends what the second port sends at a rate of its own, by a token bucket.
func slowInterface(t *testing.T, kernel string) (hosts [3]*testnet.Socket, w World, sw *dataplane.Switch) {
	t.Helper()
	outside, inside := testnet.New(t, "outside"), testnet.New(t, "inside")
	for _, n := range []*testnet.Namespace{outside, inside} { // whose kernels would send frames of their own
		n.Run(t, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
	}
	w = newWorld(t, Options{})
	c := dataplane.SwitchConfig{MTU: 1500, Buffer: 8 * units.MB, Tail: 2 * units.MB, Classes: dataplane.DefaultClasses()}
	var devices [3]Device
	for i := range devices {
		host, port := fmt.Sprintf("e%d", i), fmt.Sprintf("p%d", i)
		testnet.Veth(t, outside, host, inside, port)
		hosts[i] = outside.Open(t, host)
		err := inside.Do(func() (err error) {
			devices[i], err = w.Open(fmt.Sprintf("net_af_packet%d,iface=%s,qdisc_bypass=0,framesz=2048,blocksz=65536,framecnt=1024", i, port), 1500)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Ports = append(c.Ports, dataplane.PortConfig{MAC: devices[i].MAC, Link: fabric.Link{Rate: rate}})
		c.Static = append(c.Static, dataplane.StaticEntry{MAC: wire.MAC(0x020000000000 + i), Ports: []uint16{uint16(i)}})
	}
	inside.Run(t, "tc", "qdisc", "add", "dev", "p1", "root", "tbf", "rate", kernel, "burst", "2000", "limit", "10000000")
	envs := w.NewEnvs(3)
	sw, err := dataplane.NewSwitch(c, envs)
	if err != nil {
		t.Fatal(err)
	}
	id := w.Add("switch", sw, envs, make([]int, 3))
	for i, d := range devices {
		if err := w.Attach(fabric.End{Node: id, Port: i}, d, fabric.Link{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, units.Never) }()
	t.Cleanup(func() { stop(); <-ended })
	<-w.Started()
	return hosts, w, sw
}

// slowFrame is a frame for the host at a port of slowInterface's switch.
func slowFrame(to int) []byte {
	b := make([]byte, 1500)
	wire.MAC(0x020000000000 + to).Put(b)
	wire.MAC(0x020000000000).Put(b[6:])
	copy(b[12:], []byte{0x88, 0xB5})
	return b
}

func isSlowFrame(b []byte) bool { return b[12] == 0x88 && b[13] == 0xB5 }

// The kernel takes some of a burst, for a socket may have so much memory under way, and says that it took some. The
// rest leaves without another frame behind it.
func TestTheKernelTakesTheRestOfABurst(t *testing.T) {
	const frames = 2 * fabric.MaxBurst // the socket's share is some 90
	hosts, w, _ := slowInterface(t, "8mbit")
	w.Do(func(units.Time) { // the worker finds them all
		for range frames {
			hosts[0].Send(slowFrame(1))
		}
	})
	if got := len(hosts[1].Collect(10*time.Second, isSlowFrame)); got != frames {
		t.Errorf("%d frames of %d arrived: %+v", got, frames, w.Devices())
	}
}

// An interface whose queue in the kernel does not move: frames for it wait, and those
// of other ports do not wait with them, although one worker has all ports.
func TestAFullKernelRingStopsNobody(t *testing.T) {
	hosts, w, sw := slowInterface(t, "8kbit")
	passes := func() bool {
		hosts[0].Send(slowFrame(2))
		return len(hosts[2].Collect(100*time.Millisecond, isSlowFrame)) > 0
	}
	pass := func(what string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !passes(); {
			if time.Now().After(deadline) {
				t.Fatalf("%s, and nothing passes to another port: %+v", what, w.Devices())
			}
		}
	}
	pass("nobody sends")
	// Until the ring is full, and the socket's share of memory: then frames wait in the switch.
	var queued units.Size
	for deadline := time.Now().Add(time.Minute); queued == 0; {
		if time.Now().After(deadline) {
			t.Fatalf("nothing waits for the slow interface: %+v", w.Devices())
		}
		for range 500 {
			hosts[0].Send(slowFrame(1))
		}
		w.Do(func(now units.Time) { queued = sw.Stats(now).Ports[1].QueueBytes[0] })
	}
	for range 5 {
		pass("a ring is full")
	}
}

// What the other end of a veth does not take, for it is longer than that takes, or that is down, is lost and counted once,
// and what is behind it goes on.
func TestWhatAPeerRefusesIsLostOnce(t *testing.T) {
	outside, inside := testnet.New(t, "outside"), testnet.New(t, "inside")
	for _, n := range []*testnet.Namespace{outside, inside} { // whose kernels would send frames of their own
		n.Run(t, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
	}
	testnet.Veth(t, outside, "e0", inside, "p0")
	host := outside.Open(t, "e0")
	w := newWorld(t, Options{Sleep: 20 * units.Microsecond})
	var device Device
	err := inside.Do(func() (err error) { device, err = w.Open("net_af_packet0,iface=p0", 4000); return err })
	if err != nil {
		t.Fatal(err)
	}
	envs := w.NewEnvs(1)
	node := &offers{talker: talker{env: envs[0]}}
	if err := w.Attach(fabric.End{Node: w.Add("veth", node, envs, []int{0}), Port: 0}, device, fabric.Link{Rate: 10 * units.Gbps}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, units.Never) }()
	defer func() { stop(); <-ended }()
	<-w.Started()
	isOffer := func(b []byte) bool { return b[0] == 2 && isSlowFrame(b) }
	arrived, lost := 0, uint64(0)
	offer := func(arrive, drop int, lengths ...int) {
		t.Helper()
		arrived, lost = arrived+arrive, lost+uint64(drop)
		w.DoBriefly(func(units.Time) { node.lengths = lengths; envs[0].Wake(0, 0) })
		for deadline := time.Now().Add(20 * time.Second); arrived > 0 || w.Devices()[0].TxDropped != lost; {
			arrived -= len(host.Collect(5*time.Millisecond, isOffer))
			if time.Now().After(deadline) {
				t.Fatalf("%d frames did not arrive, %d lost, want %d", arrived, w.Devices()[0].TxDropped, lost)
			}
		}
		for range 3 { // and no more
			if arrived -= len(host.Collect(5*time.Millisecond, isOffer)); arrived != 0 || w.Devices()[0].TxDropped != lost {
				t.Fatalf("%d more arrived, %d lost, want %d", -arrived, w.Devices()[0].TxDropped, lost)
			}
		}
	}
	many := func(n, length int) (lengths []int) {
		for range n {
			lengths = append(lengths, length)
		}
		return lengths
	}
	offer(2, 1, 60, 1519, 1518)
	offer(1, 3000, append(many(3000, 4000), 60)...)
	offer(3000, 3000, append(many(3000, 2000), many(3000, 1000)...)...)
	outside.Run(t, "ip", "link", "set", "e0", "mtu", "3000")
	offer(301, 1, append(many(301, 3000), 4000)...)
	const warning = "the other end of the cable drops frames of 4000 bytes: its MTU is less than the port's (there, if it is eth0: `ip link set eth0 mtu 4000`)"
	if n := w.Reconnect(); len(n) != 1 || n[0].Text != warning {
		t.Errorf("the log has %v, want %s", n, warning)
	}
	outside.Run(t, "ip", "link", "set", "e0", "down")
	offer(0, 300, many(300, 60)...)
	outside.Run(t, "ip", "link", "set", "e0", "up")
	offer(300, 0, many(300, 1500)...)
}
