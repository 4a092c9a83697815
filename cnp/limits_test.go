package cnp

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// refuses holds a Validate to its word: no error for good parameters, and one
// line for each bad value.
func refuses[P interface{ Validate() error }](t *testing.T, good P, bad map[string]func(*P)) {
	t.Helper()
	if err := good.Validate(); err != nil {
		t.Errorf("%T: good, but %v", good, err)
	}
	for name, spoil := range bad {
		p := good
		spoil(&p)
		if err := p.Validate(); err == nil {
			t.Errorf("%T: %s passes", p, name)
		} else if text := err.Error(); text == "" || strings.ContainsAny(text, "\n\r") {
			t.Errorf("%T: %s: %q is not a line", p, name, text)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	refuses(t, DCQCNParams{Interval: 0}, map[string]func(*DCQCNParams){ // a ConnectX-4 tells every mark
		"negative interval": func(p *DCQCNParams) { p.Interval = -1 },
	})
	refuses(t, PCNParams{Period: 50 * us, Percent: 95}, map[string]func(*PCNParams){
		"no period":       func(p *PCNParams) { p.Period = 0 },
		"negative period": func(p *PCNParams) { p.Period = -1 },
		"0 percent":       func(p *PCNParams) { p.Percent = 0 },
		"101 percent":     func(p *PCNParams) { p.Percent = 101 },
	})
	refuses(t, plus, map[string]func(*DCQCNPlusParams){
		"no gap":                          func(p *DCQCNPlusParams) { p.Gap = 0 },
		"negative gap":                    func(p *DCQCNPlusParams) { p.Gap = -1 },
		"negative interval":               func(p *DCQCNPlusParams) { p.Interval = -1 },
		"silence shorter than interval":   func(p *DCQCNPlusParams) { p.Silence = p.Interval - 1 },
		"negative silence, interval zero": func(p *DCQCNPlusParams) { p.Interval, p.Silence = 0, -1 },
	})
	refuses(t, DCQCNPlusParams{Gap: 100 * units.Nanosecond}, map[string]func(*DCQCNPlusParams){"gap of 99 ns": func(p *DCQCNPlusParams) { p.Gap = 99 * units.Nanosecond }})
}

// What a notification point does for a frame and a CNP, it does in the memory
// that it was made with; and so are QCN's messages written and read.
func TestNotificationPointsAllocateNothing(t *testing.T) {
	const flows = 8
	marks := [...]uint8{wire.CE, TCDUndetermined, wire.ECT1}
	now := units.Time(0)
	for _, np := range []NP{
		Silent{}, NewDCQCN(DCQCNParams{Interval: 50 * us}, flows), NewPCN(PCNParams{Period: 50 * us, Percent: 95, Phase: FirstPacket}, flows),
		NewDCQCNPlus(plus, flows), NewTCD(DCQCNParams{Interval: 50 * us}, flows), NewDCQCNTicks(DCQCNParams{Interval: 50 * us}, flows),
	} {
		notified := 0
		if n := testing.AllocsPerRun(100, func() {
			for i := range 100 {
				now += us
				np.Data(now, i%flows, marks[i%len(marks)], 1000)
				for np.Next() <= now {
					if _, _, ok := np.Poll(now); ok {
						notified++
					}
				}
				if i == 50 {
					np.Forget(i % flows)
				}
			}
		}); n != 0 {
			t.Errorf("%T: %v allocations", np, n)
		}
		if _, silent := np.(Silent); notified == 0 && !silent {
			t.Errorf("%T: no CNP: idle points allocate nothing", np)
		}
	}

	sampled := unhex(sampledAddresses + vlanTag + cnTag + sampledPacket)
	b := make([]byte, MaxCNMLen)
	var h, back wire.Header
	if n := testing.AllocsPerRun(100, func() {
		wire.Parse(sampled, &h)
		n := EncodeCNM(b, sampled, &h, 1, CNM{QntzFb: 5})
		wire.Parse(b[:n], &back)
		if m, err := DecodeCNM(b[:n], &back); err != nil || m.QntzFb != 5 {
			t.Fatal(m, err)
		}
		_, _ = DecodeCNM(sampled, &h)
	}); n != 0 {
		t.Errorf("messages: %v allocations", n)
	}
}

// An elastic notification point tells what one of full size tells, and of a flow
// that is quiet nothing, as long as nothing of it arrives.
func TestElasticTellsTheSame(t *testing.T) {
	made := map[string]func(capacity int) NP{
		"silent": func(int) NP { return Silent{} },
		"dcqcn":  func(n int) NP { return NewDCQCN(DCQCNParams{Interval: 50 * us}, n) },
		"pcn":    func(n int) NP { return NewPCN(PCNParams{Period: 50 * us, Percent: 95}, n) },
		"pcn, first packet": func(n int) NP {
			return NewPCN(PCNParams{Period: 50 * us, Percent: 95, Phase: FirstPacket}, n)
		},
		"dcqcn+": func(n int) NP { return NewDCQCNPlus(plus, n) },
		"tcd":    func(n int) NP { return NewTCD(DCQCNParams{Interval: 50 * us}, n) },
		"ticks":  func(n int) NP { return NewDCQCNTicks(DCQCNParams{Interval: 50 * us}, n) },
	}
	const flows = 9
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"silent", "dcqcn", "pcn", "pcn, first packet", "dcqcn+", "tcd", "ticks"}).Draw(t, "point")
		fixed, elastic := made[name](flows), made[name](0).(Elastic)
		room, now := 0, units.Time(0)
		quiet := [flows]bool{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += units.Time(rapid.IntRange(0, int(30*us)).Draw(t, "later"))
			if rapid.IntRange(0, 2).Draw(t, "what") > 0 {
				flow := rapid.IntRange(0, flows-1).Draw(t, "flow")
				if flow >= room {
					room = flow + 1
					elastic.Room(room)
				}
				mark := rapid.SampledFrom([]uint8{wire.CE, TCDUndetermined, wire.ECT1}).Draw(t, "mark")
				fixed.Data(now, flow, mark, 1024)
				elastic.Data(now, flow, mark, 1024)
				quiet[flow] = false
			}
			if a, b := fixed.Next(), elastic.Next(); a != b {
				t.Fatalf("%s: Next is %v and %v", name, a, b)
			}
			for fixed.Next() <= now {
				flow, n, ok := fixed.Poll(now)
				if flow2, n2, ok2 := elastic.Poll(now); flow2 != flow || n2 != n || ok2 != ok {
					t.Fatalf("%s: Poll is %d, %v, %v and %d, %v, %v", name, flow, n, ok, flow2, n2, ok2)
				}
				if ok && quiet[flow] {
					t.Fatalf("%s: a notice of flow %d, which was quiet", name, flow)
				}
			}
			for flow := range room {
				quiet[flow] = quiet[flow] || elastic.Quiet(flow)
			}
		}
		for range 3 { // silence: all are quiet in the end
			for now += units.Second; elastic.Next() <= now; {
				elastic.Poll(now)
			}
		}
		for flow := range room {
			if !elastic.Quiet(flow) {
				t.Fatalf("%s: flow %d is never quiet", name, flow)
			}
		}
	})
}

// What has no place in a message is a mistake of the point that says it, and would be read as something else: DSCPs
// have the bits beside the ECN codepoint, and of the feedback 64 only the lower six are sent.
func TestMessagesHoldWhatIsSaid(t *testing.T) {
	var b [MaxLen + MaxCNMLen]byte
	sampled := make([]byte, 64)
	says := func(do func()) (said any) {
		defer func() { said = recover() }()
		do()
		return nil
	}
	for v := range 256 {
		n := uint8(v)
		said := says(func() {
			Encode(b[:], wire.RoCE{Src: wire.IPv4(1, 2, 3, 4), Dst: wire.IPv4(1, 2, 3, 5)}, 7, Notice{ECN: n})
		})
		if (said != nil) != (v > 3) {
			t.Errorf("codepoint %d: %v", v, said)
		}
		said = says(func() { EncodeCNM(b[:], sampled, &wire.Header{}, 1, CNM{QntzFb: n}) })
		if (said != nil) != (v > 63) {
			t.Errorf("feedback %d: %v", v, said)
		}
	}
}
