//go:build dpdk

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"photon/internal/testnet"
)

// machine is DPDK's testpmd behind a virtio-user device: what a virtual machine
// is to a vhost-user port, without the machine.
type machine struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	log   *watched
	stdin io.WriteCloser
	ended chan error
}

// startMachine runs testpmd on a vhost-user socket until the test ends.
func startMachine(t *testing.T, name, socket, mac string, args ...string) *machine {
	t.Helper()
	m := &machine{t: t, name: name, log: &watched{}, ended: make(chan error, 1)}
	m.cmd = exec.Command("stdbuf", append([]string{"-oL", "dpdk-testpmd",
		"--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "-l", "0,1", "--file-prefix", fmt.Sprintf("photon-%s-%d", name, os.Getpid()),
		"--vdev", fmt.Sprintf("net_virtio_user0,path=%s,mac=%s,queue_size=1024", socket, mac), "--", "-i", "--total-num-mbufs=16384", "--no-flush-rx"}, args...)...)
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	m.cmd.Stdout, m.cmd.Stderr = m.log, m.log
	var err error
	if m.stdin, err = m.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := m.ended // quit forgets it
	go func() { ended <- m.cmd.Wait() }()
	t.Cleanup(m.quit)
	return m
}

func (m *machine) say(command string) {
	m.t.Helper()
	if _, err := io.WriteString(m.stdin, command+"\n"); err != nil {
		m.t.Fatalf("%s: %v\n%s", m.name, err, m.log)
	}
}

// forward has the machine forward what it receives, and returns when its port has
// started. A vhost-user port is up before that: the ring is there as soon as the
// driver has found its device, and starting the port throws away what is in it.
func (m *machine) forward() {
	m.t.Helper()
	m.say("start")
	within(m.t, func() bool { return strings.Contains(m.log.String(), " packet forwarding - ") },
		func() string { return m.name + " does not start\n" + m.log.String() })
}

// quit unplugs the machine.
func (m *machine) quit() {
	if m.ended == nil {
		return
	}
	_, _ = io.WriteString(m.stdin, "stop\nquit\n") // it may have ended
	bye := time.Minute
	for deadline := time.Now().Add(bye); ; {
		select {
		case <-m.ended:
			m.ended = nil
			return
		case <-time.After(100 * time.Millisecond):
		}
		if left := time.Until(deadline); bye == time.Minute && strings.Contains(m.log.String(), "Bye...") {
			// It has closed its port. What is left is rte_eal_cleanup, which unmaps memory that is
			// not huge page by page: half a minute on busy cores.
			bye = 5 * time.Second
			deadline = time.Now().Add(min(bye, left))
		} else if left < 0 {
			break
		}
	}
	_ = m.cmd.Process.Kill()
	select {
	case <-m.ended:
	case <-time.After(5 * time.Second):
		// Its port is closed, all frames were counted. Some kernels take minutes to release a process whose entries in
		// /proc they reclaim at the same time.
		m.t.Logf("%s is killed, and its end is not told", m.name)
	}
	if bye == time.Minute {
		m.t.Errorf("%s does not stop\n%s", m.name, m.log)
	}
	m.ended = nil
}

var portStats = regexp.MustCompile(`RX-packets: (\d+) [^T]*TX-packets: (\d+) `)

// counts are the frames that the machine received and sent.
func (m *machine) counts() (received, sent uint64) {
	m.t.Helper()
	before := len(portStats.FindAllString(m.log.String(), -1))
	m.say("show port stats 0")
	var all [][]string
	within(m.t, func() bool {
		all = portStats.FindAllStringSubmatch(m.log.String(), -1)
		return len(all) > before
	}, func() string { return m.name + " does not tell what it counted\n" + m.log.String() })
	last := all[len(all)-1]
	received, _ = strconv.ParseUint(last[1], 10, 64)
	sent, _ = strconv.ParseUint(last[2], 10, 64)
	return received, sent
}

// portCounts is what `photon show ports --json` says of a port.
type portCounts struct {
	Port     string
	Up       bool
	Rx       uint64 `json:"rx_packets"`
	Tx       uint64 `json:"tx_packets"`
	Missed   uint64 `json:"rx_missed"`
	Discards uint64
}

// within waits for something that a busy machine may take long for.
func within(t *testing.T, ok func() bool, otherwise func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(otherwise())
		}
	}
}

// Two virtual machines' ports: frames go from one by photon to the other and
// back, on a lossless priority, and every one of them is found again.
func TestTwoMachinesByVhostUser(t *testing.T) {
	n := testnet.New(t, "sw")
	dir := t.TempDir()
	file, admin := filepath.Join(dir, "switch.yaml"), filepath.Join(dir, "admin")
	sockets := [2]string{filepath.Join(dir, "vm0"), filepath.Join(dir, "vm1")}
	text := fmt.Sprintf("admin: %s\ndscp_to_priority: {0: 3}\nports:\n- device: net_vhost0,iface=%s\n- device: net_vhost1,iface=%s\n", admin, sockets[0], sockets[1])
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	sw := start(t, n, "switch", "-c", file)
	macs := [2]string{"02:00:00:00:00:01", "02:00:00:00:00:02"}
	sender := startMachine(t, "sender", sockets[0], macs[0], "--forward-mode=rxonly", "--eth-peer=0,"+macs[1])
	echo := startMachine(t, "echo", sockets[1], macs[1], "--forward-mode=macswap")
	up := func(want int) {
		t.Helper()
		within(t, func() bool { return strings.Count(sw.log.String(), ": link up") == want },
			func() string { return fmt.Sprintf("the links do not come up\n%s", sw.log) })
	}
	ports := func() []portCounts {
		t.Helper()
		var d struct{ Ports []portCounts }
		var out bytes.Buffer
		root := newRoot()
		root.SetArgs([]string{"show", "ports", "--json", "--socket", admin})
		root.SetOut(&out)
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		return d.Ports
	}
	up(2)
	echo.forward()
	const bursts, burst = 100, 32
	sender.say(fmt.Sprintf("start tx_first %d", bursts))
	var got string
	within(t, func() bool {
		backAtSender, sent := sender.counts()
		received, echoed := echo.counts()
		p := ports()
		got = fmt.Sprintf("sender: %d sent, %d back; echo: %d received, %d echoed; switch: %+v", sent, backAtSender, received, echoed, p)
		return sent > 0 && p[0].Rx == sent && p[1].Tx == sent && received == sent &&
			p[1].Rx == echoed && p[0].Tx == echoed && backAtSender == echoed && p[0].Discards+p[1].Discards+p[0].Missed+p[1].Missed == 0
	}, func() string { return "frames are missing: " + got + "\n" + sw.log.String() })
	t.Log(got)
	if p := ports(); p[0].Port != "net_vhost0" || p[1].Port != "net_vhost1" || !p[0].Up {
		t.Errorf("%+v", p)
	}
	if m := sw.metrics(); sum(m, "photon_port_rx_packets_total", `priority="3"`) != float64(ports()[0].Rx+ports()[1].Rx) {
		t.Error("the frames are not of the lossless priority")
	}

	// A machine that ends is a link that is down; another may take its place.
	sender.quit()
	within(t, func() bool { return strings.Contains(sw.log.String(), "net_vhost0: link down") }, func() string { return "no link goes down\n" + sw.log.String() })
	again := startMachine(t, "again", sockets[0], macs[0], "--forward-mode=rxonly", "--eth-peer=0,"+macs[1])
	up(3)
	again.say("start tx_first 1")
	within(t, func() bool {
		back, sent := again.counts()
		return sent == burst && back == burst
	}, func() string { return "the machine that came later gets no answers\n" + again.log.String() })
}

// A frame that is longer than the receive buffers of a machine that does not merge them is dropped and counted; what
// comes behind it arrives. It stopped the port for good, and the port's peers with it.
func TestMachineWithShortBuffers(t *testing.T) {
	t.Parallel()
	n, host := testnet.New(t, "sw"), testnet.New(t, "host")
	for _, quiet := range []*testnet.Namespace{n, host} { // the machine counts solicitations of routers, too
		quiet.Run(t, "sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
	}
	testnet.Veth(t, n, "sw0", host, "eth0")
	n.Run(t, "ip", "link", "set", "sw0", "mtu", "4200")
	host.Run(t, "ip", "link", "set", "eth0", "mtu", "4200")
	dir := t.TempDir()
	file, socket := filepath.Join(dir, "switch.yaml"), filepath.Join(dir, "vm")
	text := "admin: off\nmtu: 4200\nports:\n- device: net_af_packet0,iface=sw0\n" +
		"- device: net_vhost0,iface=" + socket + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sw := start(t, n, "switch", "-c", file)
	m := startMachine(t, "short", socket, "02:00:00:00:00:01,mrg_rxbuf=0", "--forward-mode=rxonly")
	within(t, func() bool { return strings.Contains(sw.log.String(), "net_vhost0: link up") },
		func() string { return "the link does not come up\n" + sw.log.String() })
	m.forward()
	from := host.Open(t, "eth0")
	for i := range 60 {
		size := 200
		if i%3 == 1 {
			size = 4000
		}
		frame := append([]byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x12, 0x34}, make([]byte, size)...)
		from.Send(frame)
	}
	var received uint64
	dropped := 0.
	within(t, func() bool {
		received, _ = m.counts()
		dropped = sum(sw.metrics(), "photon_device_tx_too_long_total", `port="net_vhost0"`)
		return received == 40 && dropped == 20
	}, func() string { return fmt.Sprintf("%d arrive and %v are dropped, not 40 and 20", received, dropped) })
}

// DPDK's own threads, vhost's among them, stay off the core of the worker, which alone is
// pinned there.
func TestDPDKsThreadsLeaveTheWorkersCore(t *testing.T) {
	var cores unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cores); err != nil {
		t.Fatal(err)
	}
	if cores.Count() < 2 {
		t.Skip("one core: there is nowhere else to be")
	}
	n := testnet.New(t, "sw")
	sw := start(t, n, "switch", "--metrics", "off", "--admin", "off", "--port", "net_null0", "--port", "net_vhost0,iface="+filepath.Join(t.TempDir(), "vm"))
	last := 0 // the worker's, as it is by default
	for i := range 1024 {
		if cores.IsSet(i) {
			last = i
		}
	}
	pinned, dpdks := 0, 0
	look := func() bool {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", sw.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		pinned, dpdks = 0, 0
		for _, task := range tasks {
			id, err := strconv.Atoi(filepath.Base(task))
			if err != nil {
				t.Fatal(err)
			}
			name, err := os.ReadFile(filepath.Join(task, "comm"))
			var may unix.CPUSet
			if err != nil || unix.SchedGetaffinity(id, &may) != nil {
				continue // it has ended
			}
			if may.Count() == 1 && may.IsSet(last) {
				pinned++
			}
			if s := string(name); strings.HasPrefix(s, "eal-") || strings.HasPrefix(s, "rte-") || strings.HasPrefix(s, "vhost") {
				dpdks++
				if may.IsSet(last) {
					t.Errorf("%s may run on core %d, the worker's", strings.TrimSpace(s), last)
				}
			}
		}
		return pinned == 1 && dpdks >= 2
	}
	within(t, look, func() string { // the worker starts after the log has said so
		return fmt.Sprintf("%d threads are pinned to core %d, %d are DPDK's", pinned, last, dpdks)
	})
}
