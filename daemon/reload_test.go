package daemon

import (
	"strings"
	"testing"

	"photon/config"
	"photon/fabric"
	"photon/units"
)

// What a scheme's sizes mean goes by the fastest port's line. When that port goes, or a faster one comes, they mean for all
// ports what they would after a restart.
func TestFastestPortGoes(t *testing.T) {
	const rest = "scheme: {name: dcqcn-mlx, params: {kmin: 100KB, kmax: 101KB, pmax: 1}}\nbuffer: 20MB\n"
	marked := func(x *linked) (n uint64) {
		x.t.Helper()
		before := x.sw.Stats(x.world.now).Ports[1].Marked[3]
		x.wait(60)
		x.world.now += units.Second // the pause has ended
		for x.sw.Queued() > 0 {
			burst := make([]fabric.Frame, 32)
			for _, f := range burst[:x.sw.Transmit(x.world.now, 1, burst)] {
				x.env.Free(f)
			}
		}
		return x.sw.Stats(x.world.now).Ports[1].Marked[3] - before
	}
	without := newLinked(t, rest)
	if n := marked(without); n != 0 {
		t.Fatalf("%d of 60 kB are marked where 10 Gbit/s is the line", n)
	}
	x := newLinkedOf(t, strings.Replace(portsOfCards+rest, "forwarding", "- device: 0000:04:00.0\n  rate: 40Gbps\nforwarding", 1))
	if n := marked(x); n == 0 {
		t.Fatal("nothing of 60 kB is marked where 40 Gbit/s is the line")
	}
	x.write(rest)
	conf, err := config.ReadSwitch(x.file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := x.prepareMove(conf)
	if err != nil {
		t.Fatal(err)
	}
	node, change, err := x.prepare(conf, m, false)
	if err != nil {
		t.Fatal(err)
	}
	x.sw.Apply(x.world.now, change)
	if n := marked(x); n != 0 || node.Line != 10*units.Gbps {
		t.Errorf("%d of 60 kB are marked when the port of 40 Gbit/s has gone, as before; the line is %v", n, node.Line)
	}
}

// A reload after which polls may be less far apart, or farther, says so, and warns if the receive ring is full before
// the headroom: the ring stays as it was opened.
func TestReloadSaysWhatPollGapIsSurvived(t *testing.T) {
	x := newLinked(t, "pfc: {response: 20us}\nbuffer: 6MB\n")
	for i := range 2 {
		x.loaded.devices[i].Ring = 1024 // full after 68.8 us of the shortest frames at 10 Gbit/s
	}
	for _, step := range []struct{ rest, says string }{
		{"pfc: {response: 50us}\nbuffer: 6MB\n", "INFO\tpolls may be 50us apart"},
		{"pfc: {response: 200us}\nbuffer: 6MB\n", "WARN\tpolls may be 68.8128us apart"},
		{"pfc: {response: 200us}\nbuffer: 5.9MB\n", ""},
	} {
		x.log.Reset()
		x.write(step.rest)
		if _, err := x.reload(); err != nil {
			t.Fatal(err)
		}
		if said := x.said("polls may be"); said != (step.says != "") || !x.said(step.says) {
			t.Errorf("%q: the log says\n%s", step.rest, &x.log)
		}
	}
}
