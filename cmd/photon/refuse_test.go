//go:build dpdk

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"photon/internal/testnet"
)

// A second photon beside one that runs, which has what is its: each is refused in one
// line with exit code 2, before it changed anything, and the one that runs goes on.
func TestSecondPhotonIsRefused(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := newFourHosts(t)
	dir := t.TempDir()
	// A name of this test's own: photon's default folder is the machine's.
	name := fmt.Sprintf("first-%d", os.Getpid())
	file := func(text string) string {
		t.Helper()
		f := filepath.Join(dir, "second.yaml")
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := filepath.Join(dir, "first.yaml")
	if err := os.WriteFile(first, []byte("name: "+name+"\nlive: {listen: 127.0.0.1:9471}\nports:\n- device: net_af_packet0,iface=sw0\n- device: net_af_packet1,iface=sw1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startCommand(t, l.sw, l.sw.Command(self, "switch", "-c", first)) // it shares the folder of sockets with the second
	const others = "ports:\n- device: net_af_packet0,iface=sw2\n- device: net_af_packet1,iface=sw3\nmtu: 4000\n"
	const quiet = "admin: off\nmetrics: off\n"
	for what, c := range map[string]struct{ text, want string }{
		"an interface": {quiet + "ports:\n- device: net_af_packet0,iface=sw2\n- device: net_af_packet1,iface=sw1\nmtu: 4000\n",
			":5: port net_af_packet1,iface=sw1: interface sw1 is a port already, of another photon or of this one: end that, or name another interface"},
		"an interface of an agent": {quiet + "ip: 10.9.0.1\n\nport: {device: 'net_af_packet0,iface=sw1'}\n",
			":5: port net_af_packet0,iface=sw1: interface sw1 is a port already, of another photon or of this one: end that, or name another interface"},
		"a name": {"metrics: off\nname: " + name + "\n" + others,
			fmt.Sprintf("admin socket /run/photon/%s.sock: another photon answers there: its name is %q, too (`name:` gives this one another; `admin:`, or --admin of a switch, names another socket, or off)", name, name)},
		"a socket": {"metrics: off\nadmin: /run/photon/" + name + ".sock\n" + others,
			"admin socket /run/photon/" + name + ".sock: another photon answers there"},
		"an address": {"admin: off\n" + others,
			"metrics: another program listens at 127.0.0.1:9464 (`metrics:`, or --metrics of a switch, names another address, or off)"},
		"a page's address": {quiet + "live: {listen: 127.0.0.1:9471}\n" + others,
			"live page: another program listens at 127.0.0.1:9471 (`live:`, or --live of a switch, names another address)"},
		"no interface": {quiet + "ports:\n- device: net_af_packet0,iface=sw2\n- device: net_af_packet1,iface=nowhere\nmtu: 4000\n",
			":5: port net_af_packet1,iface=nowhere: there is no network interface \"nowhere\" (`ip link` lists them)"},
		"no core": {quiet + "dpdk: {cores: [4000]}\n" + others,
			"core 4000: this machine has none of that number"},
		"no memory":           {quiet + "dpdk: {frames: 16777216}\n" + others, "no memory for 16777216 frame buffers of 5120 bytes: they take"},
		"a bad word for DPDK": {quiet + "dpdk: {eal: [--nonsense]}\n" + others, "photon: unrecognized option '--nonsense'"},
	} {
		t.Run(what, func(t *testing.T) {
			f := file(c.text)
			command := "switch"
			if strings.Contains(c.text, "ip:") {
				command = "agent"
			}
			cmd := l.sw.Command(self, command, "-c", f)
			cmd.Env = append(os.Environ(), beMain+"=1")
			out, _ := cmd.CombinedOutput()
			lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			last := lines[len(lines)-1]
			if code := cmd.ProcessState.ExitCode(); code != exitBadInput || !strings.HasPrefix(strings.TrimPrefix(last, "photon: "+f), "photon: ") && !strings.HasPrefix(last, "photon: "+f) ||
				!strings.Contains(last, c.want) {
				t.Errorf("exit code %d\n%s\nwant %s", code, out, c.want)
			}
			if strings.Contains(string(out), " runs") || len(lines) != 1 {
				t.Errorf("more than a line:\n%s", out)
			}
			for _, iface := range []string{"sw1", "sw2"} {
				if out := l.sw.Run(t, "ip", "-d", "link", "show", iface); !strings.Contains(out, "mtu 1500") || iface == "sw2" && !strings.Contains(out, "promiscuity 0") {
					t.Errorf("the interface was changed:\n%s", out)
				}
			}
		})
	}
	a, b := l.hosts[0].Open(t, "eth0"), l.hosts[1].Open(t, "eth0")
	within(t, func() bool {
		a.Send(udp(0, 1, 26, 1000, 0))
		return len(b.Collect(100e6, isUDP(26))) > 0
	}, func() string { return "the first does not forward any more\n" + p.log.String() })
	p.stop()
	// Who comes after it may have all that it had.
	start(t, l.sw, "switch", "-c", first).stop()
}

// Two namespaces have interfaces of the same number: they are not each other's.
func TestInterfacesOfTwoNamespaces(t *testing.T) {
	one, two := testnet.New(t, "one"), testnet.New(t, "two")
	for _, n := range []*testnet.Namespace{one, two} {
		n.Run(t, "ip", "link", "add", "p0", "index", "77", "type", "veth", "peer", "name", "p1", "index", "78")
		n.Run(t, "ip", "link", "set", "p0", "up")
		n.Run(t, "ip", "link", "set", "p1", "up")
		start(t, n, "switch", "--admin", "off", "--metrics", "off", "--port", "net_af_packet0,iface=p0", "--port", "net_af_packet1,iface=p1")
	}
}
