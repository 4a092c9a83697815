package daemon

import (
	"encoding/binary"
	"fmt"
	"net"
	"testing"
	"time"

	"photon/fabric"
)

// What is said of samples is said of when they were taken: by the rate of then, and also of a port that has gone since.
// Without a collector none is named.
func TestSamplesAcrossReloads(t *testing.T) {
	collector, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer collector.Close()
	sampling := func(every int) string {
		return fmt.Sprintf("sflow: {collector: '%v', sampling: %d, polling: 0s}\n", collector.LocalAddr(), every)
	}
	x := newLinked(t, sampling(1))
	now := time.Unix(1, 0)
	watch := func() {
		now = now.Add(time.Second)
		x.watchSamples(now)
	}
	give := func(frames int) {
		for range frames {
			f, _ := x.env.Alloc(100)
			copy(x.env.Header(f), []byte{2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 7, 8, 0})
			x.sw.Receive(x.world.now, 0, []fabric.Frame{f})
		}
	}
	rate := func() uint32 { // of the datagram's first sample, behind 28 bytes of head and 16 of its own
		b := make([]byte, 2000)
		n, err := collector.Read(b)
		if err != nil || n < 48 {
			t.Fatal(n, err)
		}
		return binary.BigEndian.Uint32(b[28+16:])
	}
	reload := func(lines string) {
		t.Helper()
		x.write(lines)
		if _, err := x.reload(); err != nil {
			t.Fatal(err)
		}
	}
	watch()
	give(3)
	watch()
	if n, every := x.sflow().Samples, rate(); n != 3 || every != 1 {
		t.Errorf("%d samples, one frame in %d", n, every)
	}
	give(2)
	reload(sampling(1000))
	watch()
	if n, every := x.sflow().Samples, rate(); n != 5 || every != 1 {
		t.Errorf("%d samples, one frame in %d: at the time it was 1", n, every)
	}
	x.setNames("", "sw1")
	watch()
	if got := x.sflow(); got.Samples != 5 || got.Every != 1000 {
		t.Errorf("a port has gone, and %+v is left of 5", got)
	}
	x.setNames("sw0", "sw1")
	reload("")
	watch()
	if got := x.sflow(); got.On || got.Collector != "" || got.Every != 0 {
		t.Errorf("without sflow: %+v", got)
	}
	reload(sampling(1))
	watch()
	give(1)
	watch()
	if n, every := x.sflow().Samples, rate(); n != 6 || every != 1 {
		t.Errorf("%d samples, one frame in %d", n, every)
	}
}
