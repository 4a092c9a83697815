package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What two ports cannot both have is refused with the line of the second, whatever it
// is called; what only looks alike passes.
func TestThingsUsedTwice(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"net_null0", "net_null0", "device net_null0 is used twice"},
		{"net_null0", "net_null0,size=100", "device net_null0 is used twice"},
		{"net_af_packet0,iface=sw0", "net_af_packet1,iface=sw0", "interface sw0 is used twice"},
		{"net_af_packet0,iface=sw0", "net_tap0,iface=sw0", "interface sw0 is used twice"},
		{"net_af_packet0,iface=sw0", "net_af_packet0,iface=sw1", "device net_af_packet0 is used twice"},
		{"net_af_xdp0,iface=sw0", "net_af_packet0,framecnt=64,iface=sw0", "interface sw0 is used twice"},
		{"net_vhost0,iface=/tmp/a", "net_vhost1,iface=/tmp/a", "socket /tmp/a is used twice"},
		{"0000:03:00.0", "03:00.0", "device 0000:03:00.0 is used twice"},
		{"pci:0000:03:00.0", "0000:03:00.0,foo=1", "device 0000:03:00.0 is used twice"},
		{"0000:0A:00.0", "0000:0a:00.0", "device 0000:0a:00.0 is used twice"},
		{"net_memif0,role=server,socket=/a", "net_memif1,role=server,socket=/a", "socket /a, id 0, as server is used twice"},
		{"net_memif0,socket=/a,id=3", "net_memif1,role=client,id=3,socket=/a", "socket /a, id 3, as client is used twice"},
		{"net_memif0", "net_memif1", "socket /run/memif.sock, id 0, as client is used twice"},

		{"net_af_packet0,iface=sw0", "net_af_packet1,iface=sw1", ""},
		{"net_memif0,role=server,socket=/a,id=0", "net_memif1,role=server,socket=/a,id=1", ""},
		{"net_memif0,role=server,socket=/a", "net_memif1,role=client,socket=/a", ""},
		{"net_vhost0,iface=/tmp/sw0", "net_af_packet0,iface=sw0", ""},
		{"0000:03:00.0", "0000:03:00.1", ""},
		{"0000:03:00.0", "0001:03:00.0", ""},
	} {
		sw := fmt.Sprintf("name: sw\nports:\n- device: %q\n- device: net_null7\n- {device: %q}\n", c.first, c.second)
		nic := fmt.Sprintf("role: nic\nport: {device: %q}\n\napplication:\n  device: %q\n", c.first, c.second)
		for text, read := range map[string]func(string) error{
			sw:  func(f string) error { _, err := ReadSwitch(f); return err },
			nic: func(f string) error { _, err := ReadAgent(f); return err },
		} {
			if text == nic && !strings.HasPrefix(c.second, "net_") {
				continue // an application has a virtual device
			}
			file := filepath.Join(t.TempDir(), "x.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			err, want := read(file), ""
			if c.want != "" {
				want = fmt.Sprintf("%s:5: %s", file, c.want)
			}
			if fmt.Sprint(err) != want && (want != "" || err != nil) {
				t.Errorf("%s\n got %v\nwant %s", text, err, want)
			}
		}
	}
}
