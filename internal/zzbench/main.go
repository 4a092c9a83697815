package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"photon/dataplane"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

const ports = 4

func mac(i int) wire.MAC { return 0x0200_0000_0000 | wire.MAC(i) }

const routerMAC wire.MAC = 0x0200_0000_00FE

func config(kind string) dataplane.SwitchConfig {
	c := dataplane.SwitchConfig{
		Lossless: 1 << 3, Buffer: 8 * units.MB, Tail: units.MB, MTU: 1500, DSCP: dataplane.DefaultDSCP(), PCP: dataplane.DefaultPCP(), FDBSize: 16384, Control: 6, Learn: true, Age: 300 * units.Second,
		CP: func(marking.Place) marking.CP { return marking.NewNPECN() }, Cell: 200,
	}
	if kind == "prio8" {
		c.Lossless = 0x3C
	}
	for p := range c.PFC {
		c.PFC[p] = pfc.Thresholds{XOFF: 200_000, XON: 150_000, Headroom: 50_000}
		if kind == "dynamic" {
			c.PFC[p].Alpha = 0.125
		}
	}
	for i := range ports {
		c.Ports = append(c.Ports, dataplane.PortConfig{MAC: mac(100 + i), Link: dataplane.Link{Rate: 10 * units.Gbps}})
	}
	if kind == "tagged" {
		c.VLANs = []dataplane.VLAN{{ID: 10, Untagged: []uint16{0, 1}, Tagged: []uint16{2, 3}}}
	}
	if strings.HasPrefix(kind, "routed") {
		c.Router = dataplane.Router{MAC: routerMAC}
		for h := range 16 {
			c.Router.Routes = append(c.Router.Routes, dataplane.Route{Prefix: netip.MustParsePrefix(fmt.Sprintf("10.%d.0.0/16", h)), Via: []dataplane.NextHop{{Port: uint16(h % ports), MAC: mac(h)}}})
			c.Router.Routes = append(c.Router.Routes, dataplane.Route{Prefix: netip.MustParsePrefix(fmt.Sprintf("fd00:%d::/32", h)), Via: []dataplane.NextHop{{Port: uint16(h % ports), MAC: mac(h)}}})
		}
	}
	return c
}

type frame struct {
	f dataplane.Frame
	h [128]byte
	n int
}

func main() {
	kinds := flag.String("kinds", "plain,lossy,ipv6,tagged,routed,routed6,dynamic,prio8", "")
	rounds := flag.Int("rounds", 20000, "")
	prof := flag.String("prof", "", "")
	closed := flag.Bool("closed", false, "")
	one := flag.Int("burst", 32, "")
	flag.Parse()
	if *prof != "" {
		f, _ := os.Create(*prof)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	for _, kind := range strings.Split(*kinds, ",") {
		run(kind, *rounds, *closed, *one)
	}
}

func run(kind string, rounds int, closed bool, n int) {
	const slots, unit, slot = 8192, 6, 2304 + 64
	memory := make([]byte, slots*slot)
	var free []uint32
	for i := range uint32(slots) {
		free = append(free, i*slot>>unit)
	}
	pool := dataplane.NewPool(memory, slot, 256, func(p *dataplane.Pool) {})
	pool.SetSlots(free)
	env := dataplane.NewEnv(pool, ports)
	sw, err := dataplane.NewSwitch(config(kind), []*dataplane.Env{env})
	if err != nil {
		panic(err)
	}
	sw.Reserve()
	// learn
	burst := make([]dataplane.Frame, 32)
	for h := range 64 {
		f, _ := pool.Alloc(64)
		b := pool.Header(f)
		clear(b)
		wire.Broadcast.Put(b)
		mac(h).Put(b[6:])
		if kind == "tagged" && h%ports >= 2 {
			copy(b[12:], []byte{0x81, 0, 0, 10})
		}
		sw.Receive(0, h%ports, []dataplane.Frame{f})
		for p := range ports {
			for _, f := range burst[:sw.Transmit(0, p, burst)] {
				pool.Free(f)
			}
		}
	}
	// templates
	var arrive [ports][]frame
	seq := 0
	for p := range ports {
		for i := range 32 {
			var fr frame
			to := (p + 1 + i%(ports-1)) % ports
			group := seq * 7 % 16
			from, dst := group*ports+p, group*ports+to
			seq++
			dscp := uint8(26)
			switch kind {
			case "lossy":
				dscp = 0
			case "prio8":
				dscp = uint8(seq % 8 << 3)
			}
			r := wire.RoCE{DstMAC: mac(dst), SrcMAC: mac(from), Src: wire.IPv4(10, byte(from%16), 0, byte(from)), Dst: wire.IPv4(10, byte(dst%16), 0, byte(dst)), TOS: dscp<<2 | wire.ECT0, SrcPort: uint16(5000 + seq)}
			if strings.HasSuffix(kind, "6") {
				r.Src, r.Dst = wire.IP{0xfd, 0, 0, byte(from % 10), 15: byte(from)}, wire.IP{0xfd, 0, 0, byte(dst % 10), 15: byte(dst)}
				if kind == "routed6" {
					// route h has port h%4
					h := to
					r.Dst = wire.IP{0xfd, 0, 0, byte(h), 15: 9}
				}
			}
			if kind == "routed" {
				r.Dst = wire.IPv4(10, byte(to), 0, 9)
			}
			if strings.HasPrefix(kind, "routed") {
				r.DstMAC = routerMAC
			}
			b := fr.h[:]
			bth := r.Encode(b, 80-42)
			wire.BTH(b[bth:]).Encode(wire.OpSendMiddle, false, 7, false, 0)
			fr.n = 64
			if strings.HasSuffix(kind, "6") {
				fr.n = 84
				binary.BigEndian.PutUint16(b[18:], uint16(84-54))
			} else {
				wire.SetIPLength(b[14:], 50)
			}
			if kind == "tagged" && p >= 2 {
				var t [128]byte
				copy(t[:12], b)
				copy(t[12:], []byte{0x81, 0, 0x60, 10})
				copy(t[16:], b[12:100])
				fr.h = t
				fr.n += 4
			}
			fr.f, _ = pool.Alloc(fr.n)
			arrive[p] = append(arrive[p], fr)
		}
	}
	slot2 := make([][]dataplane.Frame, ports)
	for p := range slot2 {
		slot2[p] = make([]dataplane.Frame, 32)
	}
	times := make([]time.Duration, 0, rounds)
	now := units.Time(0)
	var rxs [ports][32]dataplane.Frame
	outs := 0
	for range rounds {
		now += units.Microsecond
		for p := range ports {
			for i := range arrive[p] {
				fr := &arrive[p][i]
				fr.f.Begin(fr.f.Ref, uint16(fr.n), 256, 0)
				rxs[p][i] = fr.f
				copy(pool.Header(fr.f)[:64], fr.h[:64])
			}
		}
		var spent time.Duration
		begin := time.Now()
		for p := range ports {
			e := env.Exit(p)
			e.Free, e.N = 0, 0
			if e.Frames = slot2[p]; closed {
				e.Frames = nil
			}
		}
		for p := range ports {
			for at := 0; at < 32; at += n {
				sw.Receive(now, p, rxs[p][at:][:n])
			}
		}
		for p := range ports {
			e := env.Exit(p)
			got := int(e.N)
			if e.N < 32 && env.Due(p) <= now {
				env.SetDue(p, units.Never)
				got += sw.Transmit(now, p, slot2[p][e.N:])
				env.SetDue(p, sw.Next(now, p))
			}
			outs += got
		}
		env.Woken()
		env.Left()
		spent = time.Since(begin)
		times = append(times, spent)
	}
	if err := sw.Audit(); err != nil {
		fmt.Println(err)
	}
	st := sw.Stats(now)
	marked, disc := uint64(0), uint64(0)
	for p := range st.Ports {
		for i := range 8 {
			marked += st.Ports[p].Marked[i]
			disc += st.Ports[p].Discarded()[i]
		}
	}
	slices.Sort(times)
	per := func(q int) float64 { return float64(times[len(times)*q/100].Nanoseconds()) / (ports * 32) }
	fmt.Printf("%-8s min %.1f p10 %.1f p50 %.1f ns/frame, %d of %d out, %d marked %d discarded\n", kind, per(0), per(10), per(50), outs, rounds*ports*32, marked, disc)
}
