//go:build dpdk

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"photon/daemon"
)

const unitDir = "../../deploy/systemd"

// setting is what a unit says of a key, all its lines joined.
func setting(t *testing.T, unit, key string) (value string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(unitDir, unit))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^`+key+`=(.*)$`).FindAllSubmatch(b, -1) {
		value = strings.TrimSpace(value + " " + string(m[1]))
	}
	if value == "" {
		t.Fatalf("%s has no %s", unit, key)
	}
	return value
}

// systemd understands every line of the units, and finds little that it would
// take away beyond what they do.
func TestUnitsAreRight(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, unit := range []string{"photon-switch", "photon-agent"} {
		b, err := os.ReadFile(filepath.Join(unitDir, unit+"@.service"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b, []byte("/usr/local/bin/photon ")) {
			t.Fatalf("%s does not start /usr/local/bin/photon", unit)
		}
		file := filepath.Join(dir, unit+"@sw.service")
		b = bytes.ReplaceAll(b, []byte("/usr/local/bin/photon "), []byte(self+" ")) // it need not be installed
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("systemd-analyze", "verify", "--man=no", file).CombinedOutput(); err != nil || bytes.Contains(out, []byte(unit)) {
			t.Errorf("systemd-analyze verify: %v\n%s", err, out)
		}
		const exposure = 30 // of 100, in systemd's reckoning; root and the network are most of it
		if out, err := exec.Command("systemd-analyze", "security", "--offline=true", fmt.Sprintf("--threshold=%d", exposure), file).CombinedOutput(); err != nil {
			t.Errorf("systemd-analyze security: %v\n%s", err, out)
		}
	}
}

// The units say what docs/operate.md promises of them, and what photon goes by.
func TestUnitsKeepTheirPromises(t *testing.T) {
	for _, unit := range []string{"photon-switch@.service", "photon-agent@.service"} {
		for key, want := range map[string]string{
			"Type": "notify", "NotifyAccess": "main", // READY, and then that the workers answer
			"WatchdogSec": "10s", "Restart": "on-failure", // a switch that hangs is started anew,
			"RestartPreventExitStatus": fmt.Sprint(exitBadInput),                    // one whose file is wrong is not
			"LimitMEMLOCK":             "infinity",                                  // what a card reads and writes is locked
			"RuntimeDirectory":         "photon", "RuntimeDirectoryPreserve": "yes", // the sockets, those of other instances too
			"UMask":                 "0077",
			"CapabilityBoundingSet": "CAP_NET_RAW CAP_NET_ADMIN CAP_IPC_LOCK", "NoNewPrivileges": "yes", // three, and no others by way of another program
			"DevicePolicy": "closed", "DeviceAllow": "/dev/vfio/vfio rw char-vfio rw /dev/net/tun rw", // the devices of VFIO, and tap
			"ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", // nothing to write to but the runtime directory
			"ProtectKernelModules": "yes", "ProtectKernelTunables": "yes", "MemoryDenyWriteExecute": "yes", "RestrictNamespaces": "yes",
		} {
			if got := setting(t, unit, key); got != want {
				t.Errorf("%s: %s=%s, expected %s", unit, key, got, want)
			}
		}
		if stop, err := time.ParseDuration(setting(t, unit, "TimeoutStopSec")); err != nil || stop < 2*daemon.DrainTime {
			t.Errorf("%s: it is killed after %v (%v), and may drain for %v", unit, stop, err, daemon.DrainTime)
		}
	}
}

// The switch does its work within what its unit leaves it: three capabilities,
// no new ones, and a file system that cannot be written but for its runtime
// directory; and it tells systemd when it runs, lives and stops.
func TestSwitchWithinItsUnit(t *testing.T) {
	const unit = "photon-switch@.service"
	l := newFourHosts(t)
	dir := t.TempDir()
	runtime, notify := filepath.Join(dir, "photon"), filepath.Join(dir, "notify")
	if err := os.Mkdir(runtime, 0o750); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "sw.yaml")
	text := "rate: 100Mbps\nports:\n"
	for i := range l.hosts {
		text += fmt.Sprintf("- device: net_af_packet%d,iface=sw%d\n", i, i)
		l.hosts[i].Run(t, "ip", "addr", "add", fmt.Sprintf("10.9.0.%d/24", i+1), "dev", "eth0")
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notify, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer systemd.Close()
	// The words of the unit, with its places moved to where the test has them.
	place := func(key string) []string {
		words := strings.Fields(strings.NewReplacer("/etc/photon/%i.yaml", file, "/run/photon/%i.sock", filepath.Join(runtime, "sw.sock")).Replace(setting(t, unit, key)))
		return words[1:]
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	capabilities := "-all"
	for _, c := range strings.Fields(setting(t, unit, "CapabilityBoundingSet")) {
		capabilities += ",+" + strings.ToLower(strings.TrimPrefix(c, "CAP_"))
	}
	// The mount namespace is that of `ip netns exec`, and ends with it.
	c := l.sw.Command("sh", append([]string{"-ec", `
		runtime=$1; capabilities=$2; shift 2
		mount --bind "$runtime" "$runtime"
		mount -o remount,bind,ro /
		for m in /run /tmp; do mountpoint -q $m && mount -o remount,bind,ro $m; done
		if touch /tmp/photon-writes /run/photon-writes 2>/dev/null; then echo "the file system can be written"; exit 1; fi
		exec setpriv --bounding-set="$capabilities" --inh-caps=-all --no-new-privs "$@"`, "sh", runtime, capabilities, self}, place("ExecStart")...)...)
	c.Env = []string{"NOTIFY_SOCKET=" + notify, "WATCHDOG_USEC=300000", "RUNTIME_DIRECTORY=" + runtime}
	sw := startCommand(t, l.sw, c)
	receives := func(want string) {
		t.Helper()
		b := make([]byte, 1024)
		_ = systemd.SetReadDeadline(time.Now().Add(time.Minute))
		for {
			n, err := systemd.Read(b)
			if err != nil {
				t.Fatalf("systemd does not hear %s: %v\n%s", want, err, sw.log)
			}
			if strings.Contains(string(b[:n]), want) {
				return
			}
		}
	}
	receives("READY=1")
	receives("WATCHDOG=1")
	receives("WATCHDOG=1")
	if missing := l.hosts[0].Ping(t, 3, "10.9.0.2"); missing != "" {
		t.Error(missing)
	}
	if err := os.WriteFile(file, []byte(text+"trust: pcp\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	reload := exec.Command(self, place("ExecReload")...)
	reload.Env = append(os.Environ(), beMain+"=1")
	if out, err := reload.CombinedOutput(); err != nil || !strings.Contains(string(out), "trust") {
		t.Errorf("reload: %v\n%s", err, out)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); sw.stop() }()
	receives("STOPPING=1")
	<-ended
}
