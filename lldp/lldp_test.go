package lldp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"pgregory.net/rapid"
)

// A host with PFC on priority 3, willing in nothing, and an application of UDP port 4791, by the figures of IEEE 802.1Q
// annex D.2. That photon's own frames are what Debian's lldpad takes them for, and those of lldpd what photon takes them
// for, is tested where these run.
const fromHost = "0180c200000e" + "02000a000001" + "88cc" +
	"0207" + "04" + "02000a000001" + "0407" + "03" + "02000a000001" + "0602" + "0079" +
	"fe19" + "0080c209" + "00" + "00000000" + "6400000000000000" + "0000000000000000" +
	"fe06" + "0080c20b" + "08" + "08" +
	"fe08" + "0080c20c" + "00" + "6312b7" + "0000"

func decoded(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecodeWhatAnotherSent(t *testing.T) {
	b := decoded(t, fromHost)
	var i Info
	if err := i.Decode(b); err != nil {
		t.Fatal(err)
	}
	if i.Chassis != "02:00:0a:00:00:01" || i.Port != "02:00:0a:00:00:01" || i.TTL != 121 {
		t.Errorf("%+v", i)
	}
	d := i.DCBX
	if d.PFC == nil || *d.PFC != (PFC{Classes: 8, Priority: 1 << 3}) {
		t.Errorf("PFC %+v", d.PFC)
	}
	if d.ETS == nil || d.ETS.Classes != 8 || d.ETS.Bandwidth[0] != 100 || d.ETS.Willing {
		t.Errorf("ETS %+v", d.ETS)
	}
	if len(d.Apps) != 1 || d.Apps[0] != (App{Priority: 3, Selector: ByUDP, Protocol: 4791}) || d.Recommended != nil || d.Broken != 0 {
		t.Errorf("%+v", d)
	}
}

func anyETS(t *rapid.T, name string) *ETS {
	if rapid.Bool().Draw(t, name) {
		return nil
	}
	e := &ETS{}
	for p := range e.Class {
		e.Class[p] = rapid.Uint8Range(0, 7).Draw(t, "class")
		e.Bandwidth[p] = rapid.Uint8Range(0, 100).Draw(t, "percent")
		e.Algorithm[p] = rapid.SampledFrom([]uint8{Strict, Credit, Shares, Vendor}).Draw(t, "algorithm")
	}
	return e
}

// What is written is what is read.
func TestRoundTrip(t *testing.T) {
	text := rapid.StringMatching(`[a-zA-Z0-9 ._/-]{0,60}`)
	rapid.Check(t, func(t *rapid.T) {
		in := Info{
			From: 0x02000a000001, Chassis: "02:00:0a:00:00:02", Port: "sw" + rapid.StringMatching(`[0-9]{1,9}`).Draw(t, "port"),
			TTL: rapid.Uint16Range(1, 65535).Draw(t, "ttl"), PortText: text.Draw(t, "port text"), SystemName: text.Draw(t, "name"),
			SystemText: text.Draw(t, "system"), Capabilities: rapid.Uint16().Draw(t, "capabilities"),
		}
		if in.DCBX.ETS = anyETS(t, "ets"); in.DCBX.ETS != nil {
			in.DCBX.ETS.Willing, in.DCBX.ETS.Credit = rapid.Bool().Draw(t, "willing"), rapid.Bool().Draw(t, "credit")
			in.DCBX.ETS.Classes = rapid.Uint8Range(1, 8).Draw(t, "classes")
		}
		in.DCBX.Recommended = anyETS(t, "recommended")
		if rapid.Bool().Draw(t, "pfc") {
			in.DCBX.PFC = &PFC{rapid.Bool().Draw(t, "willing"), rapid.Bool().Draw(t, "mbc"), rapid.Uint8Range(0, 8).Draw(t, "classes"), rapid.Uint8().Draw(t, "priorities")}
		}
		if in.DCBX.HasApps = rapid.Bool().Draw(t, "applications"); in.DCBX.HasApps {
			for range rapid.IntRange(0, 168).Draw(t, "how many") {
				in.DCBX.Apps = append(in.DCBX.Apps, App{rapid.Uint8Range(0, 7).Draw(t, "priority"), rapid.Uint8Range(1, 5).Draw(t, "selector"), rapid.Uint16().Draw(t, "protocol")})
			}
		}
		b := in.Encode(0x02000a000002)
		if len(b) < 60 || len(b) > MaxLen {
			t.Fatalf("%d bytes", len(b))
		}
		var out Info
		if err := out.Decode(b); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(in, out) {
			t.Fatalf("%+v\nbecame %+v", in, out)
		}
	})
}

func TestWhatIsBroken(t *testing.T) {
	good := decoded(t, fromHost)
	change := func(at int, to byte) []byte {
		b := bytes.Clone(good)
		b[at] = to
		return b
	}
	for _, c := range []struct {
		name string
		b    []byte
		want error
	}{
		{"nothing", nil, ErrNotLLDP},
		{"another EtherType", change(12, 0x08), ErrNotLLDP},
		{"only a head", good[:14], ErrOrder},
		{"the port first", change(14, 4), ErrOrder},
		{"the chassis again", change(23, 2), ErrOrder},
		{"a TLV beyond the end", change(33, 200), ErrShort},
		{"an empty chassis", append(append(bytes.Clone(good[:14]), 2, 0), good[23:]...), ErrShort},
	} {
		var i Info
		if err := i.Decode(c.b); err != c.want {
			t.Errorf("%s: %v, not %v", c.name, err, c.want)
		}
	}
}

// A TLV that a frame may leave out and that is too short counts as left out; all others are read.
func TestShortTLVIsLeftOut(t *testing.T) {
	good := decoded(t, fromHost)
	var want Info
	if err := want.Decode(good); err != nil {
		t.Fatal(err)
	}
	const behindTTL = 14 + 9 + 9 + 4 // the lengths of what comes first
	for _, short := range [][]byte{
		{7 << 1, 0}, {7 << 1, 2, 0, 4}, {7 << 1, 3, 0, 4, 0}, // capabilities
		{127 << 1, 0}, {127 << 1, 3, 0, 0x80, 0xC2}, // of an organization
	} {
		var got Info
		err := got.Decode(slices.Concat(good[:behindTTL], short, good[behindTTL:]))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%x: %v\n got %+v\nwant %+v", short, err, got, want)
		}
	}
}

// A text of more than 255 bytes is cut between two characters.
func TestLongTextIsCut(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{strings.Repeat("a", 300), strings.Repeat("a", 255)},
		{strings.Repeat("é", 200), strings.Repeat("é", 127)},
		{"a" + strings.Repeat("é", 127), "a" + strings.Repeat("é", 127)},
		{strings.Repeat("龍", 100), strings.Repeat("龍", 85)},
		{"ab" + strings.Repeat("😀", 80), "ab" + strings.Repeat("😀", 63)},
	} {
		if got := cut(c.text); got != c.want {
			t.Errorf("%d bytes became %q", len(c.text), got)
		}
	}
}

// A TLV of DCBX that is too short, too long, or names a class that there is not, is counted and says nothing; those beside
// it are read.
func TestBrokenDCBX(t *testing.T) {
	classes := []byte{0, 0x01, 0x23, 0x45, 0x67}
	ets := append(bytes.Clone(classes), make([]byte, 16)...)
	beyond := bytes.Clone(ets)
	beyond[4] = 0x68
	pfc := []byte{8, 1 << 3}
	for _, c := range []struct {
		name    string
		subtype byte
		value   []byte
		broken  int
	}{
		{"ETS", subtypeETS, ets, 0}, {"a short ETS", subtypeETS, ets[:20], 1}, {"a long ETS", subtypeETS, append(bytes.Clone(ets), 0), 1},
		{"class 8", subtypeETS, beyond, 1}, {"class 8, recommended", subtypeETSAsks, beyond, 1}, {"a short recommendation", subtypeETSAsks, ets[:5], 1},
		{"PFC", subtypePFC, pfc, 0}, {"a short PFC", subtypePFC, pfc[:1], 1}, {"a long PFC", subtypePFC, []byte{8, 8, 8}, 1},
		{"no applications", subtypeApps, []byte{0}, 0}, {"an application and a half", subtypeApps, []byte{0, 1, 2, 3, 4}, 1}, {"nothing of applications", subtypeApps, nil, 1},
		{"what is not known", 77, []byte{1}, 0},
	} {
		frame := (&Info{Port: "eth0", TTL: 1, From: 2}).Encode(1)
		tlv := append([]byte{127 << 1, byte(4 + len(c.value)), 0x00, 0x80, 0xC2, c.subtype}, c.value...)
		next := []byte{127 << 1, 6, 0x00, 0x80, 0xC2, subtypePFC, 0, 1 << 5}
		at := 14
		for range 3 { // chassis, port and time to live
			at += 2 + int(binary.BigEndian.Uint16(frame[at:])&0x1FF)
		}
		frame = append(append(append(bytes.Clone(frame[:at]), tlv...), next...), 0, 0)
		var i Info
		if err := i.Decode(frame); err != nil || int(i.DCBX.Broken) != c.broken {
			t.Errorf("%s: %d are broken, not %d; %v", c.name, i.DCBX.Broken, c.broken, err)
		}
		if c.broken > 0 && (i.DCBX.ETS != nil || i.DCBX.Recommended != nil || i.DCBX.HasApps) {
			t.Errorf("%s: %+v", c.name, i.DCBX)
		}
		if i.DCBX.PFC == nil || i.DCBX.PFC.Priority != 1<<5 {
			t.Errorf("%s: what follows is not read: %+v", c.name, i.DCBX.PFC)
		}
	}
}

// What photon says it can do is what another's decoder reads.
func TestCapabilitiesByAnother(t *testing.T) {
	for _, enabled := range []uint16{0, Bridge, Router, Station, Bridge | Router | Station} {
		i := Info{Port: "eth0", TTL: 1, From: 2, Capabilities: enabled}
		p := gopacket.NewPacket(i.Encode(1), layers.LayerTypeEthernet, gopacket.Default)
		said := p.Layer(layers.LayerTypeLinkLayerDiscoveryInfo).(*layers.LinkLayerDiscoveryInfo).SysCapabilities
		all := layers.LLDPCapabilities{Bridge: true, Router: true, StationOnly: true}
		on := layers.LLDPCapabilities{Bridge: enabled&Bridge != 0, Router: enabled&Router != 0, StationOnly: enabled&Station != 0}
		if said.SystemCap != all || said.EnabledCap != on {
			t.Errorf("capabilities %04x are read as %+v", enabled, said)
		}
	}
}

// An identifier is shown as what its subtype says it is; what cannot be shown so is there in hexadecimal, all of it
// (IEEE 802.1AB tables 8-2 and 8-3).
func TestIdentifiers(t *testing.T) {
	for _, c := range []struct{ chassis, want string }{
		{"\x04\x02\x00\x0a\x00\x00\x01", "02:00:0a:00:00:01"}, {"\x05\x01\x0a\x00\x00\x01", "10.0.0.1"}, {"\x05\x02\xfd" + strings.Repeat("\x00", 14) + "\x01", "fd00::1"},
		{"\x07rack 7", "rack 7"}, {"\x07a\x1bb", "0x611b62"}, {"\x07\x00", "0x00"}, {"\x04abcde", "0x6162636465"}, {"\x05abcde", "0x6162636465"}, {"\x05\x01\x0a\x00\x00", "0x010a0000"},
		{"\x07a\nb", "0x610a62"},
	} {
		b := (&Info{Port: "eth0", TTL: 1, From: 2}).Encode(1)
		b = slices.Concat(b[:14], []byte{2, byte(len(c.chassis))}, []byte(c.chassis), b[23:])
		var i Info
		if err := i.Decode(b); err != nil || i.Chassis != c.want || i.Port != "eth0" {
			t.Errorf("%q is shown as %q, %v, not %q", c.chassis, i.Chassis, err, c.want)
		}
	}
}

// A neighbour's text does nothing to a terminal.
func TestTextsAreReadable(t *testing.T) {
	i := Info{Port: "eth0", TTL: 1, SystemName: "a\x1b[31mb\r\nc\x00", From: 2}
	var out Info
	if err := out.Decode(i.Encode(1)); err != nil || out.SystemName != "a[31mb c" {
		t.Errorf("%q, %v", out.SystemName, err)
	}
}

// 802.1Q: the shares of the classes that share are 100 % together.
func TestSharesAreAHundred(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var weights [8]int
		some, all := false, 0
		for p := range weights {
			weights[p] = rapid.IntRange(0, 100).Draw(t, "weight")
			some = some || weights[p] > 0
			all += weights[p]
		}
		e := Shared(weights)
		sum := 0
		for p, percent := range e.Bandwidth {
			sum += int(percent)
			if (weights[p] > 0) != (e.Algorithm[p] == Shares) || weights[p] == 0 && percent != 0 {
				t.Fatalf("weights %v: %+v", weights, e)
			}
			if off := int(percent)*all - 100*weights[p]; some && max(off, -off) >= all {
				t.Fatalf("weights %v: priority %d has %d %%", weights, p, percent)
			}
		}
		if e.Classes != 8 || e.Class != [8]uint8{0, 1, 2, 3, 4, 5, 6, 7} {
			t.Fatalf("the classes are not the priorities: %+v", e)
		}
		if some && sum != 100 || !some && sum != 0 {
			t.Fatalf("weights %v have %d %%", weights, sum)
		}
	})
}

func TestCompare(t *testing.T) {
	own := DCBX{ETS: Shared([8]int{0: 1, 3: 1}), PFC: &PFC{Priority: 1 << 3}, HasApps: true, Apps: []App{{3, ByUDP, 4791}}}
	if m := Compare(&own, &own); m != nil {
		t.Errorf("it disagrees with itself: %v", m)
	}
	if m := Compare(&own, &DCBX{}); m != nil {
		t.Errorf("it disagrees with silence: %v", m)
	}
	peer := DCBX{ETS: Shared([8]int{0: 1, 3: 3}), PFC: &PFC{Willing: true, Priority: 1<<3 | 1<<4}, HasApps: true, Apps: []App{{4, ByUDP, 4791}, {1, ByTCP, 3260}}}
	var all []string
	for _, m := range Compare(&own, &peer) {
		all = append(all, m.Feature.String()+": "+m.Text)
	}
	want := "pfc: PFC is on for priorities 3 here, and for priorities 3 4 at the peer, which is willing and has not taken over\n" +
		"ets: priority 0 has 50 % of the link here, and 25 % at the peer, which is not willing\n" +
		"applications: UDP port 4791 has priority 3 here, and 4 at the peer"
	if got := strings.Join(all, "\n"); got != want {
		t.Error(got)
	}
	// The same shares, by other numbers of classes, are the same.
	other := *own.ETS
	other.Class = [8]uint8{7, 6, 5, 4, 3, 2, 1, 0}
	for p := range 8 {
		other.Algorithm[other.Class[p]], other.Bandwidth[other.Class[p]] = own.ETS.Algorithm[p], own.ETS.Bandwidth[p]
	}
	if what := own.ETS.differs(&other); what != "" {
		t.Error(what)
	}
}

// A port of TCP or UDP, and the same of either, are one application to two ends that say nothing more exact of it:
// hosts are often told so (dcb app add dev eth0 port-prio 4791:5).
func TestCompareOfPorts(t *testing.T) {
	udp, tcp := App{3, ByUDP, 4791}, App{3, ByTCP, 4791}
	either, ethertype := App{5, ByPort, 4791}, App{5, ByEtherType, 4791}
	for i, c := range []struct {
		own, peer []App
		want      string
	}{
		{[]App{udp}, []App{either}, "UDP port 4791 has priority 3 here, and 5 at the peer"},
		{[]App{tcp}, []App{either}, "TCP port 4791 has priority 3 here, and 5 at the peer"},
		{[]App{either}, []App{udp}, "port 4791 has priority 5 here, and 3 at the peer"},
		{[]App{udp}, []App{{3, ByPort, 4791}}, ""},
		{[]App{udp}, []App{{5, ByPort, 4790}}, ""},
		{[]App{udp}, []App{either, udp}, ""}, // what is more exact counts
		{[]App{udp}, []App{udp, either}, ""},
		{[]App{udp, either}, []App{udp}, ""},
		{[]App{udp, either}, []App{tcp}, "port 4791 has priority 5 here, and 3 at the peer"},
		{[]App{udp}, []App{{5, ByTCP, 4791}}, ""},
		{[]App{udp}, []App{ethertype}, ""},
		{[]App{udp}, []App{{5, ByDSCP, 4791}}, ""},
	} {
		got := ""
		for _, m := range Compare(&DCBX{HasApps: true, Apps: c.own}, &DCBX{HasApps: true, Apps: c.peer}) {
			got += m.Text
		}
		if got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	var table Table
	now := time.Unix(1000, 0)
	a := &Info{Chassis: "a", Port: "1", TTL: 10}
	table.Update(now, 4, a)
	if gone := table.Expire(now.Add(10*time.Second - 1)); gone != nil || len(table.At(4)) != 1 {
		t.Error("who spoke once is forgotten before the time that it gave")
	}
	if gone := table.Expire(now.Add(10 * time.Second)); len(gone[4]) != 1 || len(table.At(4)) != 0 || table.Aged != 1 {
		t.Error("who spoke once stays longer than it said")
	}
	table.Aged = 0
	if !table.Update(now, 3, a) || table.Update(now.Add(time.Second), 3, a) || len(table.At(3)) != 1 || len(table.At(2)) != 0 {
		t.Fatal("a neighbour is new once")
	}
	if gone := table.Expire(now.Add(10 * time.Second)); gone != nil {
		t.Error("what was said again is forgotten")
	}
	if gone := table.Expire(now.Add(11 * time.Second)); len(gone[3]) != 1 || len(table.At(3)) != 0 || table.Aged != 1 {
		t.Error("who is silent stays")
	}
	table.Update(now, 3, a)
	table.Update(now, 3, &Info{Chassis: "a", Port: "1"})
	if len(table.At(3)) != 0 {
		t.Error("who takes leave stays")
	}
	for i := range MaxNeighbours + 2 {
		table.Update(now, 1, &Info{Chassis: "a", Port: string(rune('a' + i)), TTL: 10})
	}
	if len(table.At(1)) != MaxNeighbours || table.Lost != 2 {
		t.Error(len(table.At(1)), table.Lost)
	}
	table.Forget(1)
	if len(table.At(1)) != 0 {
		t.Error("a port's are not forgotten")
	}
}

// A table is a list of what was said, gone through from the first to the last: who spoke at a port and is silent for
// longer than it said has gone, and so has who said so; all that went at once are told of, each at its port.
func TestTableIsAList(t *testing.T) {
	type entry struct {
		port  int
		info  Info
		until time.Time
	}
	rapid.Check(t, func(t *rapid.T) {
		var table Table
		var list []entry
		now, lost, aged := time.Unix(1000, 0), uint64(0), uint64(0)
		of := func(port int) (infos []Info) {
			for _, e := range list {
				if e.port == port {
					infos = append(infos, e.info)
				}
			}
			return infos
		}
		t.Repeat(map[string]func(*rapid.T){
			"say": func(t *rapid.T) {
				port := rapid.IntRange(0, 2).Draw(t, "port")
				i := Info{
					Chassis:    rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "chassis"),
					Port:       rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(t, "name"),
					TTL:        uint16(rapid.IntRange(0, 4).Draw(t, "TTL")),
					SystemName: rapid.StringN(0, 2, -1).Draw(t, "system"),
				}
				known := slices.IndexFunc(list, func(e entry) bool {
					return e.port == port && e.info.Chassis == i.Chassis && e.info.Port == i.Port
				})
				isNew := false
				switch until := now.Add(time.Duration(i.TTL) * time.Second); {
				case known >= 0 && i.TTL == 0:
					list = slices.Delete(list, known, known+1)
				case known >= 0:
					list[known].info, list[known].until = i, until
				case i.TTL > 0 && len(of(port)) == 8:
					lost++
				case i.TTL > 0:
					list, isNew = append(list, entry{port, i, until}), true
				}
				if got := table.Update(now, port, &i); got != isNew {
					t.Fatalf("%+v is new at port %d: %v", i, port, got)
				}
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "half seconds")) * time.Second / 2)
				gone := map[int][]Info{}
				list = slices.DeleteFunc(list, func(e entry) bool {
					silent := !now.Before(e.until)
					if silent {
						gone[e.port] = append(gone[e.port], e.info)
						aged++
					}
					return silent
				})
				got := map[int][]Info{}
				for port, neighbours := range table.Expire(now) {
					for _, n := range neighbours {
						got[port] = append(got[port], n.Info)
					}
				}
				if !reflect.DeepEqual(got, gone) {
					t.Fatalf("gone are %+v, should be %+v", got, gone)
				}
			},
			"forget": func(t *rapid.T) {
				port := rapid.IntRange(0, 2).Draw(t, "port")
				list = slices.DeleteFunc(list, func(e entry) bool { return e.port == port })
				table.Forget(port)
			},
			"": func(t *rapid.T) {
				for port := range 3 {
					var got []Info
					for _, n := range table.At(port) {
						got = append(got, n.Info)
					}
					if want := of(port); !reflect.DeepEqual(got, want) {
						t.Fatalf("port %d has %+v, should have %+v", port, got, want)
					}
				}
				if table.Lost != lost || table.Aged != aged {
					t.Fatalf("%d lost and %d aged, should be %d and %d", table.Lost, table.Aged, lost, aged)
				}
			},
		})
	})
}

// Whatever comes, it is read without a panic; and what is understood, written and read again, is the same.
func FuzzDecode(f *testing.F) {
	b, err := hex.DecodeString(fromHost)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add((&Info{Port: "sw0", TTL: 121, SystemName: "sw", DCBX: DCBX{ETS: Shared([8]int{}), PFC: &PFC{}, HasApps: true}}).Encode(1))
	f.Fuzz(func(t *testing.T, b []byte) {
		var i Info
		if i.Decode(b) != nil {
			return
		}
		var d DCBX
		for rest := i.DCBX.append(nil); len(rest) > 0; {
			n := int(rest[0]&1)<<8 | int(rest[1])
			if d.take(rest[2 : 2+n]); d.Broken != 0 {
				t.Fatalf("% x", rest)
			}
			rest = rest[2+n:]
		}
		Compare(&i.DCBX, &d)
		if d.Broken = i.DCBX.Broken; !reflect.DeepEqual(d.Apps, i.DCBX.Apps) || !reflect.DeepEqual(d.ETS, i.DCBX.ETS) || !reflect.DeepEqual(d.PFC, i.DCBX.PFC) {
			t.Fatalf("%+v became %+v", i.DCBX, d)
		}
	})
}
