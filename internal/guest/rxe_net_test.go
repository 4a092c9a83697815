//go:build rxe

package guest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"photon/internal/testnet"
)

// rdmaNIC is the configuration of a guest's NIC, rdmaSwitch that of the switch between
// them: at a rate that two cores manage, on which guests compute every instruction. Strict queues would leave nothing
// to ARP and TCP while writes fill the queue of a port, and a guest whose neighbour does not answer drops what it
// sends.
const rdmaNIC = `name: nic%d
role: nic
port: {device: "net_af_packet0,iface=eth0", rate: %s}
application: {device: "net_vhost0,iface=%s", mtu: 4200, dscp: 0}
scheme: {name: %s, params: {%s}}
pfc: {priorities: [3], response: 1s}
metrics: 127.0.0.1:9464
dpdk: {sleep: 100us}
`

const rdmaSwitch = `name: sw
ports:
%srate: %s
mtu: 4200
scheme: {name: %s, params: {%s}}
pfc: {priorities: [3], xoff: 24KB, response: 1s}
weights: {0: 10, 3: 90}
metrics: 127.0.0.1:9464
dpdk: {sleep: 100us}
`

// rdma is a number of guests with Soft-RoCE, each behind a NIC of photon, which a switch joins.
type rdma struct {
	*testing.T
	guests []*Guest
	nics   []*photon
	hosts  []*testnet.Namespace // of the NICs
	sw     *photon
	dir    string
	binary string
}

// rdmaScheme is a congestion control scheme, with its parameters for the switch and for the NICs.
type rdmaScheme struct{ name, params string }

// photon is a process of it, in a namespace.
type photon struct {
	t      *testing.T
	inside *testnet.Namespace
	cmd    *exec.Cmd
	log    lockedBuffer
	ended  chan error
	socket string
	binary string
}

type lockedBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// rdmaContents is what a guest with Soft-RoCE has: the kernel's module and what tests of RDMA hardware are made with.
func rdmaContents(t testing.TB) Contents {
	providers, _ := filepath.Glob("/usr/lib/*/libibverbs/librxe-rdmav*.so")
	gcc, _ := filepath.Glob("/usr/lib/*/libgcc_s.so.1") // rping ends its threads with it
	if len(providers) != 1 || len(gcc) == 0 {
		t.Fatal("no library of ibverbs for rxe, or none of gcc: run scripts/setup.sh rxe")
	}
	return Contents{
		Modules: []string{"virtio_net", "crc32_generic", "ib_uverbs", "rdma_ucm", "rdma_rxe"},
		Programs: []string{
			"ping", "ip", "rdma", "ibv_devinfo", "ibv_rc_pingpong", "rping",
			"ib_send_bw", "ib_write_bw", "ib_read_bw", "ib_send_lat", "ib_atomic_bw",
		},
		Sources: map[string][]string{"rc": {"testdata/rc.c", "-libverbs"}},
		Files:   []string{providers[0], gcc[0], "/etc/libibverbs.d/rxe.driver"},
	}
}

// buildPhoton builds the program once for a test.
func buildPhoton(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "photon")
	if out, err := exec.Command("go", "build", "-tags", "dpdk", "-o", path, "../../cmd/photon").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func guestIP(i int) string { return fmt.Sprintf("10.9.0.%d", i+1) }

func guestMAC(i int) string { return fmt.Sprintf("02:00:00:00:00:%02x", i+1) }

// newRDMA boots guests, starts the NICs and the switch, and returns when all reach each other. of is what the switch's
// configuration has of its ports: of those beyond the guests' the hosts have no NIC.
func newRDMA(t *testing.T, guests int, rate string, s rdmaScheme, of ...string) *rdma {
	t.Helper()
	n := &rdma{T: t, dir: t.TempDir(), binary: buildPhoton(t)}
	inside := testnet.New(t, "sw")
	ports := ""
	for i := range max(guests, len(of)) {
		h := testnet.New(t, fmt.Sprintf("h%d", i))
		n.hosts = append(n.hosts, h)
		port := fmt.Sprintf("sw%d", i)
		testnet.Veth(t, h, "eth0", inside, port)
		for name, ns := range map[string]*testnet.Namespace{"eth0": h, port: inside} {
			ns.Run(t, "ip", "link", "set", name, "arp", "off", "mtu", "4200")
			ns.Run(t, "sysctl", "-qw", "net.ipv6.conf."+name+".disable_ipv6=1")
		}
		ports += fmt.Sprintf("- device: net_af_packet%d,iface=%s\n", i, port)
		if i < len(of) {
			ports += of[i]
		}
	}
	n.sw = n.start(inside, "switch", fmt.Sprintf(rdmaSwitch, ports, rate, s.name, s.params))
	for i, h := range n.hosts[:guests] {
		n.nics = append(n.nics, n.start(h, "agent", fmt.Sprintf(rdmaNIC, i, rate, n.socket(i), s.name, s.params)))
	}
	image := Build(t, rdmaContents(t))
	for i := range guests {
		n.guests = append(n.guests, Boot(t, image, fmt.Sprintf("g%d", i), Size{Processors: 1, Memory: 256}, Card{Model: "virtio-net-pci", MAC: guestMAC(i), Vhost: n.socket(i)}))
	}
	for i, g := range n.guests {
		g.Ready()
		g.Run("modprobe virtio_net && modprobe crc32_generic && modprobe ib_uverbs && modprobe rdma_ucm && modprobe rdma_rxe")
		g.Run(fmt.Sprintf("/usr/bin/ip addr add %s/24 dev eth0 && ip link set eth0 mtu 4200 && ip link set eth0 up", guestIP(i)))
		for k := range guests { // who is without a core for seconds answers no ARP, and then frames for it are dropped
			g.Run(fmt.Sprintf("/usr/bin/ip neigh replace %s lladdr %s dev eth0 nud permanent", guestIP(k), guestMAC(k)))
		}
		g.Run("/usr/bin/rdma link add rxe0 type rxe netdev eth0")
	}
	return n
}

func (n *rdma) socket(i int) string { return filepath.Join(n.dir, fmt.Sprintf("vhost%d", i)) }

// start runs photon with a configuration until the test ends, and waits until it serves.
func (n *rdma) start(inside *testnet.Namespace, command, text string) *photon {
	n.Helper()
	file := filepath.Join(n.dir, inside.Name+".yaml")
	p := &photon{t: n.T, inside: inside, ended: make(chan error, 1), socket: filepath.Join(n.dir, inside.Name+".sock"), binary: n.binary}
	if err := os.WriteFile(file, []byte(text+"admin: "+p.socket+"\n"), 0o600); err != nil {
		n.Fatal(err)
	}
	p.cmd = inside.Command(n.binary, command, "-c", file)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		n.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	n.Cleanup(p.stop)
	eventually(n.T, func() bool {
		select {
		case err := <-p.ended:
			p.ended <- err
			n.Fatalf("photon %s ended: %v\n%s", command, err, &p.log)
		default:
		}
		return strings.Contains(p.log.String(), " runs\n")
	}, func() string { return "photon does not serve\n" + p.log.String() })
	return p
}

// stop ends photon, which accounts for every frame.
func (p *photon) stop() {
	if p.ended == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.ended:
		if err != nil {
			p.t.Errorf("photon: %v\n%s", err, &p.log)
		}
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.ended
		p.t.Errorf("photon does not stop\n%s", &p.log)
	}
	p.ended = nil
	if p.t.Failed() {
		p.t.Logf("photon in %s:\n%s", p.inside.Name, &p.log)
	}
}
