//go:build dpdk

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"photon/internal/testnet"
)

// A worker that slept has not polled until the kernel let it go on: what that took beyond the sleep it chose is a gap.
func TestASleepThatTheKernelMakesLongerIsAGap(t *testing.T) {
	t.Parallel()
	n := testnet.New(t, "sw")
	testnet.Veth(t, n, "s0", n, "s1")
	file := filepath.Join(t.TempDir(), "switch.yaml")
	text := "ports:\n- device: net_af_packet0,iface=s0\n- device: net_af_packet1,iface=s1\n" +
		"rate: 1Gbps\nadmin: off\ndpdk: {sleep: 10ms}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, n, "switch", "-c", file)
	signal := func(s syscall.Signal) {
		if err := p.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	stat := fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid)
	within(t, func() bool {
		b, err := os.ReadFile(stat)
		return err == nil && strings.Contains(string(b), ") T ")
	}, func() string { return "it does not stop" })
	stood := time.Now()
	const beyond = 500 * time.Millisecond // of its sleep
	within(t, func() bool { return time.Since(stood) > beyond }, func() string { return "time does not pass" })
	least := time.Since(stood) - 20*time.Millisecond // what may have been left of the sleep, and as much again
	signal(syscall.SIGCONT)
	gap := func() float64 { return sum(p.metrics(), "photon_worker_poll_gap_max_seconds") }
	within(t, func() bool { return gap() >= least.Seconds() },
		func() string { return fmt.Sprintf("it stood for %v, and tells of %v s", least, gap()) })
}
