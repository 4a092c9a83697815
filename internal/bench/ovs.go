package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ovs is Open vSwitch on DPDK, database and all, in a folder of its own.
type ovs struct {
	*process // ovs-vswitchd
	database *process
	dir      string
}

// switchd is Debian's build with DPDK.
const switchd = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"

func startOVS(c testCase, dir string) (contestant, error) {
	o := &ovs{dir: filepath.Join(dir, "ovs")}
	if err := o.start(c); err != nil {
		o.finish()
		return nil, err
	}
	return o, nil
}

func (o *ovs) start(c testCase) error {
	others, polling, err := cores()
	if err != nil {
		return err
	}
	if err := os.Mkdir(o.dir, 0o700); err != nil {
		return err
	}
	for _, v := range []string{"OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR"} {
		os.Setenv(v, o.dir)
	}
	database := filepath.Join(o.dir, "conf.db")
	if err := o.run("ovsdb-tool", "create", database, "/usr/share/openvswitch/vswitch.ovsschema"); err != nil {
		return err
	}
	if o.database, err = startProcess("ovsdb-server", database, "--remote=punix:"+o.socket(), "--unixctl="+o.dir+"/db.ctl", "--no-chdir"); err != nil {
		return err
	}
	if err := o.until(func() error { _, err := os.Stat(o.socket()); return err }); err != nil {
		return err
	}
	// --legacy-mem only keeps Open vSwitch from adding --in-memory, which goes without --no-huge only.
	if err := o.vsctl("--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true", fmt.Sprintf("other_config:pmd-cpu-mask=%#x", 1<<polling),
		fmt.Sprintf("other_config:dpdk-lcore-mask=%#x", 1<<others),
		"other_config:dpdk-extra=--no-huge --legacy-mem --no-shconf --no-pci --no-telemetry --file-prefix=bench-ovs -m 1024"); err != nil {
		return err
	}
	if o.process, err = startProcess(switchd, "unix:"+o.socket(), "--unixctl="+o.ctl(), "--no-chdir"); err != nil {
		return err
	}
	var add []string
	for pair := range c.Ports / 2 {
		add = append(add, "--", "add-br", bridge(pair), "--", "set", "Bridge", bridge(pair), "datapath_type=netdev", "flood_vlans=0")
	}
	for i := range c.Ports {
		p := fmt.Sprintf("p%d", i)
		add = append(add, "--", "add-port", bridge(i/2), p, "--", "set", "Interface", p, "type=dpdk", "options:dpdk-devargs="+c.device(i), "mtu_request=3900")
		if c.Vdev == "net_ring" {
			add = append(add, "options:n_rxq=3") // a port has a queue for each of its threads
		}
	}
	if err := o.vsctl(add[1:]...); err != nil {
		return err
	}
	for pair := range c.Ports / 2 { // a copy of every frame for the bridge's own interface would be unfair
		if err := o.run("ovs-ofctl", "mod-port", bridge(pair), bridge(pair), "no-flood"); err != nil {
			return err
		}
	}
	if c.Vdev == "net_ring" {
		if err := o.seed(c); err != nil {
			return err
		}
	}
	return o.until(func() error {
		if n, err := o.forwarded(); err != nil || n == 0 {
			return fmt.Errorf("it forwards nothing (%v)", err)
		}
		return nil
	})
}

func bridge(pair int) string  { return fmt.Sprintf("br%d", pair) }
func (o *ovs) socket() string { return filepath.Join(o.dir, "db.sock") }
func (o *ovs) ctl() string    { return filepath.Join(o.dir, "switchd.ctl") }

// seed sends photon's packets around in the rings.
func (o *ovs) seed(c testCase) error {
	for pair := range c.Ports / 2 {
		var all strings.Builder
		for i := range 2 * ringFrames {
			b := make([]byte, c.Bytes)
			packet(b, i%flows, c.Bytes)
			fmt.Fprintf(&all, "packet-out in_port=CONTROLLER, packet=%s, actions=output:p%d\n", hex.EncodeToString(b), 2*pair+i%2)
		}
		file := filepath.Join(o.dir, "seeds")
		if err := os.WriteFile(file, []byte(all.String()), 0o600); err != nil {
			return err
		}
		if err := o.run("ovs-ofctl", "-O", "OpenFlow14", "--names", "bundle", bridge(pair), file); err != nil {
			return err
		}
	}
	return nil
}

func (o *ovs) vsctl(arguments ...string) error {
	return o.run("ovs-vsctl", append([]string{"--db=unix:" + o.socket(), fmt.Sprintf("--timeout=%.0f", patience.Seconds())}, arguments...)...)
}

func (o *ovs) run(name string, arguments ...string) error {
	if out, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(arguments, " "), err, out)
	}
	return nil
}

func (o *ovs) until(done func() error) (err error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if err = done(); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// forwarded counts what left through the ports.
func (o *ovs) forwarded() (sum uint64, err error) {
	out, err := exec.Command("ovs-appctl", "-t", o.ctl(), "dpctl/show", "-s").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("ovs-appctl: %w: %s", err, out)
	}
	dpdk := false
	for l := range strings.Lines(string(out)) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "port ") {
			dpdk = strings.Contains(l, "(dpdk")
		}
		var n uint64
		if _, err := fmt.Sscanf(l, "TX packets:%d", &n); err == nil && dpdk {
			sum += n
		}
	}
	return sum, nil
}

func (o *ovs) finish() (notes string, err error) {
	if o.process != nil {
		notes = o.saw()
		exec.Command("ovs-appctl", "-t", o.ctl(), "exit").Run()
		err = o.process.end()
	}
	if o.database != nil {
		exec.Command("ovs-appctl", "-t", o.dir+"/db.ctl", "exit").Run()
		if e := o.database.end(); err == nil {
			err = e
		}
	}
	return notes, err
}

// saw is what it says of its caches.
func (o *ovs) saw() string {
	out, _ := exec.Command("ovs-appctl", "-t", o.ctl(), "dpif-netdev/pmd-stats-show").CombinedOutput()
	var saw []string
	for l := range strings.Lines(string(out)) {
		for _, want := range []string{"emc hits", "megaflow hits", "miss with", "avg cycles per packet"} {
			if strings.Contains(l, want) && len(saw) < 4 {
				saw = append(saw, strings.TrimSpace(l))
			}
		}
	}
	return strings.Join(saw, "; ")
}
