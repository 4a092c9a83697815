package agent

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// windowed is a reaction point with a window, which hears of every packet.
type windowed struct{ ratelimit.Unlimited }

func (windowed) Window() units.Size             { return 10 * 200 }
func (windowed) Ack(units.Time, *ratelimit.Ack) {}

// drawConfig draws what hosts are like: how often they ask to be acknowledged, and their scheme.
func drawConfig(t *rapid.T) func(i int) Config {
	every := rapid.SampledFrom([]int{0, 1, 2, 7, 32}).Draw(t, "every")
	each := rapid.Bool().Draw(t, "each")
	scheme := rapid.SampledFrom([]string{"none", "dcqcn", "window"}).Draw(t, "scheme")
	var selective [2]*Selective // a host may have it, and the other not
	for i := range selective {
		if window := rapid.SampledFrom([]int{0, 0, 1, 5, 64, 100}).Draw(t, "window"); window > 0 {
			selective[i] = &Selective{Window: window, Reorder: rapid.IntRange(1, window).Draw(t, "reorder")}
			if rapid.Bool().Draw(t, "low timeout") {
				selective[i].LowTimeout, selective[i].LowPackets = 20*units.Microsecond, rapid.IntRange(1, window).Draw(t, "few")
			}
		}
	}
	entropy := rapid.SampledFrom([]Entropy{{}, {By: PerPacket}, {By: PerFlowlet, Gap: units.Microsecond}}).Draw(t, "entropy")
	mlx := &ratelimit.MlxParams{
		Line: cableRate, Min: 500 * units.Mbps, AI: 50 * units.Mbps, HAI: 500 * units.Mbps, G: 1. / 256,
		AlphaTimer: units.Microsecond, CutTimer: 4 * units.Microsecond, RateTimer: 7 * units.Microsecond, Threshold: 1,
	}
	if err := mlx.Validate(); err != nil {
		t.Fatal(err)
	}
	return func(i int) Config {
		c := cableConfig(i)
		c.AckEvery, c.Selective, c.Entropy = every, selective[i], entropy
		c.Carry.Ack = each || scheme == "window"
		c.Carry.Stamp = each && i == 0
		c.NewRP = func(*ratelimit.Port) ratelimit.RP {
			switch scheme {
			case "dcqcn":
				return ratelimit.NewMlx(mlx)
			case "window":
				return windowed{ratelimit.Unlimited{Line: cableRate}}
			}
			return ratelimit.Unlimited{Line: cableRate}
		}
		return c
	}
}

func drawTrouble(t *rapid.T) trouble {
	of := func(what string) int { return rapid.SampledFrom([]int{0, 1, 20, 200, 500}).Draw(t, what) }
	return trouble{
		lost: of("lost"), repeated: of("repeated"), broken: of("broken"), delayed: of("late"), marked: of("marked"),
		paused: rapid.SampledFrom([]int{0, 0, 20, 200}).Draw(t, "paused"),
		upTo:   rapid.SampledFrom([]units.Time{0, units.Microsecond, 40 * units.Microsecond}).Draw(t, "upTo"),
	}
}

// setNextPSN sets a host's next first PSN: most flows of the tests are short, and would meet the end of
// the numbers once in a thousand times.
func (h *Host) setNextPSN(psn uint32) { h.psn, h.epochs = psn-psnStep, 1 }

// Whatever the network does to data, acknowledgements and notifications in both directions: every
// flow arrives whole, once, in order, and ends soon after the losses do. One pair has flow after flow.
func TestEveryFlowArrives(t *testing.T) {
	ended, again := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		config := drawConfig(t)
		var points []*counted
		listen := rapid.Bool().Draw(t, "listen")
		c := newCable(t.Fatalf, random, func(i int) Config {
			c := config(i)
			c.Retries = 100
			if listen {
				c.NewRP = func(*ratelimit.Port) ratelimit.RP {
					points = append(points, &counted{Unlimited: ratelimit.Unlimited{Line: cableRate}})
					return points[len(points)-1]
				}
			}
			return c
		})
		for _, s := range c.hosts {
			s.h.setNextPSN(1<<24 - uint32(random.IntN(200)))
		}
		c.trouble = drawTrouble(t)
		c.shared = rapid.Bool().Draw(t, "shared")
		pairs := rapid.SampledFrom([]int{1, 2, 4, 30}).Draw(t, "pairs")
		longest := rapid.SampledFrom([]int{1, 3, 40, 400}).Draw(t, "longest")
		until := units.Time(rapid.IntRange(1, 40).Draw(t, "until")) * 100 * units.Microsecond
		for c.now < until {
			for qp := range uint32(pairs) {
				if from := int(qp % 2); !c.busy(from, qp) {
					c.send(from, qp, 1+random.IntN(longest))
				}
			}
			c.run(c.now + 100*units.Microsecond)
		}
		c.trouble = trouble{}
		// The longest wait is 64 timeouts, and there may be an answer of before on the way; the rest is sending.
		c.run(until + 70*cableTimeout + 200*units.Millisecond)
		for _, f := range c.flows {
			if n := c.whole(f); !f.done || n != 1 {
				t.Fatalf("queue pair %d, %d packets: done %v, arrived %d times, %v", f.qp, f.packets, f.done, n, f.why)
			}
			if ended++; len(c.hosts[1-f.from].took[f.qp][0]) > f.packets {
				again++
			}
		}
		for _, r := range points {
			if c.shared && r.bad != "" {
				t.Fatal(r.bad)
			}
		}
		for _, s := range c.hosts {
			if err := s.h.Audit(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if ended < 500 || again < 100 {
		t.Errorf("%d flows, %d of them on pairs that were used before: too few to say anything", ended, again)
	}
}

// Hosts are started again, and flows stopped, at any time, any number of times, in the middle of flows in both
// directions and of losses. No flow is called done that has not arrived whole, once, in order; each ends, done or with a
// reason.
func TestRestarts(t *testing.T) {
	done, failed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		c := newCable(t.Fatalf, random, drawConfig(t))
		c.trouble = drawTrouble(t)
		c.shared = rapid.Bool().Draw(t, "shared")
		longest := rapid.SampledFrom([]int{1, 3, 40, 400}).Draw(t, "longest")
		restarts := rapid.IntRange(1, 30).Draw(t, "restarts")
		for range restarts {
			for qp := range uint32(4) {
				if from := int(qp % 2); !c.busy(from, qp) {
					c.send(from, qp, 1+random.IntN(longest))
				}
			}
			c.run(c.now + units.Time(random.Int64N(int64(300*units.Microsecond))))
			if f := c.flows[random.IntN(len(c.flows))]; !f.ended && random.IntN(3) == 0 {
				c.stop(f)
			} else {
				c.restart(random.IntN(2))
			}
		}
		c.trouble = trouble{}
		c.run(c.now + 300*cableTimeout) // a flow gives up after 255
		for _, f := range c.flows {
			switch {
			case !f.ended:
				t.Fatalf("queue pair %d, %d packets: it hangs", f.qp, f.packets)
			case !f.done && f.why == nil:
				t.Fatalf("queue pair %d gave up for no reason", f.qp)
			case f.done:
				done++
			default:
				failed++
			}
		}
	})
	if done < 500 || failed < 500 {
		t.Errorf("%d flows arrived, %d did not: too few to say anything", done, failed)
	}
}

// A receiver that is started again, without losses, costs time and no flow: all are sent anew.
func TestReceiverRestarts(t *testing.T) {
	for _, every := range []int{0, 1, 32} {
		c := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 3)), func(i int) Config {
			c := cableConfig(i)
			c.AckEvery = every
			return c
		})
		var flows []*sentFlow
		for qp := range uint32(4) {
			flows = append(flows, c.send(0, qp, 2000))
		}
		for range 5 {
			c.run(c.now + 300*units.Microsecond)
			c.restart(1)
		}
		c.run(c.now + 300*cableTimeout)
		for _, f := range flows {
			if !f.done {
				t.Errorf("an acknowledgement of every %d packets: queue pair %d: %v", every, f.qp, f.why)
			}
		}
	}
}

// A flow to an address without a host ends with a reason, after few packets.
func TestNobodyAnswers(t *testing.T) {
	for _, every := range []int{0, 32} {
		c := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 4)), func(i int) Config {
			c := cableConfig(i)
			c.AckEvery = every
			return c
		})
		c.trouble.lost = 1000
		f := c.send(0, 1, 100)
		c.run(units.Second)
		if !f.ended || f.done || f.why == nil || c.frames > 100+7 {
			t.Errorf("an acknowledgement of every %d: ended %v, done %v, %v, %d frames", every, f.ended, f.done, f.why, c.frames)
		}
		if c.busy(0, 1) {
			t.Error("its pair is in use still")
		}
		c.trouble.lost = 0
		if g := c.send(0, 1, 100); true {
			c.run(c.now + units.Millisecond)
			if !g.done {
				t.Error("the next flow on its pair does not arrive")
			}
		}
	}
}

// lose has the cable lose certain frames, the first ones that are of a kind.
func (c *cable) lose(n int, which func(bth wire.BTH) bool) {
	c.lost = func(b []byte) bool {
		var h wire.Header
		if wire.Parse(b, &h); h.BTH == 0 || n == 0 || !which(wire.BTH(b[h.BTH:])) {
			return false
		}
		n--
		return true
	}
}

// What few losses cost: of a flow of 3000 packets hardly any is sent again, whatever is lost, and how often.
func TestWhatLossesCost(t *testing.T) {
	const packets = 3000
	psn := func(n uint32) func(wire.BTH) bool {
		return func(b wire.BTH) bool { return b.Opcode() <= wire.OpSendOnly && b.PSN() == n }
	}
	answer := func(b wire.BTH) bool { return b.Opcode() == wire.OpAcknowledge }
	for _, c := range []struct {
		what     string
		times    int
		which    func(wire.BTH) bool
		timeouts int
	}{
		{"nothing", 0, answer, 0},
		{"the first packet", 1, psn(0), 0},
		{"a packet", 1, psn(50), 0},
		{"a packet, and again when it is sent again", 4, psn(50), 0},
		{"the last packet", 1, psn(packets - 1), 1},
		{"the last packet three times", 3, psn(packets - 1), 3},
		{"the last acknowledgement", 1, func(b wire.BTH) bool { return answer(b) && b.PSN() == packets-1 }, 1},
		{"five answers", 5, answer, 5},
	} {
		for _, every := range []int{0, 16} {
			k := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 5)), func(i int) Config {
				c := cableConfig(i)
				c.AckEvery = every
				return c
			})
			k.hosts[0].h.setNextPSN(0)
			k.lose(c.times, c.which)
			f := k.send(0, 1, packets)
			h := k.hosts[0].h
			for !f.ended {
				k.run(k.now + 10*units.Microsecond)
			}
			// A round trip's packets are sent again each time that one is asked for.
			frame := cableRate.Serialize(cablePayload + 58 + wire.Overhead)
			again, roundTrip := h.flows[f.slot].repeated, uint64((2*cableDelay+5*units.Microsecond)/frame)
			if most := roundTrip*uint64(c.times) + uint64(c.timeouts); again > most {
				t.Errorf("%s is lost, every %d acknowledged: %d packets sent again, at most %d are to be", c.what, every, again, most)
			}
			// The timer is looked at when it has run out: progress until then gives it another turn.
			if limit := 400*units.Microsecond + 2*cableTimeout<<c.timeouts; !f.done || k.now > limit {
				t.Errorf("%s is lost, every %d acknowledged: done %v after %v, %v", c.what, every, f.done, k.now, f.why)
			}
		}
	}
}

// A request that comes again, when the acknowledgement of what it asks for was lost, has a sender go back for what has
// arrived meanwhile. It learns that, goes on from there, and sends the rest: the last packet as the last, and none behind it.
func TestRequestComesAgain(t *testing.T) {
	const packets = 400
	for _, late := range []units.Time{1, 5, 10, 20, 30, 40} {
		c := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 5)), cableConfig)
		c.hosts[0].h.setNextPSN(1<<24 - 200)
		f, sent, answers := c.send(0, 1, packets), map[uint32]int{}, 0
		first := c.hosts[0].h.flows[f.slot].first
		c.lost = func(b []byte) bool {
			n, data := packetOf(b, first)
			if !data {
				if answers++; answers == 1 {
					c.put(inFlight{at: c.now + cableDelay + late*units.Microsecond, to: 0, bytes: slices.Clone(b)})
				}
				return answers == 2 // that of what was missing, and has come
			}
			if sent[n]++; n >= packets {
				t.Fatalf("%d us late: packet %d of %d is sent", late, n, packets)
			}
			return n == 5 && sent[n] == 1
		}
		c.run(20 * units.Millisecond)
		if !f.done || c.whole(f) != 1 || sent[packets-1] > 2 {
			t.Errorf("%d us late: done %v, arrived %d times, the last packet was sent %d times", late, f.done, c.whole(f), sent[packets-1])
		}
	}
}

// A flow without an end goes on, too, whatever is lost of it.
func TestEndlessFlowGoesOn(t *testing.T) {
	c := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 6)), func(i int) Config {
		c := cableConfig(i)
		c.AckEvery = 16
		return c
	})
	c.trouble = trouble{lost: 300, repeated: 100, broken: 100, delayed: 100, upTo: 20 * units.Microsecond}
	f := c.send(0, 1, 0)
	c.run(2 * units.Millisecond)
	c.trouble = trouble{}
	c.run(c.now + 70*cableTimeout)
	before := c.hosts[1].h.Received(cableAddress(0), 1).Frames
	c.run(c.now + units.Millisecond)
	if n := c.hosts[1].h.Received(cableAddress(0), 1).Frames - before; f.ended || n < 6000 {
		t.Errorf("%d packets arrived in a millisecond, ended %v, %v", n, f.ended, f.why)
	}
}

// A packet that comes again does not take the place of a request for one that is missing.
func TestRequestsStand(t *testing.T) {
	c := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 7)), cableConfig)
	c.hosts[0].h.setNextPSN(0)
	c.lose(1, func(b wire.BTH) bool { return b.PSN() == 1 })
	c.send(0, 1, 3)
	var sentThrice []inFlight
	for range 3 {
		c.now = max(c.now, c.hosts[0].free)
		c.serve(0)
	}
	sentThrice = append(sentThrice, c.flight...)
	c.flight = append(sentThrice, sentThrice[0])
	for range 3 {
		c.arrive()
	}
	c.serve(1)
	var h wire.Header
	b := c.flight[0].bytes
	wire.Parse(b, &h)
	if aeth := wire.AETH(b[h.BTH+wire.BTHLen:]); aeth.Syndrome() != wire.SyndromeNAK || wire.BTH(b[h.BTH:]).PSN() != 1 {
		t.Errorf("the answer is %#x, PSN %d", aeth.Syndrome(), wire.BTH(b[h.BTH:]).PSN())
	}
}

// A sender that is started again on another card is answered there.
func TestAnswersFollowTheSender(t *testing.T) {
	for _, each := range []bool{false, true} {
		starts := 0
		c := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 8)), func(i int) Config {
			c := cableConfig(i)
			c.Carry.Ack = each
			if i == 0 {
				starts++
				c.MAC += wire.MAC(0x100 * starts)
			}
			return c
		})
		for range 3 {
			mac := c.hosts[0].h.config.MAC
			answers := 0
			c.lost = func(b []byte) bool {
				var h wire.Header
				if wire.Parse(b, &h); h.BTH > 0 && wire.BTH(b[h.BTH:]).Opcode() == wire.OpAcknowledge {
					if answers++; h.Dst != mac {
						t.Errorf("each acknowledged %v: answer %d goes to %v, not to %v", each, answers, h.Dst, mac)
					}
				}
				return false
			}
			f := c.send(0, 1, 20)
			c.run(c.now + units.Millisecond)
			if !f.done || answers == 0 {
				t.Errorf("each acknowledged %v: done %v, %d answers", each, f.done, answers)
			}
			c.restart(0)
		}
	}
}

// A host counts the NAKs that it gets, and the timeouts of its flows. A packet in the middle that is lost costs NAKs,
// and the last one a timeout.
func TestRepetitionsAreCounted(t *testing.T) {
	const packets = 40
	for _, selective := range []*Selective{nil, {Window: 64, Reorder: 1}} {
		for _, lost := range []int{-1, 10, packets - 1} {
			c := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 9)), func(i int) Config {
				c := cableConfig(i)
				c.Selective = selective
				return c
			})
			c.hosts[0].h.setNextPSN(0)
			f, naks, once := c.send(0, 1, packets), uint64(0), false
			c.lost = func(b []byte) bool {
				const bth = 14 + 20 + 8
				switch psn := int(b[bth+9])<<16 | int(b[bth+10])<<8 | int(b[bth+11]); {
				case b[bth] == 0x11 && b[bth+12]>>5 == 3:
					naks++
				case b[bth] != 0x11 && psn == lost && !once:
					once = true
					return true
				}
				return false
			}
			c.run(20 * units.Millisecond)
			st := c.hosts[0].h.Stats(c.now)
			timeouts := uint64(0)
			if lost == packets-1 {
				timeouts = 1
			}
			if !f.done || st.NAKs != naks || (naks > 0) != (lost == 10) || st.Timeouts != timeouts {
				t.Errorf("selective %v, packet %d lost: done %v, %d NAKs counted of %d, %d timeouts",
					selective != nil, lost, f.done, st.NAKs, naks, st.Timeouts)
			}
		}
	}
}
