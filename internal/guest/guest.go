//go:build e1000e || rxe

package guest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything may take that a guest does: it computes every
// instruction of its processor, on a machine that has other things to do.
const patience = 4 * time.Minute

// Card is a network card of a guest, with a cable or at a port of photon.
type Card struct {
	Model string // of QEMU: e1000e, virtio-net-pci
	MAC   string
	Cable string // path of the socket of the cable's end
	Vhost string // path of the vhost-user socket of a port of photon, which is there already
}

// Guest is a running virtual machine. It ends with the test.
type Guest struct {
	t       testing.TB
	name    string
	console string // file
	shell   net.Conn
	answers *bufio.Reader
	monitor net.Conn
	events  *json.Decoder
}

// cardSlot is the PCI slot of a guest's first card.
const cardSlot = 4

// Address is the PCI address of the guest's i-th card.
func Address(i int) string { return fmt.Sprintf("0000:00:%02x.0", cardSlot+i) }

// Size is what a guest has. With Huge it also has an IOMMU, as vfio-pci wants it.
type Size struct{ Processors, Memory, Huge int } // memory in MB; of it, in huge pages

// Boot starts a guest; Ready waits until it is up.
func Boot(t testing.TB, image Image, name string, size Size, cards ...Card) *Guest {
	t.Helper()
	dir := t.TempDir()
	g := &Guest{t: t, name: name, console: filepath.Join(dir, "console")}
	shell, monitor := listen(t, filepath.Join(dir, "shell")), listen(t, filepath.Join(dir, "monitor"))
	args := []string{
		"-machine", "q35,accel=tcg", "-cpu", "max", "-smp", strconv.Itoa(size.Processors), "-m", strconv.Itoa(size.Memory),
		"-nodefaults", "-display", "none", "-no-reboot",
		"-kernel", image.Kernel, "-initrd", image.Initrd,
		"-append", fmt.Sprintf("console=ttyS0 quiet panic=-1 no_timer_check mitigations=off intel_iommu=on hugepages=%d", size.Huge/2),
		"-serial", "file:" + g.console,
		"-chardev", "socket,id=shell,path=" + shell.Addr().String(), "-device", "virtio-serial-pci", "-device", "virtserialport,chardev=shell,name=shell",
		"-chardev", "socket,id=monitor,path=" + monitor.Addr().String(), "-mon", "chardev=monitor,mode=control",
	}
	if size.Huge > 0 {
		args = append(args, "-device", "intel-iommu")
	}
	shared := false
	for i, c := range cards {
		args = append(args, c.arguments(i)...)
		shared = shared || c.Vhost != ""
	}
	if shared { // photon reads and writes frames where the guest has them
		args = append(args, "-object", fmt.Sprintf("memory-backend-memfd,id=memory,size=%dM,share=on", size.Memory), "-machine", "memory-backend=memory")
	}
	c := exec.Command("qemu-system-x86_64", args...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true} // a share of the processors of its own
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if t.Failed() {
			b, _ := os.ReadFile(g.console)
			t.Logf("console of %s:\n%s", name, b)
		}
	})
	g.shell, g.monitor = accept(t, shell), accept(t, monitor)
	g.answers, g.events = bufio.NewReader(g.shell), json.NewDecoder(g.monitor)
	g.control("qmp_capabilities", nil)
	return g
}

// arguments are QEMU's for the i-th card.
func (c *Card) arguments(i int) []string {
	device := fmt.Sprintf("%s,id=card%d,netdev=net%d,mac=%s,bus=pcie.0,addr=%x.0,romfile=", c.Model, i, i, c.MAC, cardSlot+i)
	if c.Vhost != "" {
		return []string{
			"-chardev", fmt.Sprintf("socket,id=port%d,path=%s", i, c.Vhost),
			"-netdev", fmt.Sprintf("vhost-user,id=net%d,chardev=port%d", i, i),
			// Frames are as long as they are on the wire, and their checksums are there. There are no
			// vectors of MSI-X: without KVM, QEMU 7.2 ends by a segmentation fault when vhost-user masks one.
			"-device", device + ",csum=off,gso=off,guest_csum=off,rx_queue_size=1024,vectors=0",
		}
	}
	return []string{"-netdev", fmt.Sprintf("stream,id=net%d,server=off,addr.type=unix,addr.path=%s", i, c.Cable), "-device", device}
}

// Ready waits until the guest's shell answers.
func (g *Guest) Ready() {
	g.t.Helper()
	g.until("ready")
}

// listen makes a socket that QEMU connects to.
func listen(t testing.TB, path string) *net.UnixListener {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func accept(t testing.TB, l *net.UnixListener) net.Conn {
	t.Helper()
	_ = l.SetDeadline(time.Now().Add(patience))
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Try has the guest's shell do something, and returns what it printed and how it ended.
func (g *Guest) Try(command string) (out string, code int) {
	g.t.Helper()
	if _, err := fmt.Fprintf(g.shell, "{ %s\n} </dev/null 2>&1; code=$?; echo; echo \"=====$code\"\n", command); err != nil {
		g.t.Fatalf("%s: %v", g.name, err)
	}
	out, last := g.until("=====")
	code, err := strconv.Atoi(last)
	if err != nil {
		g.t.Fatalf("%s: %s: it ended with %q", g.name, command, last)
	}
	return strings.TrimSpace(out), code
}

// Run is Try of what must not fail.
func (g *Guest) Run(command string) string {
	g.t.Helper()
	out, code := g.Try(command)
	if code != 0 {
		g.t.Fatalf("%s: %s: exit code %d\n%s", g.name, command, code, out)
	}
	return out
}

// Write makes a file in the guest.
func (g *Guest) Write(path, content string) {
	g.t.Helper()
	g.Run(fmt.Sprintf("echo %s | base64 -d >%s", base64.StdEncoding.EncodeToString([]byte(content)), path))
}

// until reads the shell's lines up to one that begins with a mark.
func (g *Guest) until(mark string) (before, rest string) {
	g.t.Helper()
	_ = g.shell.SetReadDeadline(time.Now().Add(patience))
	for {
		line, err := g.answers.ReadString('\n')
		if err != nil {
			g.t.Fatalf("%s: its shell is silent: %v\n%s", g.name, err, before+line)
		}
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return before, strings.TrimSpace(rest)
		}
		before += line
	}
}

// SetLink plugs the cable of the i-th card in or out.
func (g *Guest) SetLink(i int, up bool) {
	g.t.Helper()
	g.control("set_link", map[string]any{"name": fmt.Sprintf("card%d", i), "up": up})
}

// control has QEMU's monitor do something.
func (g *Guest) control(command string, arguments map[string]any) {
	g.t.Helper()
	_ = g.monitor.SetDeadline(time.Now().Add(patience))
	request := map[string]any{"execute": command}
	if arguments != nil {
		request["arguments"] = arguments
	}
	if err := json.NewEncoder(g.monitor).Encode(request); err != nil {
		g.t.Fatalf("%s: monitor: %v", g.name, err)
	}
	for {
		var answer struct {
			Return *json.RawMessage
			Error  *struct{ Desc string }
		}
		if err := g.events.Decode(&answer); err != nil {
			g.t.Fatalf("%s: monitor: %v", g.name, err)
		}
		if answer.Error != nil {
			g.t.Fatalf("%s: monitor: %s: %s", g.name, command, answer.Error.Desc)
		}
		if answer.Return != nil {
			return // others are greetings and events
		}
	}
}
