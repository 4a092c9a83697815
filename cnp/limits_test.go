package cnp

import (
	"strings"
	"testing"

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
	refuses(t, DCQCNPlusParams{Gap: 1}, nil)
}

// What a notification point does for a frame and a CNP, it does in the memory
// that it was made with; and so are QCN's messages written and read.
func TestNotificationPointsAllocateNothing(t *testing.T) {
	const flows = 8
	marks := [...]uint8{wire.CE, TCDUndetermined, wire.ECT1}
	now := units.Time(0)
	for _, np := range []NP{
		Silent{}, NewDCQCN(DCQCNParams{Interval: 50 * us}, flows), NewPCN(PCNParams{Period: 50 * us, Percent: 95, Phase: FirstPacket}, flows),
		NewDCQCNPlus(plus, flows), NewTCD(DCQCNParams{Interval: 50 * us}, flows),
	} {
		told := 0
		if n := testing.AllocsPerRun(100, func() {
			for i := range 100 {
				now += us
				np.Data(now, i%flows, marks[i%len(marks)], 1000)
				for np.Next() <= now {
					if _, _, ok := np.Poll(now); ok {
						told++
					}
				}
				if i == 50 {
					np.Forget(i % flows)
				}
			}
		}); n != 0 {
			t.Errorf("%T: %v allocations", np, n)
		}
		if _, silent := np.(Silent); told == 0 && !silent {
			t.Errorf("%T: no CNP: idle points allocate nothing", np)
		}
	}

	sampled := unhex(sampledAddresses + vlanTag + cnTag + sampledRest)
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
