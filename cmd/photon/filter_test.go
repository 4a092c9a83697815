//go:build dpdk

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The test binary forgoes system calls and socket families if it is told which it
// may keep, and starts anew: what systemd would make of a unit's lines, for a machine
// that systemd does not run. Numbers of calls, a colon, and those of families.
const beFiltered = "PHOTON_TEST_BE_FILTERED"

func init() {
	allowed := os.Getenv(beFiltered)
	if allowed == "" {
		return
	}
	runtime.LockOSThread() // the filter is a thread's, and this one's becomes the new program's
	err := os.Unsetenv(beFiltered)
	if err == nil {
		err = filter(allowed)
	}
	if err == nil {
		err = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	fmt.Fprintln(os.Stderr, "the filter of system calls:", err)
	os.Exit(1)
}

// filter has the kernel refuse all calls but some, sockets of all families but some,
// and memory that can be written and run.
func filter(callsAndFamilies string) error {
	calls, families, _ := strings.Cut(callsAndFamilies, ":")
	var program []unix.SockFilter
	add := func(code uint16, k uint32, yes, no uint8) {
		program = append(program, unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no})
	}
	const load, equal, answer = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	const allow, refuse = 0x7fff0000, 0x00050000 // SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO
	allowed := func(list string) error {
		for s := range strings.SplitSeq(list, ",") {
			n, err := strconv.ParseUint(s, 10, 32)
			if err != nil {
				return err
			}
			add(equal, uint32(n), 0, 1)
			add(answer, allow, 0, 0)
		}
		return nil
	}
	add(load, 0, 0, 0) // the call's number
	add(equal, unix.SYS_SOCKET, 1, 0)
	jump := len(program)
	add(unix.BPF_JMP|unix.BPF_JA|unix.BPF_K, 0, 0, 0)
	add(load, 16, 0, 0) // its first argument
	if err := allowed(families); err != nil {
		return err
	}
	add(answer, refuse|uint32(unix.EAFNOSUPPORT), 0, 0)
	program[jump].K = uint32(len(program) - jump - 1)
	if err := allowed(calls); err != nil {
		return err
	}
	add(answer, refuse|uint32(unix.EPERM), 0, 0)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_MDWE, unix.PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0); err != nil && err != unix.EINVAL { // EINVAL: Linux before 6.3
		return err
	}
	const byFilter = 2 // SECCOMP_MODE_FILTER
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, byFilter, uintptr(unsafe.Pointer(&p)), 0, 0)
}

// leaves is what a unit's lines leave of the system calls and socket families, for beFiltered.
func leaves(t *testing.T, unit string) string {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the numbers of system calls are those of x86-64")
	}
	out, err := exec.Command("systemd-analyze", "syscall-filter", "--no-pager").Output()
	if err != nil {
		t.Fatal(err)
	}
	sets, current := map[string][]string{}, ""
	for line := range strings.Lines(string(out)) {
		switch name := strings.TrimSpace(line); {
		case name == "" || name[0] == '#':
		case line[0] == '@':
			current = name
		default:
			sets[current] = append(sets[current], name)
		}
	}
	kept := map[string]bool{}
	var set func(name string, to bool)
	set = func(name string, to bool) {
		if name[0] != '@' {
			kept[name] = to
			return
		}
		if sets[name] == nil {
			t.Fatalf("systemd knows no %s", name)
		}
		for _, n := range sets[name] {
			set(n, to)
		}
	}
	set("@default", true)
	to := true
	for _, word := range strings.Fields(setting(t, unit, "SystemCallFilter")) { // lines are joined: ~ is for the words that follow it
		if without, not := strings.CutPrefix(word, "~"); not {
			word, to = without, false
		}
		set(word, to)
	}
	b, err := os.ReadFile("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
	if err != nil {
		t.Fatal(err)
	}
	var calls, families []string
	for _, m := range regexp.MustCompile(`(?m)^#define __NR_(\w+) (\d+)$`).FindAllSubmatch(b, -1) {
		if kept[string(m[1])] {
			calls = append(calls, string(m[2]))
		}
	}
	numbers := map[string]int{"AF_UNIX": unix.AF_UNIX, "AF_INET": unix.AF_INET, "AF_INET6": unix.AF_INET6, "AF_NETLINK": unix.AF_NETLINK, "AF_PACKET": unix.AF_PACKET}
	for _, f := range strings.Fields(setting(t, unit, "RestrictAddressFamilies")) {
		n, ok := numbers[f]
		if !ok {
			t.Fatalf("%s: %s", unit, f)
		}
		families = append(families, strconv.Itoa(n))
	}
	if len(calls) < 200 || kept["reboot"] {
		t.Fatalf("%d system calls, reboot %v", len(calls), kept["reboot"])
	}
	return strings.Join(calls, ",") + ":" + strings.Join(families, ",")
}

// The system call filter and the address families of the units leave a node all that
// devices of every virtual kind, sockets, pages, captures and the end of it take.
func TestWithinTheUnitsFilter(t *testing.T) {
	l := newFourHosts(t)
	dir := t.TempDir()
	socket := dir + "/sw.sock"
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := l.sw.Command(self, "switch", "--admin", socket, "--live", "127.0.0.1:9471", "--port", "net_af_packet0,iface=sw0", "--port", "net_tap0,iface=t0",
		"--port", "net_memif0,role=server,socket-abstract=no,socket="+dir+"/memif", "--port", "net_memif1,socket-abstract=no,socket="+dir+"/memif", "--port", "net_vhost0,iface="+dir+"/vhost")
	kept := leaves(t, "photon-switch@.service")
	if kept != leaves(t, "photon-agent@.service") {
		t.Error("the agent's unit leaves it something else, which nobody tries")
	}
	c.Env = []string{beFiltered + "=" + kept}
	sw := startCommand(t, l.sw, c)
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", sw.cmd.Process.Pid))
	if err != nil || !strings.Contains(string(b), "\nSeccomp:\t2\n") {
		t.Fatalf("there is no filter: %v\n%s", err, b)
	}
	within(t, func() bool {
		return sum(sw.metrics(), "photon_device_up", `port="net_memif1"`) == 1
	},
		func() string { return "no link\n" + sw.log.String() })
	root := newRoot()
	root.SetArgs([]string{"capture", "net_memif1", "--socket", socket, "-c", "1", "-w", dir + "/x.pcapng"})
	ended := make(chan error, 1)
	go func() { ended <- root.Execute() }()
	from := l.hosts[0].Open(t, "eth0")
	within(t, func() bool {
		from.Send(udp(0, 1, 26, 500, 0)) // to everybody
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			return true
		default:
			return false
		}
	}, func() string { return "nothing is captured\n" + sw.log.String() })
	sw.stop()
}
