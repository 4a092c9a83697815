package agent

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"photon/cnp"
	"photon/dataplane"
	"photon/fabric"
	"photon/pfc"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// end is a host of a pair, in the hands of a test. Without shortcuts it has forgotten
// before each call what the shortcuts go by, and is asked by Transmit and Next.
type end struct {
	h         *Host
	env       *fabric.Env
	shortcuts bool
}

func (e *end) forget() {
	if e.shortcuts {
		return
	}
	for _, g := range []*guesses{&e.h.receivedSlots, &e.h.sentSlots} {
		all := unsafe.Slice(g.first, g.len())
		for i := range all {
			all[i] = 1<<16 - 1
		}
	}
	e.h.ackHeadsSent, e.h.ackHeadsTaken = nil, nil
}

// serve is what a world does at a port, and returns what was sent.
func (e *end) serve(now units.Time) (sent []byte) {
	e.forget()
	var burst [1]fabric.Frame
	e.env.SetDue(0, units.Never)
	var made bool
	var next units.Time
	if e.shortcuts {
		made, next = e.h.Serve(now, 0, &burst[0])
	} else {
		made = e.h.Transmit(now, 0, burst[:]) == 1
		next = e.h.Next(now, 0)
	}
	e.env.SetDue(0, next)
	e.env.Woken()
	if !made {
		return nil
	}
	sent = append([]byte{byte(burst[0].Len >> 8), byte(burst[0].Len)}, e.env.Bytes(&burst[0])...)
	e.env.Free(burst[0])
	return sent
}

// receive hands over what serve returned.
func (e *end) receive(now units.Time, b []byte) {
	e.forget()
	f, _ := e.env.Alloc(int(b[0])<<8 | int(b[1]))
	copy(e.env.Bytes(&f), b[2:])
	e.h.Receive(now, 0, []fabric.Frame{f})
	e.env.Woken()
}

// The shortcuts of packets of known flows, of a flow that is alone and of one frame at a
// time do what the general ones do: two hosts at both ends of a wire that loses, repeats,
// marks and breaks packets send the same, byte for byte, and want to be asked at the same
// times, and have counted the same in the end.
func TestKnownIsAsAny(t *testing.T) {
	const line = 10 * units.Gbps
	mlx := &ratelimit.MlxParams{Line: line, Min: units.Mbps, AI: 5 * units.Mbps, HAI: 50 * units.Mbps, G: 1. / 256, AlphaTimer: units.Microsecond, CutTimer: 4 * units.Microsecond, RateTimer: 7 * units.Microsecond, Threshold: 1}
	pcn := &ratelimit.PCNParams{Line: line, WMin: 1. / 128, WMax: 0.5, Min: units.Mbps}
	if mlx.Validate() != nil || pcn.Validate() != nil {
		t.Fatal("parameters")
	}
	address := func(i int, six bool) wire.IP {
		if six {
			return wire.IP{0: 0xFD, 15: byte(i)}
		}
		return wire.IPv4(10, 0, 0, byte(i))
	}
	known, tagged, alone, moved := 0, 0, 0, 0
	// Acknowledgements of known flows, by what they bring; of those that bring nothing, those of selective repeat.
	brought := map[uint8]int{}
	run := func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)) // rapid prefers small numbers, and little would happen
		six := random.IntN(6) == 0
		carry := cnp.Carry{ECT: []uint8{wire.ECT0, wire.ECT1}[random.IntN(2)], Ack: random.IntN(4) > 0, Stamp: random.IntN(4) == 0, Tag: random.IntN(5) == 0}
		places := []int{1, 4, 24}
		senders, receivers := places[random.IntN(3)], places[random.IntN(3)]
		elastic, period, ackDSCP := random.IntN(2) == 0, random.IntN(2) == 0, []uint8{48, 26, 0}[random.IntN(3)]
		delay := units.Time(max(0, random.Int64N(8)-5)) * units.Microsecond
		carry.INT = !six && random.IntN(4) == 0 // a pool of headers has no room for all extensions behind IPv6
		var selective *Selective
		if random.IntN(3) == 0 {
			selective = &Selective{Window: 64, Reorder: 1 + random.IntN(3)}
			if random.IntN(2) == 0 {
				selective.LowTimeout, selective.LowPackets = 20*units.Microsecond, 1+random.IntN(8)
			}
		}
		make1 := func(i int, short bool) *end {
			c := Config{
				MAC: 0x0200_0000_0000 | wire.MAC(i), IP: address(i, six), Link: fabric.Link{Rate: line}, Lossless: 1<<3 | 1<<6, DSCP: dataplane.DefaultDSCP(),
				DataDSCP: 26, ControlDSCP: 48, AckDSCP: ackDSCP, Carry: carry, Payload: 1000, AckTimeout: 100 * units.Microsecond, Age: 50 * units.Microsecond,
				Senders: senders, Receivers: receivers, Elastic: elastic, NPDelay: delay, PauseDelay: delay, Selective: selective,
				NewRP: func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewMlx(mlx) },
			}
			places := receivers
			if elastic {
				places = 0
			}
			if c.NP = cnp.NewDCQCN(cnp.DCQCNParams{Interval: 20 * units.Microsecond}, places); period {
				c.NP = cnp.NewPCN(cnp.PCNParams{Period: 20 * units.Microsecond, Percent: 95}, places)
				c.NewRP = func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewPCN(pcn) }
			}
			env := fabric.NewEnv(fabric.NewHeaderPool(), 1)
			h, err := New(c, env)
			if err != nil {
				t.Fatal(err)
			}
			return &end{h, env, short}
		}
		var ends [2][2]*end // of both pairs
		for i := range ends {
			ends[i] = [2]*end{make1(i+1, true), make1(i+1, false)}
		}
		var on [2][][]byte // the wire
		now := units.Time(0)
		qp := uint32(0)
		for range 600 {
			i := random.IntN(2)
			short, slow := ends[i][0], ends[i][1]
			switch what := random.IntN(40); {
			case what < 20:
				due := min(ends[0][0].env.Due(0), ends[1][0].env.Due(0))
				if wait := units.Time(random.Int64N(int64(3 * units.Microsecond))); due < now+wait {
					now = max(now, due)
				} else {
					now += wait
				}
				if short.h.acks.empty() && short.h.pacer.Ready() == 0 && !short.h.noShortcuts {
					alone++
				}
				a, b := short.serve(now), slow.serve(now)
				if !bytes.Equal(a, b) {
					t.Fatalf("at %v host %d sends\n% x\nand the long way\n% x", now, i, a, b)
				}
				if a != nil {
					on[i] = append(on[i], a)
				}
			case what < 37 && len(on[1-i]) > 0:
				b := on[1-i][0]
				switch random.IntN(60) {
				case 0:
					on[1-i] = on[1-i][1:]
					continue
				case 1: // it comes twice
				case 2:
					b = bytes.Clone(b)
					b[2+random.IntN(len(b)-2)] ^= 1 << random.IntN(8)
					on[1-i] = on[1-i][1:]
				case 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18:
					var hdr wire.Header
					if wire.Parse(b[2:], &hdr) && hdr.L3 != 0 && hdr.TOS&3 != 0 {
						wire.SetECN(b[2+hdr.L3:], wire.CE)
					}
					fallthrough
				default:
					on[1-i] = on[1-i][1:]
				}
				key := keyAt(b[2:])
				if key == 0 && carry.Tag && len(b) > 2+wire.CNTagLen {
					key = keyAt(b[2+wire.CNTagLen:])
				}
				if key != 0 && b[2+bthAt] == wire.OpAcknowledge {
					ext := wire.BTH(b[2+bthAt:]).Extensions()
					id := int(*short.h.sentSlots.of(key))
					if id < len(short.h.ackHeadsTaken) && short.h.ackHeadsTaken[id].Known(ext) && (ext != 0 || !carry.Ack) {
						brought[ext]++
					}
				}
				if key != 0 {
					slot := int(*short.h.receivedSlots.of(key))
					if slot < len(short.h.peers) && short.h.peers[slot].key == key {
						known++
						if carry.Tag {
							tagged++
						}
					}
				}
				short.receive(now, b)
				slow.receive(now, b)
			case what == 37:
				qp++
				spec := FlowSpec{
					Peer: address(2-i, six), PeerMAC: 0x0200_0000_0000 | wire.MAC(2-i), QP: qp, Start: now + units.Time(random.Int64N(4))*units.Microsecond,
					Weight: 1 + random.IntN(3), Size: []units.Size{0, 1, 1000, 2500, 60 * units.KB}[random.IntN(5)], DSCP: []uint8{0, 0, 0, 10, 48}[random.IntN(5)],
				}
				_, err := short.h.AddFlow(now, spec)
				if _, err2 := slow.h.AddFlow(now, spec); err != err2 {
					t.Fatal(err, err2)
				}
			case what == 38:
				pause := pfc.Frame{Enable: 1<<3 | 1<<6}
				pause.Quanta[3], pause.Quanta[6] = uint16(random.IntN(100)), uint16(random.IntN(100))
				b := make([]byte, 2+pfc.FrameLen)
				b[1] = pfc.FrameLen
				pause.Encode(b[2:], 0x0200_0000_0009)
				short.receive(now, b)
				slow.receive(now, b)
				moved++
			case short.h.Flows() > 0:
				id := random.IntN(short.h.Flows())
				peer, number := address(2-i, six), 1+random.Uint32N(qp+1)
				switch random.IntN(3) {
				case 0:
					short.h.StopFlow(now, id)
					slow.h.StopFlow(now, id)
				case 1:
					limit := units.Rate(random.Int64N(5000)) * units.Mbps
					short.h.SetLimit(now, id, limit)
					slow.h.SetLimit(now, id, limit)
				default:
					if a, b := short.h.Forget(peer, number), slow.h.Forget(peer, number); a != b {
						t.Fatalf("forgotten: %v, the long way %v", a, b)
					}
				}
			}
			if a, b := short.env.Due(0), slow.env.Due(0); a != b {
				t.Fatalf("at %v host %d wants to be asked at %v, the long way at %v", now, i, a, b)
			}
			if a, b := short.h.npNext, slow.h.npNext; a != b {
				t.Fatalf("at %v host %d has a notice at %v, the long way at %v", now, i, a, b)
			}
		}
		for i := range ends {
			short, slow := ends[i][0].h, ends[i][1].h
			if a, b := short.Stats(now), slow.Stats(now); !reflect.DeepEqual(a, b) {
				t.Fatalf("host %d has counted %+v, the long way %+v", i, a, b)
			}
			if a, b := short.TakeResults(), slow.TakeResults(); !reflect.DeepEqual(a, b) {
				t.Fatalf("host %d: %+v, the long way %+v", i, a, b)
			}
			for n := range qp + 1 {
				if a, b := short.Received(address(2-i, six), n), slow.Received(address(2-i, six), n); a != b {
					t.Fatalf("host %d received %+v, the long way %+v", i, a, b)
				}
			}
			if err := short.Audit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 5 {
		rapid.Check(t, run)
	}
	for _, ext := range []uint8{0, wire.ExtINT, wire.ExtPlace, wire.ExtStamp} {
		if brought[ext] < 50 {
			t.Errorf("%d acknowledgements of known flows bring extensions %x", brought[ext], ext)
		}
	}
	if known < 5000 || tagged < 500 || alone < 5000 || moved < 500 {
		t.Errorf("%d packets of known flows, %d between hosts that tag, %d times a flow may have been alone, %d pauses", known, tagged, alone, moved)
	}
}

// keyAt is the short key of a plain RoCEv2 packet.
func keyAt(b []byte) shortKey {
	if len(b) < wire.HeadersLen || !(*wire.Headers)(b).RoCE() {
		return 0
	}
	q := (*wire.Headers)(b)
	return newShortKey(q.Src4(), q.BTH().DestQP())
}

// However many flows a host has, it finds most of them where it guesses, whether each comes from another host or all
// from one.
func TestMostFlowsAreGuessed(t *testing.T) {
	for what, key := range map[string]func(i int) shortKey{
		"hosts":       func(i int) shortKey { return newShortKey(le32([]byte{10, 0, byte(i >> 8), byte(i)}), 7) },
		"queue pairs": func(i int) shortKey { return newShortKey(le32([]byte{10, 0, 0, 1}), uint32(i)) },
	} {
		for _, n := range []int{1, 4, 16, 128, 1000, 10_000, 30_000} {
			g := newGuesses(leastGuesses)
			for range 2 { // they have grown by the second packets
				for i := range n {
					g.put(key(i), i)
				}
			}
			right := 0
			for i := range n {
				if int(*g.of(key(i))) == i {
					right++
				}
			}
			if right < n*2/3 {
				t.Errorf("%s: %d of %d", what, right, n)
			}
		}
		g := newGuesses(leastGuesses)
		g.put(key(1), 1<<16) // more than a guess holds
		if got := *g.of(key(1)); got != 0 {
			t.Errorf("%s: slot %d", what, got)
		}
	}
}
