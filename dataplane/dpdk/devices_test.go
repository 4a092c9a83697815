//go:build dpdk

package dpdk

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"photon/dataplane"
	"photon/fabric"
	"photon/internal/testnet"
	"photon/units"
)

// Two switches in one world: tap - switch - memif - switch - tap.
// Two hosts ping through all of it.
func TestVirtualDevices(t *testing.T) {
	left, right := testnet.New(t, "left"), testnet.New(t, "right")
	w := newWorld(t, Options{Sleep: 20 * units.Microsecond})
	socket := filepath.Join(t.TempDir(), "memif.sock")
	open := func(n *testnet.Namespace, spec string) (d Device) {
		t.Helper()
		if err := n.Do(func() (err error) { d, err = w.Open(spec, 1500); return err }); err != nil {
			t.Fatal(err)
		}
		return d
	}
	memif := ",socket-abstract=no,socket=" + socket
	groups := [][]Device{
		{open(left, "net_tap0,iface=t0"), open(left, "net_memif0,role=server"+memif)},
		{open(right, "net_memif1,role=client"+memif), open(right, "net_tap1,iface=t0")},
	}
	for i, devices := range groups {
		c := dataplane.SwitchConfig{MTU: 1500, Buffer: units.MB, Tail: units.MB, Classes: dataplane.DefaultClasses(), Learn: true, FDBSize: 16}
		for range devices {
			c.Ports = append(c.Ports, dataplane.PortConfig{Link: fabric.Link{Rate: rate}})
		}
		envs := w.NewEnvs(len(devices))
		sw, err := dataplane.NewSwitch(c, envs)
		if err != nil {
			t.Fatal(err)
		}
		id := w.Add([]string{"left", "right"}[i], sw, envs, make([]int, len(devices)))
		for p, d := range devices {
			if err := w.Attach(fabric.End{Node: id, Port: p}, d, fabric.Link{Rate: rate}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, n := range []*testnet.Namespace{left, right} {
		n.Run(t, "ip", "addr", "add", []string{"10.9.1.1/24", "10.9.1.2/24"}[i], "dev", "t0")
		n.Run(t, "ip", "link", "set", "t0", "up")
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, units.Never) }()
	// The first are lost while the ends of the memif find each other.
	for deadline := time.Now().Add(time.Minute); left.Ping(t, 1, "10.9.1.2", "-W", "1") != ""; {
		if time.Now().After(deadline) {
			t.Error("nothing comes through")
			break
		}
	}
	missing := left.Ping(t, 5, "10.9.1.2")
	stop()
	<-ended
	if missing != "" {
		t.Errorf("%s\n%+v", missing, w.Devices())
	}
	if err := w.Audit(); err != nil {
		t.Error(err)
	}
	if v := Version(); !strings.HasPrefix(v, "DPDK 2") {
		t.Error(v)
	}
}

// What is in a capture file has not come before the world began: all of it goes through the switch, in its order.
func TestFramesOfAFileAllArrive(t *testing.T) {
	const frames, length, fileHeader, header = 300, 100, 24, 16
	dir := t.TempDir()
	in, none, out := filepath.Join(dir, "in"), filepath.Join(dir, "none"), filepath.Join(dir, "out")
	le := binary.LittleEndian
	file := make([]byte, fileHeader)
	le.PutUint32(file, 0xA1B2C3D4)
	le.PutUint32(file[4:], 2|4<<16) // version 2.4
	le.PutUint32(file[16:], 65535)
	le.PutUint32(file[20:], 1) // Ethernet
	if err := os.WriteFile(none, file, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range frames {
		f := make([]byte, header+length)
		le.PutUint32(f[8:], length)
		le.PutUint32(f[12:], length)
		copy(f[header:], []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xB6})
		le.PutUint32(f[header+14:], uint32(i))
		file = append(file, f...)
	}
	if err := os.WriteFile(in, file, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, Options{Sleep: 20 * units.Microsecond})
	link := fabric.Link{Rate: rate}
	c := dataplane.SwitchConfig{
		MTU: 1500, Buffer: units.MB, Tail: units.MB,
		Classes: dataplane.DefaultClasses(), FDBSize: 16,
	}
	c.Ports = []dataplane.PortConfig{{Link: link}, {Link: link}}
	envs := w.NewEnvs(2)
	sw, err := dataplane.NewSwitch(c, envs)
	if err != nil {
		t.Fatal(err)
	}
	id := w.Add("switch", sw, envs, make([]int, 2))
	for i, spec := range []string{
		"net_pcap0,rx_pcap=" + in + ",tx_pcap=" + filepath.Join(dir, "back"),
		"net_pcap1,rx_pcap=" + none + ",tx_pcap=" + out,
	} {
		d, err := w.Open(spec, 1500)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Attach(fabric.End{Node: id, Port: i}, d, link); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, units.Never) }()
	sent := uint64(0)
	for deadline := time.Now().Add(time.Minute); sent < frames && time.Now().Before(deadline); {
		w.Do(func(now units.Time) { sent = sw.Stats(now).Ports[1].TxFrames[0] })
	}
	stop()
	<-ended
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil || len(got) != len(file) {
		t.Fatalf("%v: %d bytes of %d came out, %d frames were sent", err, len(got), len(file), sent)
	}
	for at := fileHeader; at < len(file); at += header + length {
		if i := at + header; !bytes.Equal(got[i:i+length], file[i:i+length]) {
			t.Fatalf("% x, want % x", got[i:i+20], file[i:i+20])
		}
	}
}

// What drivers say of themselves, for DPDK's own tools, is what photon knows of them.
func TestDriversSayWhatArgumentsTheyHave(t *testing.T) {
	says := regexp.MustCompile(`PMD_INFO_STRING= {"name": "([^"]*)", "params": "([^"]*)"`)
	files, err := filepath.Glob("/usr/lib/*/dpdk/pmds-*/librte_net_*.so")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	found := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range says.FindAllSubmatch(b, -1) {
			d, ok := drivers[string(m[1])]
			if !ok {
				continue
			}
			found++
			left := string(m[2])
			for key := range d.arguments {
				if at := strings.Index(left, key+"="); at >= 0 {
					left = left[:at] + left[at+len(key)+1:]
				} else if key != "legacy-ol-flags" {
					t.Errorf("%s does not say that it has %s", m[1], key)
				}
			}
			if strings.Contains(left, "=") && string(m[1]) != "net_ring" { // nodeaction=name:node:action
				t.Errorf("of %s photon does not know %s", m[1], left)
			}
		}
	}
	if found != len(drivers) {
		t.Errorf("%d of %d drivers", found, len(drivers))
	}
}
