package client

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/gopacket/gopacket/pcapgo"

	"photon/fabric"
	"photon/telemetry/admin"
	"photon/telemetry/pcapng"
	"photon/units"
)

// port is a port that is captured, and the pool of its frames.
type port struct {
	pool *fabric.Pool
	tap  *fabric.Tap
	last fabric.Frame
}

func newPort(frames int) *port {
	first := func(_ *fabric.Frame, b []byte, _ bool) int { return int(b[0]) }
	p := &port{pool: fabric.NewHeaderPool(), tap: fabric.NewTap(frames, 64, first)}
	p.last, _ = p.pool.Alloc(100)
	return p
}

// sees has a frame of a priority pass.
func (p *port) sees(prio byte, out bool) {
	p.pool.Header(p.last)[0] = prio
	p.tap.Copy(units.Second, out, p.pool, []fabric.Frame{p.last})
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// captured serves a port's capture, and tells when it was stopped.
func captured(t *testing.T, p *port) (*Client, chan struct{}) {
	t.Helper()
	a, err := admin.Listen(filepath.Join(t.TempDir(), "a.sock"))
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	a.Captures(func(name string, snap int) (admin.Stream, func(), error) {
		if name != "sw0" || snap != 64 {
			return nil, nil, errors.New("there is no such port")
		}
		c := &pcapng.Capture{Port: name, Tap: p.tap, Wall: func(at units.Time) time.Time { return epoch.Add(at.Duration()) }}
		return c.Stream, func() { close(stopped) }, nil
	})
	a.Serve()
	t.Cleanup(func() { a.Close() })
	c, err := Dial(a.Path(), "")
	if err != nil {
		t.Fatal(err)
	}
	return c, stopped
}

// What the ring did not hold is said where it is missing; the file is whole
// although the capture was broken off.
func TestCaptureOverTheSocket(t *testing.T) {
	p := newPort(4)
	for prio := range byte(6) {
		p.sees(prio, false) // the last two do not fit
	}
	c, stopped := captured(t, p)
	var file bytes.Buffer
	got, err := c.Capture(context.Background(), "sw0", 64, 4, &file, func() {})
	if err != nil || got != (Captured{Frames: 4}) {
		t.Fatal(got, err)
	}
	<-stopped
	p.sees(7, true)
	c, stopped = captured(t, p)
	ctx, cancel := context.WithCancel(context.Background())
	file.Reset()
	got, err = c.Capture(ctx, "sw0", 64, 0, writer(func(b []byte) {
		if file.Write(b); binary.LittleEndian.Uint32(b) == enhancedPacket {
			cancel()
		}
	}), func() {})
	if err != nil || got != (Captured{Frames: 1, Lost: 2}) {
		t.Fatal(got, err)
	}
	<-stopped
	r, err := pcapgo.NewNgReader(&file, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	b, info, err := r.ReadPacketData()
	if err != nil || info.Length != 100 || len(b) != 64 || b[0] != 7 || !info.Timestamp.Equal(epoch.Add(time.Second)) {
		t.Error(info, b, err)
	}
	if _, _, err := r.ReadPacketData(); err != io.EOF {
		t.Error("what follows:", err)
	}
	if i, err := r.Interface(0); err != nil || i.Name != "sw0" {
		t.Error(i, err)
	}
	for _, snap := range []int{0, 1 << 20} {
		if _, err := c.Capture(context.Background(), "sw0", snap, 0, io.Discard, func() {}); !errors.As(err, new(Refused)) {
			t.Error(snap, err)
		}
	}
	if _, err := c.Capture(context.Background(), "sw1", 64, 0, io.Discard, func() {}); err == nil || err.Error() != "there is no such port" {
		t.Error(err)
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

// Whatever comes, whole blocks are copied or an error is said.
func FuzzCopyBlocks(f *testing.F) {
	var whole bytes.Buffer
	p := newPort(4)
	for prio := range byte(6) {
		p.sees(prio, true)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	c := &pcapng.Capture{Port: "sw0", Tap: p.tap, Wall: func(units.Time) time.Time { return epoch }}
	if err := c.Stream(ended, &whole, func() error { return nil }); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add(whole.Bytes()[:whole.Len()-3])
	f.Add([]byte{6, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0})
	f.Add([]byte{6, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 32, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var out bytes.Buffer
		got, err := copyBlocks(&out, bytes.NewReader(b), 0)
		if !bytes.HasPrefix(b, out.Bytes()) || err == nil && out.Len() != len(b) || got.Frames*12 > out.Len() {
			t.Fatalf("%d of %d bytes, %+v, %v", out.Len(), len(b), got, err)
		}
	})
}
