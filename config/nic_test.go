package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"photon/cnp"
	"photon/dataplane/dpdk"
	"photon/marking"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// What a full queue of a flow does depends on what can wait behind the port of applications, unless the
// file says which it is to be.
func TestFullFlowQueues(t *testing.T) {
	for _, c := range []struct {
		application string
		hold        bool
	}{
		{"device: \"net_tap0,iface=app0\"", false},
		{"device: \"net_af_packet1,iface=veth0\"", false},
		{"device: \"net_memif0,role=server,socket=/run/memif.sock\"", true},
		{"device: \"net_vhost0,iface=/run/vhost.sock\"", true},
		{"device: \"net_tap0,iface=app0\", full: hold", true},
		{"device: \"net_af_packet1,iface=veth0\", full: hold", true},
		{"device: \"net_memif0,role=server,socket=/run/memif.sock\", full: drop", false},
		{"device: \"net_vhost0,iface=/run/vhost.sock\", full: drop", false},
	} {
		file := filepath.Join(t.TempDir(), "nic.yaml")
		text := "role: nic\nport: {device: \"net_af_packet0,iface=eth0\", rate: 10Gbps}\n" +
			"application: {" + c.application + "}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := ReadAgent(file)
		if err != nil {
			t.Fatal(err)
		}
		n, err := a.ResolveNIC(nil)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(n.Describe(), "\n")
		if n.Config.HoldFull != c.hold || strings.Contains(said, "holds the application's port") != c.hold {
			t.Errorf("%s: hold %v\n%s", c.application, n.Config.HoldFull, said)
		}
	}
}

// The kernel's ring at the application's interface has room for the frames of any MTU, and no larger than the buffers.
func TestRingsOfApplications(t *testing.T) {
	for mtu := 1280; mtu <= 9000; mtu += 40 {
		file := filepath.Join(t.TempDir(), "nic.yaml")
		text := fmt.Sprintf("role: nic\nscheme: {name: none}\nport: {device: \"net_af_packet0,iface=eth0\", rate: 10Gbps}\n"+
			"application: {device: \"net_af_packet1,iface=veth0\", mtu: %d}\n", mtu)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := ReadAgent(file)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("net_af_packet1,iface=veth0,framesz=%d,", a.Options().FrameSize)
		if got := a.NICPorts()[1].Device.V; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, ",framecnt=256") {
			t.Errorf("mtu %d: %s", mtu, got)
		}
	}
}

// What a device cannot be told is found without the device, with its line.
func TestArgumentsOfDevices(t *testing.T) {
	const switchFile = "rate: 1Gbps\nports:\n- device: net_null0\n- device: %s\n"
	for text, want := range map[string]string{
		fmt.Sprintf(switchFile, "net_memif0,role=server,socket"):                                            `x.yaml:4: device net_memif0,role=server,socket: "socket" is no argument: it needs a value (write it like socket=...)`,
		fmt.Sprintf(switchFile, "net_af_packet0,iface=sw0,framesz=4096"):                                    "x.yaml:4: device net_af_packet0,iface=sw0,framesz=4096: framesz=4096: buffers for mtu 1500 have 2048 bytes (leave it out)",
		"mtu: 9000\n" + fmt.Sprintf(switchFile, "net_null1,size=20000"):                                     "x.yaml:5: device net_null1,size=20000: size=20000: buffers for mtu 9000 have 9216 bytes",
		"mtu: 9000\n" + fmt.Sprintf(switchFile, "net_null1,size=9000"):                                      "",
		"ip: 10.0.0.1\nport:\n  device: net_af_packet0,iface=e0,foo=1\n":                                    `x.yaml:3: device net_af_packet0,iface=e0,foo=1: it has no argument "foo" (but blocksz, framecnt, framesz, iface, qdisc_bypass, qpairs)`,
		"role: nic\nport: {device: net_null0}\napplication:\n  device: net_af_packet0,iface=e0,framesz=0\n": "x.yaml:4: device net_af_packet0,iface=e0,framesz=0: framesz=0: a number from 1 to 1048576",
		"role: nic\nport: {device: net_null0}\napplication:\n  device: net_tap0,mac=1\n":                    "x.yaml:4: device net_tap0,mac=1: mac=1: an address like 02:00:00:00:00:01",
	} {
		file := filepath.Join(t.TempDir(), "x.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		if strings.Contains(text, "ports:") {
			_, err = ReadSwitch(file)
		} else {
			_, err = ReadAgent(file)
		}
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && !strings.HasSuffix(got, want) || err != nil && want == "" {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// Rules that no flow can match, and addresses that no application can have, are refused with their line.
func TestNICRefused(t *testing.T) {
	const nic = "role: nic\nport: {device: net_null0}\napplication:\n  device: net_tap0\n"
	for text, want := range map[string]string{
		"  match: [{from: 10.0.0.0/8, to: fd00::/8}]":                                    "5: from 10.0.0.0/8 to fd00::/8 mixes IPv4 and IPv6: no flow is of both",
		"  match: [{from: fd00::/8, to: 10.0.0.0/8}]":                                    "5: from fd00::/8 to 10.0.0.0/8 mixes IPv4 and IPv6: no flow is of both",
		"  mac: [\"02:00:00:00:00:01\", \"01:00:5e:00:00:05\"]":                          "5: application: mac 01:00:5e:00:00:05: that is no address of a host",
		"  mac: [\"ff:ff:ff:ff:ff:ff\"]":                                                 "5: application: mac ff:ff:ff:ff:ff:ff: that is no address of a host",
		"  mac: [\"00:00:00:00:00:00\"]":                                                 "5: application: mac 00:00:00:00:00:00: that is no address of a host",
		"  match: [{from: fd00::/8, to: fd01::/16}, {from: 10.0.0.0/8}, {to: fd00::/8}]": "",
	} {
		file, _, err := readAgent(t, nic+text)
		if want != "" {
			want = file + ":" + want
		}
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// Who runs a scheme whose least rate is the line's is told that it does nothing.
func TestInertSchemesAreTold(t *testing.T) {
	for text, want := range map[string]string{
		"scheme: {name: dcqcn}":                             "  warning: min_rate of scheme dcqcn, 100Mbps, is the line's rate: it slows no flow down (params: {min_rate: 10Mbps})",
		"scheme: {name: dcqcn-mlx}":                         "  warning: min_rate of scheme dcqcn-mlx, 100Mbps, is the line's rate: it slows no flow down (params: {min_rate: 10Mbps})",
		"scheme: {name: pcn, params: {min_rate: 100Mbps}}":  "  warning: min_rate of scheme pcn, 100Mbps, is the line's rate: it slows no flow down (params: {min_rate: 10Mbps})",
		"scheme: {name: dcqcn, params: {min_rate: 99Mbps}}": "",
		"scheme: {name: none}":                              "",
		"":                                                  "",
	} {
		for _, of := range []string{"ip: 10.0.0.1\n", "role: nic\napplication: {device: net_tap0}\n"} {
			_, c, err := readAgent(t, "port: {device: net_null0, rate: 100Mbps}\n"+of+text)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			if c.IsNIC() {
				n, _ := c.ResolveNIC(nil)
				said = n.Describe()
			} else {
				n, _ := c.Resolve(nil)
				said = n.Describe()
			}
			got := ""
			for _, line := range said {
				if strings.Contains(line, "warning") {
					got += line
				}
			}
			if got != want {
				t.Errorf("%s%s\n got %s\nwant %s", of, text, got, want)
			}
		}
	}
}

// What a NIC says of a scheme goes by what its congestion point does, not by its name: a scheme of one's own whose
// switches notify has the same limit. A time between two notifications is said if there is one.
func TestNICSaysWhoNotifies(t *testing.T) {
	said := func(name string) string {
		t.Helper()
		_, c, err := readAgent(t, "port: {device: net_null0, rate: 10Gbps}\nrole: nic\napplication: {device: net_tap0}\nscheme: {name: "+name+"}\n")
		if err != nil {
			t.Fatal(err)
		}
		n, err := c.ResolveNIC(nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(n.Describe(), "\n")
	}
	own, err := scheme.Get("pacc")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mine", "pacc"} {
		own.Name = name
		if text := said("pacc"); !strings.Contains(text, name+"'s switches notify RoCEv2 flows only") || !strings.Contains(text, "a flow takes one in 4us") {
			t.Errorf("of %s:\n%s", name, text)
		}
	}
	for _, name := range []string{"qcn", "none", "timely"} {
		if text := said(name); strings.Contains(text, "switches notify") || strings.Contains(text, "takes one in") {
			t.Errorf("of %s:\n%s", name, text)
		}
	}
}

// The wire's MTU has room for all that a scheme adds to a frame: a NIC's packet around it, a tag, or both.
func TestWhatSchemesAddToFrames(t *testing.T) {
	const around = 40 + 8 + 12 + 16 + 4 // IPv6, UDP, BTH, echo block, ICRC
	for carry, want := range map[cnp.Carry]int{
		{}:                                  0,
		{Tag: true}:                         4,
		{Ack: true}:                         around,
		{Ack: true, Stamp: true}:            around,
		{Ack: true, INT: true}:              around + 42,
		{Ack: true, Stamp: true, Tag: true}: around + 4,
		{Ack: true, INT: true, Tag: true}:   around + 42 + 4,
	} {
		if got := added(carry); got != want {
			t.Errorf("%+v: %d bytes, not %d", carry, got, want)
		}
	}
}

// Delays of a NIC are told where it has any.
func TestDelaysOfNICsAreTold(t *testing.T) {
	const nic = "role: nic\nport: {device: net_null0, rate: 10Gbps}\napplication:\n  device: net_tap0\n"
	for text, want := range map[string]string{
		"":                   "",
		"np_delay: 3us\n":    "CNPs leave 3us after they were decided, PFC frames are obeyed 0ps after they came",
		"pause_delay: 2us\n": "CNPs leave 0ps after they were decided, PFC frames are obeyed 2us after they came",
	} {
		_, c, err := readAgent(t, nic+text)
		if err != nil {
			t.Fatal(err)
		}
		n, err := c.ResolveNIC(nil)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(n.Describe(), "\n")
		if want != "" && !strings.Contains(said, want) || want == "" && strings.Contains(said, "obeyed") {
			t.Errorf("%q:\n%s", text, said)
		}
	}
}

// Agents and switches draw other numbers each, as in virtual time: their random parts must not go in step.
func TestNodesDrawTheirOwnNumbers(t *testing.T) {
	marks := func(devices []dpdk.Device) (text string) {
		var c Switch
		for _, device := range []string{"net_null0", "net_null1"} {
			c.Ports = append(c.Ports, Port{Device: Set(device), Rate: Set(10 * units.Gbps)})
		}
		c.Scheme = Scheme{Name: Set("dcqcn"), Params: map[string]Value[string]{"pmax": Set("0.5"), "kmax": Set("40KB")}}
		n, err := c.Resolve(devices)
		if err != nil {
			t.Fatal(err)
		}
		cp, p := n.Config.CP(marking.Place{Port: 1, Prio: 3, Rate: 10 * units.Gbps}), &marking.Packet{}
		for range 100 {
			text += fmt.Sprint(cp.Dequeue(0, marking.Queue{Bytes: 39 * units.KB}, p))
		}
		return text
	}
	one := []dpdk.Device{{MAC: 0x02_00_00_00_00_01}, {MAC: 0x02_00_00_00_00_02}}
	two := []dpdk.Device{{MAC: 0x02_00_00_00_01_01}, {MAC: 0x02_00_00_00_01_02}}
	first, again := marks(one), marks(one)
	if first == marks(two) {
		t.Error("two switches mark alike")
	}
	if first != again {
		t.Error("a switch marks otherwise after a reload")
	}
	cuts := func(ip string) (text string) {
		address, err := wire.ParseIP(ip)
		if err != nil {
			t.Fatal(err)
		}
		c := Agent{Port: Port{Device: Set("net_null0"), Rate: Set(10 * units.Gbps)}, IP: Set(address)}
		c.Scheme.Name = Set("qcn")
		n, err := c.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		rp := n.Config.NewRP(nil)
		rp.Start(0)
		rp.Notify(units.Millisecond, 0, 63)
		for i := range units.Time(200) {
			text += fmt.Sprintln(rp.Rate(i * units.Millisecond))
		}
		return text
	}
	if cuts("10.0.0.1") == cuts("10.0.0.2") {
		t.Error("the timers of two agents run alike")
	}
}

// Who runs a NIC whose scheme has a header of its own is told that frames get longer, and that both ends need one.
func TestNICsThatNeedANICAtTheOtherEnd(t *testing.T) {
	const told = "the other end must be a NIC, too"
	for name, want := range map[string]bool{"hpcc": true, "dcqcn": false} {
		_, c, err := readAgent(t, "role: nic\nport: {device: net_null0, rate: 10Gbps}\n"+
			"application:\n  device: net_tap0\nscheme: {name: "+name+"}\n")
		if err != nil {
			t.Fatal(err)
		}
		n, err := c.ResolveNIC(nil)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(n.Describe(), "\n"); strings.Contains(said, told) != want {
			t.Errorf("%s:\n%s", name, said)
		}
	}
}

// A NIC warns as a switch does of a headroom that is too small, and of pauses that end before polls prolong them. It
// needs three frames of 1518 B and an XOFF of 60 B, each with 24 B around it, 67 quanta of 64 B, 1250 B for 100 m of
// cable twice, and 125 KB for 100 us, at 10 Gbit/s.
func TestNICWarnsOfPauses(t *testing.T) {
	const needed = 3*1542 + 84 + 67*64 + 1250 + 125_000
	const short, over = "warning: headroom ", "warning: an XOFF pauses the peer of the wire port for "
	for pfc, want := range map[string]string{
		"{}": "", fmt.Sprintf("{headroom: %dB}", needed): "",
		fmt.Sprintf("{headroom: %dB}", needed-1):  short,
		"{pause: 10us}":                           over,
		"{pause: 10us, response: 3us}":            "",
		"{headroom: 2KB, priorities: []}":         "",
		"{pause: 10us, response: 5us, xoff: 9KB}": over,
	} {
		_, c, err := readAgent(t, "port: {device: net_null0, rate: 10Gbps}\nrole: nic\napplication: {device: "+
			"net_tap0}\n"+
			"scheme: {name: none}\npfc: "+pfc+"\n")
		if err != nil {
			t.Fatal(err)
		}
		n, err := c.ResolveNIC(nil)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(n.Describe(), "\n")
		for _, warning := range []string{short, over} {
			if says := strings.Contains(said, warning); says != (warning == want) {
				t.Errorf("%s: says %q: %v\n%s", pfc, warning, says, said)
			}
		}
	}
}

// A NIC has frame buffers for whatever waits in it, however short: lossless frames up to the last byte of headroom,
// 8192 lossy ones or one for each 256 bytes of `lossy_queue`, those that wait for the wire, and 1024 in each ring of
// its devices. With fewer, by `dpdk: {frames: N}`, it warns.
func TestNICHasFrameBuffersForShortFrames(t *testing.T) {
	const headroom = 3*1542 + 84 + 67*64 + 1250 + 125_000
	for text, least := range map[string]int{
		"":                                       (512_000+headroom)/60 + 8192 + 4096 + 4*1024,
		"pfc: {xoff: 4MB}\n":                     (4_000_000+headroom)/60 + 8192 + 4096 + 4*1024,
		"pfc: {priorities: [3, 4], xoff: 1MB}\n": 2*(1_000_000+headroom)/60 + 8192 + 4096 + 4*1024,
		"pfc: {headroom: 3MB, xoff: 1MB}\n":      4_000_000/60 + 8192 + 4096 + 4*1024,
		"pfc: {priorities: []}\n":                8192 + 4096 + 4*1024,
		"pfc: {xoff: 4MB}\ndpdk: {frames: 40000}\n":      0,
		"pfc: {xoff: 4MB}\ndpdk: {frames: 120000}\n":     0,
		"pfc: {priorities: []}\ndpdk: {frames: 18000}\n": 0,
	} {
		_, c, err := readAgent(t, "port: {device: net_null0, rate: 10Gbps}\nrole: nic\napplication: {device: "+
			"net_tap0}\n"+
			"scheme: {name: none}\n"+text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Options().Frames; least > 0 && (got < least || got > least+16384) {
			t.Errorf("%q: %d frame buffers, at least %d may be in use", text, got, least)
		}
		n, err := c.ResolveNIC(nil)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(n.Describe(), "\n")
		warns := strings.Contains(said, "warning: 40000 frame buffers are fewer than ")
		if warns != strings.Contains(text, "40000") || strings.Count(said, "frame buffers are fewer") > 1 {
			t.Errorf("%q: %s", text, said)
		}
	}
}
