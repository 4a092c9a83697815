package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ovs is Open vSwitch on DPDK, database and all, in a folder of its own.
type ovs struct {
	*process // ovs-vswitchd
	database *process
	dir      string
	done     []string // how it was set up
}

// switchd is Debian's build with DPDK.
const switchd = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"

func startOVS(c testCase, dir string, environment []string) (contestant, error) {
	o := &ovs{dir: dir}
	if err := o.start(c, environment); err != nil {
		o.finish()
		return nil, err
	}
	return o, nil
}

func (o *ovs) start(c testCase, environment []string) error {
	others, polling, err := cores()
	if err != nil {
		return err
	}
	for _, v := range []string{"OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR"} {
		os.Setenv(v, o.dir)
		environment = append(environment, v+"="+o.dir)
	}
	database := filepath.Join(o.dir, "conf.db")
	if err := o.run("ovsdb-tool", "create", database, "/usr/share/openvswitch/vswitch.ovsschema"); err != nil {
		return err
	}
	o.database, err = startProcess(nil, "ovsdb-server", database,
		"--remote=punix:"+o.socket(), "--unixctl="+o.dir+"/db.ctl", "--no-chdir")
	if err != nil {
		return err
	}
	if err := wait(func() error { _, err := os.Stat(o.socket()); return err }); err != nil {
		return err
	}
	polls := 1 << polling
	if c.threads() > 1 {
		polls |= 1 << others
	}
	// A ring device has as many queues as DPDK has logical cores, and a port needs one for each
	// thread that sends, its main thread too. Open vSwitch adds cores of its own unless it sees -l,
	// and --in-memory, which goes without --no-huge only, unless it sees --legacy-mem.
	lcores := ""
	for i := range c.threads() + 1 {
		lcores += fmt.Sprintf(",%d@%d", i, others)
	}
	const extra = "--file-prefix -l --no-huge --legacy-mem --no-shconf --no-pci --no-telemetry -m 1024"
	err = o.vsctl("--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
		fmt.Sprintf("other_config:pmd-cpu-mask=%#x", polls), "other_config:dpdk-extra=--lcores "+lcores[1:]+" "+extra)
	if err != nil {
		return err
	}
	o.process, err = startProcess(environment, switchd, "unix:"+o.socket(), "--unixctl="+o.ctl(), "--no-chdir")
	if err != nil {
		return err
	}
	if _, err := o.expect("DPDK Enabled - initialized"); err != nil {
		return err
	}
	if err := o.vsctl(o.ports(c)...); err != nil {
		return err
	}
	if c.routed {
		return o.routing(c)
	}
	o.did("action NORMAL, hosts learned")
	return nil
}

// ports are one bridge and all its ports.
func (o *ovs) ports(c testCase) (add []string) {
	add = []string{"add-br", "br", "--", "set", "Bridge", "br", "datapath_type=netdev"}
	for i := range c.Ports {
		p := fmt.Sprintf("p%d", i)
		add = append(add, "--", "add-port", "br", p)
		if c.tagged && trunk(i) {
			add = append(add, "vlan_mode=trunk")
		} else if c.tagged {
			add = append(add, "vlan_mode=access", fmt.Sprintf("tag=%d", vlanID(i/2)))
		}
		add = append(add, "--", "set", "Interface", p, "type=dpdk", `options:dpdk-devargs="`+c.device(i)+`"`, fmt.Sprintf("ofport_request=%d", i+1))
		if c.Vdev != "net_memif" { // which takes 1500
			add = append(add, "mtu_request=3900")
		}
		if c.Vdev == "net_ring" {
			add = append(add, fmt.Sprintf("options:n_rxq=%d", c.threads()+1))
		}
	}
	o.did(fmt.Sprintf("one bridge, %d threads", c.threads()))
	if c.tagged {
		o.did("even ports access, odd ones trunk")
	}
	return add
}

// routing makes it a router by rules.
func (o *ovs) routing(c testCase) error {
	match := "priority=1,ip,dl_dst=%v,nw_dst=%s,actions=dec_ttl,mod_dl_src:%[1]v,mod_dl_dst:%[3]v,output:%d\n"
	if c.ipv6 {
		match = "priority=1,ipv6,dl_dst=%v,ipv6_dst=%s,actions=dec_ttl,mod_dl_src:%[1]v,mod_dl_dst:%[3]v,output:%d\n"
	}
	rules, n := "", 0
	c.routes(func(prefix string, port, route int) {
		rules += fmt.Sprintf(match, routerMAC, prefix, neighbourMAC(port, route), port+1)
		n++
	})
	file := filepath.Join(o.dir, "rules")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		return err
	}
	o.did(fmt.Sprintf("%d rules with dec_ttl, mod_dl_src and mod_dl_dst", n))
	return o.run("ovs-ofctl", "replace-flows", "br", file)
}

func (o *ovs) socket() string { return filepath.Join(o.dir, "db.sock") }
func (o *ovs) ctl() string    { return filepath.Join(o.dir, "switchd.ctl") }

// did notes how it was set up.
func (o *ovs) did(what string) { o.done = append(o.done, what) }

func (o *ovs) begin() error { return nil }

func (o *ovs) vsctl(arguments ...string) error {
	to := []string{"--db=unix:" + o.socket(), fmt.Sprintf("--timeout=%.0f", patience.Seconds())}
	return o.run("ovs-vsctl", append(to, arguments...)...)
}

func (o *ovs) run(name string, arguments ...string) error {
	if out, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(arguments, " "), err, out)
	}
	return nil
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
		notes = strings.Join(append(o.done, o.saw()), ", ")
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
