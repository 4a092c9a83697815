package dataplane

import (
	"bytes"
	"testing"

	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

const (
	rate     = 10 * units.Gbps
	us       = units.Microsecond
	lossless = 1 << 3
)

func mac(i int) wire.MAC { return 0x0200_0000_0000 | wire.MAC(i) }

// rig is a switch whose wires end in the test.
type rig struct {
	t        testing.TB
	sw       *Switch
	env      *fabric.Env
	now      units.Time
	together bool // a frame takes the way of those that come together, though it is alone
}

// config is a switch with a host behind each port.
func config(ports int) SwitchConfig {
	c := SwitchConfig{
		Lossless: lossless, Buffer: 2 * units.MB, Tail: 20 * units.KB, MTU: 1500, Classes: DefaultClasses(), FDBSize: 64, Control: 6,
		CP: func(marking.Place) marking.CP { return marking.NewNPECN() },
	}
	c.PFC[3] = pfc.Thresholds{XOFF: 20_000, XON: 10_000, Headroom: 20_000}
	for i := range ports {
		c.Ports = append(c.Ports, PortConfig{MAC: mac(100 + i), Link: fabric.Link{Rate: rate}})
		c.Static = append(c.Static, StaticEntry{MAC: mac(i), Ports: []uint16{uint16(i)}})
	}
	return c
}

func newRig(t testing.TB, c SwitchConfig) *rig {
	t.Helper()
	env := fabric.NewEnv(fabric.NewHeaderPool(), len(c.Ports))
	sw, err := NewSwitch(c, []*fabric.Env{env})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, sw: sw, env: env}
	t.Cleanup(r.audit)
	return r
}

func (r *rig) audit() {
	r.t.Helper()
	if err := r.sw.Audit(); err != nil {
		r.t.Error(err)
	}
}

// in lets a frame arrive, which is as long as stated and has these headers.
func (r *rig) in(port int, header []byte, length int) {
	f := r.frame(port, header, length)
	if !r.together {
		r.sw.Receive(r.now, port, []fabric.Frame{f})
		return
	}
	r.sw.Receive(r.now, port, nil) // what Receive does before and after
	r.sw.receive(r.now, &r.sw.ports[port], []fabric.Frame{f})
	r.sw.Receive(r.now, port, nil)
}

// frame is a frame as long as stated that has these headers, for the worker of a port.
func (r *rig) frame(port int, header []byte, length int) fabric.Frame {
	env := r.sw.ports[port].env
	f, ok := env.Alloc(length)
	if !ok {
		r.t.Fatal("no buffer is left")
	}
	copy(env.Header(f), header)
	return f
}

// burst lets frames arrive together.
func (r *rig) burst(port int, headers ...[]byte) {
	var burst []fabric.Frame
	for _, h := range headers {
		burst = append(burst, r.frame(port, h, len(h)))
	}
	r.sw.Receive(r.now, port, burst)
}

// eachWay runs a test with frames that take the way of one, and that of several.
func eachWay(t *testing.T, c SwitchConfig, do func(t *testing.T, r *rig)) {
	for _, together := range []bool{false, true} {
		t.Run(map[bool]string{false: "alone", true: "together"}[together], func(t *testing.T) {
			r := newRig(t, c)
			r.together = together
			do(t, r)
		})
	}
}

// out takes up to n frames that a port sends.
func (r *rig) out(port, n int) (frames [][]byte) {
	env, burst := r.sw.ports[port].env, make([]fabric.Frame, n)
	for _, f := range burst[:r.sw.Transmit(r.now, port, burst)] {
		frames = append(frames, bytes.Clone(env.Header(f)))
		env.Free(f)
	}
	return frames
}

// allocations is how many there are for each burst of eight frames that come to port 0 and leave by port 1.
func (r *rig) allocations(header []byte, length int) float64 {
	burst := make([]fabric.Frame, 8)
	return testing.AllocsPerRun(100, func() {
		r.now += us
		for i := range burst {
			burst[i], _ = r.env.Alloc(length)
			copy(r.env.Header(burst[i]), header)
		}
		r.sw.Receive(r.now, 0, burst)
		for _, f := range burst[:r.sw.Transmit(r.now, 1, burst)] {
			r.env.Free(f)
		}
		r.env.Woken()
	})
}

func (r *rig) stats(port int) *fabric.PortStats { return &r.sw.Stats(r.now).Ports[port] }

// packet is the headers of a UDP packet.
func packet(from, to int, dscp, ecn uint8) []byte {
	b := make([]byte, 64)
	h := wire.RoCE{DstMAC: mac(to), SrcMAC: mac(from), Src: wire.IPv4(10, 0, 0, byte(from)), Dst: wire.IPv4(10, 0, 0, byte(to)), TOS: dscp<<2 | ecn, SrcPort: 5000}
	bth := h.Encode(b, 1000)
	wire.BTH(b[bth:]).Encode(wire.OpSendMiddle, false, 7, false, 0)
	return b
}

func pauseFrame(prio int, quanta uint16) []byte {
	f := pfc.Frame{Enable: 1 << prio}
	f.Quanta[prio] = quanta
	b := make([]byte, pfc.FrameLen)
	f.Encode(b, mac(77))
	return b
}
