package capture

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"photon/fabric"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/run"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// incast is one in which there are pauses, marks and notifications.
const incast = `
id: capture/incast
title: Senders that start together
duration: 3ms
topology: {kind: star, hosts: 6}
parameters:
  link_rate: 25Gbps
  host_delay: 1us
  trunk_delay: 1us
  payload: 1000B
  mtu: 1500B
  priority: 3
  xoff: 40KB
  buffer: 16MB
flows:
  - {name: incast, from: H0..H4, to: H5, size: 300KB, spread: 20us}
schemes: [dcqcn, qcn, hpcc]
measure:
  sample: 10us
  metrics:
    - {name: fct_s, do: fct, flows: [incast], stat: p99}
`

func parse(t *testing.T) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("incast.yaml", []byte(incast))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// observed has the network that is captured, too.
type observed struct {
	*Captures
	n *build.Network
}

func (s *observed) Begin(n *build.Network, run string) (func(), error) {
	s.n = n
	return s.Captures.Begin(n, run)
}

// captured runs a scheme, and returns the network and the file.
func captured(t *testing.T, scheme string, w Wanted, cores int) (n *build.Network, file []byte, d Done) {
	t.Helper()
	e := parse(t)
	w.File = filepath.Join(t.TempDir(), "x.pcapng")
	s := &observed{Captures: &Captures{Wanted: w}}
	i := slices.IndexFunc(e.Schemes, func(u experiment.SchemeUse) bool { return u.Name.V == scheme })
	o := run.Options{World: "sim", Capture: s, Cores: cores}
	if _, err := run.RunOnce(context.Background(), e, o, e.Schemes[i], build.Observer{}); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(w.File)
	if err != nil || len(s.Done()) != 1 || s.Done()[0].Err != nil {
		t.Fatal(err, s.Done())
	}
	return s.n, file, s.Done()[0]
}

// tshark is what it says of each frame.
func tshark(t *testing.T, file []byte, fields ...string) (rows [][]string) {
	t.Helper()
	args := []string{"-n", "-r", "-", "-T", "fields", "-E", "separator=|"}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	c := exec.Command("tshark", args...)
	c.Stdin = bytes.NewReader(file)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "|"))
	}
	return rows
}

// stats are the counters of all ports, by their names, and what all nodes together told of congestion.
func stats(t *testing.T, n *build.Network) (ports map[string]*fabric.PortStats, cnps uint64) {
	t.Helper()
	ports = map[string]*fabric.PortStats{}
	list, err := Ports(n.Plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		var st fabric.Stats
		if h := n.Hosts[p.Node]; h != nil {
			st = h.Stats(n.World.Now())
			cnps += st.NPSent
		} else {
			st = n.Switches[p.Node].Stats(n.World.Now())
		}
		ports[p.Name] = &st.Ports[p.Port]
	}
	return ports, cnps
}

// tshark finds in the file what the nodes have counted: every frame of every port in each direction, pauses,
// marks, notifications; in the order of time, and nothing that is malformed.
func TestCaptureIsWhatNodesCount(t *testing.T) {
	n, file, d := captured(t, "dcqcn", Wanted{}, 1)
	ports, cnps := stats(t, n)
	rows := tshark(t, file, "frame.interface_name", "frame.packet_flags_direction", "frame.time_epoch", "eth.type",
		"macc.opcode", "infiniband.bth.opcode", "ip.dsfield.ecn", "_ws.malformed", "frame.comment")
	if len(rows) != d.Frames || d.Frames < 5000 || d.Ports != 12 || d.Full != units.Never {
		t.Errorf("%d frames are read: %v", len(rows), &d)
	}
	got := map[string]int{}
	last := ""
	for i, r := range rows {
		port, way, at, bth, ecn := r[0], "in", r[2], r[5], r[6]
		if strings.HasSuffix(r[1], "2") {
			way = "out"
		}
		got[port+" "+way]++
		switch {
		case r[3] == "0x8808" && r[4] == "0x0101" && r[8] == "":
			got[port+" pfc "+way]++
		case bth == "129" && r[8] == "priority 6":
			got["cnp "+port[:1]+way]++
		case bth != "17" && r[8] != "priority 3":
			t.Fatalf("frame %d: %q", i+1, r)
		}
		if ecn == "3" {
			got[port+" ce "+way]++
		}
		if r[7] != "" {
			t.Fatalf("frame %d is malformed: %q", i+1, r)
		}
		if len(at) == len(last) && at < last || len(at) < len(last) {
			t.Fatalf("frame %d: %s after %s", i+1, at, last)
		}
		last = at
	}
	pauses, marks := uint64(0), uint64(0)
	for name, p := range ports {
		out, in := p.Frames()
		marked, pfcs := uint64(0), uint64(0)
		for prio := range pfc.Classes {
			marked += p.Marked[prio]
			pfcs += p.Ingress.Pauses[prio] + p.Ingress.Resumes[prio]
		}
		for what, want := range map[string]uint64{" in": in, " out": out, " pfc out": pfcs, " pfc in": p.RxControl} {
			if got[name+what] != int(want) {
				t.Errorf("%s%s: %d frames in the file, the node counts %d", name, what, got[name+what], want)
			}
		}
		if name[0] == 'S' && got[name+" ce out"] != int(marked) {
			t.Errorf("%s: %d marked frames in the file, the switch counts %d", name, got[name+" ce out"], marked)
		}
		pauses, marks = pauses+pfcs, marks+marked
	}
	if got["cnp Hout"] != int(cnps) {
		t.Errorf("%d CNPs in the file, the hosts count %d", got["cnp Hout"], cnps)
	}
	if pauses < 10 || marks < 50 || cnps < 10 {
		t.Errorf("%d pauses, %d marks, %d CNPs: nothing to look at", pauses, marks, cnps)
	}
}

// frame is one of a file.
type frame struct {
	gopacket.CaptureInfo
	bytes []byte
}

func frames(t *testing.T, file []byte) (list []frame) {
	t.Helper()
	r, err := pcapgo.NewNgReader(bytes.NewReader(file), pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, info, err := r.ReadPacketData()
		if err != nil {
			return list
		}
		list = append(list, frame{info, b})
	}
}

// The bytes are those that DPDK sends: whole, with checksums and an invariant CRC that are right, whatever a scheme
// adds to packets. A file is the same however many processors a run takes.
func TestCaptureHasWholeFrames(t *testing.T) {
	for _, scheme := range []string{"dcqcn", "qcn", "hpcc"} {
		_, file, _ := captured(t, scheme, Wanted{}, 1)
		long, checked := 0, 0
		for i, f := range frames(t, file) {
			var h wire.Header
			if len(f.bytes) != f.Length || !wire.Parse(f.bytes, &h) {
				t.Fatalf("%s, frame %d: %d of %d bytes", scheme, i+1, len(f.bytes), f.Length)
			}
			if f.Length > 1000 {
				long++
			}
			if h.BTH == 0 {
				continue
			}
			checked++
			end := h.L3 + wire.TotalLen(f.bytes[h.L3:])
			if ip := f.bytes[h.L3:end]; !wire.ICRCOK(ip, h.BTH-h.L3) || !wire.IPv4ChecksumOK(ip) {
				t.Fatalf("%s, frame %d: the CRC or the checksum is wrong: %x", scheme, i+1, f.bytes)
			}
			zeros := f.bytes[min(h.BTH+80, end-wire.ICRCLen) : end-wire.ICRCLen]
			if !bytes.Equal(zeros, make([]byte, len(zeros))) {
				t.Fatalf("%s, frame %d: %x", scheme, i+1, f.bytes)
			}
		}
		if long < 1000 || checked < 2000 {
			t.Errorf("%s: %d long frames, %d packets", scheme, long, checked)
		}
		if _, again, _ := captured(t, scheme, Wanted{}, 2); !bytes.Equal(again, file) {
			t.Errorf("%s: two processors capture something else", scheme)
		}
	}
}

// What is left out is what was asked for.
func TestCapturePart(t *testing.T) {
	_, file, whole := captured(t, "dcqcn", Wanted{}, 1)
	n, _, _ := captured(t, "dcqcn", Wanted{}, 1)
	list, err := Ports(n.Plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	const from, most, snap = 100 * units.Microsecond, 700, 80
	port := slices.IndexFunc(list, func(p Port) bool { return p.Name == "S0>H5" })
	var want []frame
	for _, f := range frames(t, file) {
		if f.InterfaceIndex == port && f.Timestamp.UnixNano() >= int64(from.Duration()) && len(want) < most {
			f.InterfaceIndex, f.bytes = 0, f.bytes[:min(snap, len(f.bytes))]
			f.CaptureLength = len(f.bytes)
			want = append(want, f)
		}
	}
	_, file, d := captured(t, "dcqcn", Wanted{Ports: []string{"S0>H5"}, From: from, Most: most, Snap: snap}, 1)
	got := frames(t, file)
	if !slices.EqualFunc(got, want, func(a, b frame) bool {
		return bytes.Equal(a.bytes, b.bytes) && a.Timestamp.Equal(b.Timestamp) &&
			a.Length == b.Length && a.CaptureLength == b.CaptureLength
	}) {
		t.Errorf("%d frames, want %d", len(got), len(want))
	}
	last := units.Time(got[len(got)-1].Timestamp.UnixNano()) * units.Nanosecond
	if d.Frames != most || d.Ports != 1 || whole.Frames <= most || d.Full < last {
		t.Errorf("%v, of %v", &d, &whole)
	}
	_, file, d = captured(t, "dcqcn", Wanted{Ports: []string{"H5"}, Snap: 20}, 1)
	for _, f := range frames(t, file) {
		if len(f.bytes) != 20 {
			t.Fatalf("%d bytes", len(f.bytes))
		}
	}
	r, err := pcapgo.NewNgReader(bytes.NewReader(file), pcapgo.DefaultNgReaderOptions)
	if err != nil || r.NInterfaces() != 1 {
		t.Fatal(err)
	}
	i, err := r.Interface(0)
	if err != nil || i.Name != "H5>S0" || i.LinkType != layers.LinkTypeEthernet ||
		i.Description != "port 0 of H5, 25Gbps" {
		t.Errorf("%+v, %v", i, err)
	}
}

// Names stand for ports; of two links between the same nodes, too.
func TestPorts(t *testing.T) {
	n, _, _ := captured(t, "dcqcn", Wanted{Most: 1}, 1)
	plan := n.Plan
	hub, _ := plan.Find("S0")
	second := plan.Switch("switch", "S1")
	for range 2 {
		plan.Connect(second, hub, plan.Nodes[hub].Ends[0].Link)
	}
	nic, _ := plan.Find("H5")
	plan.Connect(nic, second, plan.Nodes[hub].Ends[0].Link)
	names := func(list []Port) (s []string) {
		for _, p := range list {
			s = append(s, p.Name)
		}
		return s
	}
	const link = "S1>S0"
	for _, c := range []struct{ ask, want string }{
		{"H1>S0", "H1>S0"}, {"H2,H1", "H1>S0 H2>S0"}, {"H5", "H5>S0 H5.1>S1"}, {"H5.1", "H5.1>S1"}, {"S0>H4,S0>H4", "S0>H4"},
		{link, link + " " + link + "#2"}, {link + "#2", link + "#2"},
		{"H7", `"H7" is neither`}, {"H1>H2", "H1 has no link to"}, {"H1>S0#3", "not so many links"}, {"", `"" is neither`},
		{"H9>S0", "no node"},
	} {
		list, err := Ports(plan, strings.Split(c.ask, ","))
		got := strings.Join(names(list), " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%q: %s, want %s", c.ask, got, c.want)
		}
	}
	if list, err := Ports(plan, nil); err != nil || len(list) != 18 || !slices.IsSortedFunc(list, func(a, b Port) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Port, b.Port))
	}) {
		t.Error(list, err)
	}
}

// A file that cannot be written does not take the results with it.
func TestCaptureOntoAFullDisk(t *testing.T) {
	e := parse(t)
	c := &Captures{Wanted: Wanted{File: "/dev/full"}}
	out, err := run.RunOnce(context.Background(), e, run.Options{World: "sim", Capture: c}, e.Schemes[0], build.Observer{})
	if err != nil || len(slices.Collect(out.Ended)) == 0 {
		t.Fatal(err)
	}
	if d := c.Done(); len(d) != 1 || d[0].Err == nil || !strings.Contains(fmt.Sprint(d[0].Err), "no space left") {
		t.Error(d)
	}
}

// An earlier file stays as it is until the next one is whole, also if that cannot be written; a link stays a link.
func TestCaptureLeavesTheEarlierFile(t *testing.T) {
	dir := t.TempDir()
	earlier, link := filepath.Join(dir, "earlier.pcapng"), filepath.Join(dir, "link.pcapng")
	if err := errors.Join(os.WriteFile(earlier, []byte("earlier"), 0o600), os.Symlink(earlier, link)); err != nil {
		t.Fatal(err)
	}
	left := func() string {
		b, err := os.ReadFile(earlier)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	e := parse(t)
	for _, interrupted := range []bool{true, false} {
		ctx, stop := context.WithCancel(t.Context())
		c := &Captures{Wanted: Wanted{File: link}}
		during := 0
		o := run.Options{World: "sim", Capture: c, Progress: func(p run.Progress) {
			if p.Part < 0.3 || p.Last {
				return
			}
			if during++; left() != "earlier" {
				t.Error("the earlier file is gone while the run goes on")
			}
			if interrupted {
				stop()
			}
		}}
		_, err := run.RunOnce(ctx, e, o, e.Schemes[0], build.Observer{})
		stop()
		if (err != nil) != interrupted || during == 0 {
			t.Fatal(err, during)
		}
		if d := c.Done(); len(d) != 1 || d[0].Err != nil || len(frames(t, []byte(left()))) != d[0].Frames {
			t.Errorf("interrupted %v: %v", interrupted, d)
		}
		if err := os.WriteFile(earlier, []byte("earlier"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := &file{Done: Done{File: link}}
	if err := f.create(); err != nil {
		t.Fatal(err)
	}
	if f.Err = errors.New("no space left"); f.close() == nil || left() != "earlier" {
		t.Error("what could not be written is there")
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 || list[1].Type() != os.ModeSymlink {
		t.Error(list, err)
	}
}
