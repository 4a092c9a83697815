package dpdk

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSpecifications(t *testing.T) {
	for _, spec := range []string{
		"net_af_packet0,iface=sw0", "net_af_packet,iface=sw0", "net_af_packet0,iface=sw0,framecnt=512",
		"net_af_packet0,iface=sw0,framesz=2048,blocksz=65536,framecnt=8192", "net_af_packet0,qpairs=1,iface=sw0,qdisc_bypass=0",
		"net_af_packet0,iface=sw0,blocksz=4096", "net_af_packet0,iface=sw0,", "net_af_xdp0,iface=sw0,start_queue=1,force_copy=1",
		"net_tap0", "net_tap0,iface=app0,mac=fixed", "net_tap0,mac=02:00:00:00:00:01", "net_null0,size=64,copy=1", "net_ring0",
		"net_memif0,role=client,socket-abstract=no,socket=/run/a.sock,id=7,rsize=10,bsize=2048,secret=x",
		"net_vhost0,iface=/run/vm.sock,client=1,queues=1", "0000:03:00.0", "0000:03:00.0,representor=[0-3],flag",
		"net_bonding0,mode=1,slave=0000:03:00.0", "virtio_user0,path=/dev/vhost-net,queue_size=1024",
	} {
		if err := CheckSpec(spec, 1500, 2048); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
	}
	long := strings.Repeat("1", 64)
	path := "/" + long + long[:43] // and a character more is too long
	for _, x := range [][2]string{
		{"net_ring" + long[:9], "net_ring" + long[:10] + ": DPDK takes names of at most 17 characters for such a device"},
		{"net_tap" + long[:15], "net_tap" + long[:16] + ": DPDK takes names of at most 22 characters for such a device"},
		{"net_null" + long[:55], "net_null" + long[:56] + ": DPDK takes names of at most 63 characters for such a device"},
		{"net_pcap" + long[:55], "net_pcap" + long[:56] + ": DPDK takes names of at most 63 characters for such a device"},
		{"net_vhost0,iface=" + path[:107], "iface=" + path + ": a path of a socket has at most 107 characters"},
		{"net_memif0,socket=" + path[:107], "socket=" + path + ": a path of a socket has at most 107 characters"},
	} {
		if err := CheckSpec(x[0], 1500, 2048); err != nil {
			t.Errorf("%s: %v", x[0], err)
		}
		if err := CheckSpec(x[0]+"1", 1500, 2048); err == nil || err.Error() != x[1] {
			t.Errorf("%s1\n got %v\nwant %s", x[0], err, x[1])
		}
	}
	for spec, want := range map[string]string{
		"net_af_packet0":                                                  "it needs the interface it sits on (write it like net_af_packet0,iface=sw0)",
		"net_af_xdp0":                                                     "it needs the interface it sits on (write it like net_af_xdp0,iface=sw0)",
		"net_vhost0,client=1":                                             "it needs a socket (write it like net_vhost0,iface=/run/vm.sock)",
		"net_af_packet0,iface":                                            `"iface" is no argument: it needs a value (write it like iface=...)`,
		"net_af_packet0,iface=":                                           "iface=: the name of an interface",
		"net_af_packet0, iface=sw0":                                       `it has no argument " iface" (but blocksz, framecnt, framesz, iface, qdisc_bypass, qpairs)`,
		"net_af_packet0,iface=sw0,foo=1":                                  `it has no argument "foo" (but blocksz, framecnt, framesz, iface, qdisc_bypass, qpairs)`,
		"net_af_packet0,iface=sw0,iface=sw1":                              "iface is there twice",
		"net_af_packet0,iface=averyveryverylongname":                      "iface=averyveryverylongname: the kernel's names of interfaces have at most 15 characters",
		"net_af_packet0,iface=sw0,qpairs=2":                               "qpairs=2: photon polls one queue of a port (leave it out)",
		"net_af_packet0,iface=sw0,qdisc_bypass=7":                         "qdisc_bypass=7: 0 or 1",
		"net_af_packet0,iface=sw0,framecnt=x":                             "framecnt=x: a number from 1 to 1048576",
		"net_af_packet0,iface=sw0,framesz=4096":                           "framesz=4096: buffers for mtu 1500 have 2048 bytes (leave it out)",
		"net_af_packet0,iface=sw0,framesz=1600":                           "framesz=1600: frames of mtu 1500 take 1628 bytes (leave it out)",
		"net_af_packet0,iface=sw0,framesz=2050":                           "framesz=2050: the kernel takes multiples of 16 (leave it out)",
		"net_af_packet0,iface=sw0,blocksz=1000":                           "blocksz=1000: a block is whole pages of 4096 bytes, and holds a frame of 2048 (leave it out)",
		"net_af_packet0,iface=sw0,blocksz=6144":                           "blocksz=6144: a block is whole pages of 4096 bytes, and holds a frame of 2048 (leave it out)",
		"net_af_packet0,iface=sw0,framesz=2048,blocksz=65536,framecnt=17": "framecnt=17: a block holds 32 frames, so a multiple of that (leave it out)",
		"net_tap0,mac=zz":                                                 "mac=zz: an address like 02:00:00:00:00:01",
		"net_tap0,iface=app0,foo=1":                                       `it has no argument "foo" (but iface, mac, remote)`,
		"net_memif0,role=foo":                                             "role=foo: client or server",
		"net_memif0,role=server,socket":                                   `"socket" is no argument: it needs a value (write it like socket=...)`,
		"net_memif0,id=x":                                                 "id=x: a number from 0 to 4294967295",
		"net_memif0,rsize=99":                                             "rsize=99: a number from 1 to 14",
		"net_memif0,socket-abstract=false":                                "socket-abstract=false: yes or no",
		"net_null0,size=4000":                                             "size=4000: buffers for mtu 1500 have 2048 bytes",
		"net_null0,copy":                                                  `"copy" is no argument: it needs a value (write it like copy=...)`,
		"virtio_user0,path":                                               `"path" is no argument: it needs a value (write it like path=...)`,
	} {
		if err := CheckSpec(spec, 1500, 2048); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", spec, err, want)
		}
	}
}

// What photon adds itself is never refused.
func TestRingsAreRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mtu := rapid.IntRange(46, 9216).Draw(t, "mtu")
		spec := "net_af_packet0,iface=sw0"
		if rapid.Bool().Draw(t, "framesz") { // the least that has room
			spec += ",framesz=" + []string{"9344", "9360", "9376"}[rapid.IntRange(0, 2).Draw(t, "size")]
			mtu = 9216
		}
		if rapid.Bool().Draw(t, "blocksz") {
			spec += ",blocksz=131072"
		}
		whole := WithRing(spec, mtu, rapid.IntRange(1, 10000).Draw(t, "frames"))
		if err := CheckSpec(whole, mtu, max(FrameSize(mtu), 9376-ringHeader)); err != nil {
			t.Errorf("%s: %v", whole, err)
		}
		if !strings.HasPrefix(whole, spec) || WithRing(whole, mtu, 1) != whole {
			t.Errorf("%s of %s", whole, spec)
		}
	})
}

// Whatever a specification says, it is refused in one line or can be completed.
func TestAnySpecification(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom([]string{"net_af_packet0", "net_tap1", "net_memif0", "net_null", "net_x0", ""}).Draw(t, "name")
		for range rapid.IntRange(0, 4).Draw(t, "arguments") {
			key := rapid.SampledFrom([]string{"iface", "framesz", "blocksz", "framecnt", "size", "role", "", "x"}).Draw(t, "key")
			text := rapid.SampledFrom([]string{"", "=", "=0", "=-1", "=x", "=e0", "=1", "=16", "=2048", "=65536", "=1048576"}).Draw(t, "text")
			spec += "," + key + text
		}
		whole := WithRing(spec, 1500, 256)
		err := CheckSpec(spec, 1500, 2048)
		if err != nil && (err.Error() == "" || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %q", spec, err)
		}
		if err == nil && strings.HasPrefix(spec, "net_af_packet") {
			if err := CheckSpec(whole, 1500, 2048); err != nil {
				t.Errorf("%s is right, and %s: %v", spec, whole, err)
			}
		}
	})
}
