package marking

import (
	"math"
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
	nan, inf := math.NaN(), math.Inf(1)
	refuses(t, mibQCN, map[string]func(*QCNParams){
		"no set point":       func(p *QCNParams) { p.SetPoint = 0 },
		"set point 99":       func(p *QCNParams) { p.SetPoint = 99 },
		"negative set point": func(p *QCNParams) { p.SetPoint = -1 },
		"no weight":          func(p *QCNParams) { p.Weight = 0 },
		"negative weight":    func(p *QCNParams) { p.Weight = -1 },
		"weight 1025":        func(p *QCNParams) { p.Weight = 1025 },
		"weight NaN":         func(p *QCNParams) { p.Weight = nan },
		"weight infinite":    func(p *QCNParams) { p.Weight = inf },
		"small base":         func(p *QCNParams) { p.SampleBase = 9999 },
		"negative jitter":    func(p *QCNParams) { p.Jitter = -0.1 },
		"jitter 1":           func(p *QCNParams) { p.Jitter = 1 },
		"jitter NaN":         func(p *QCNParams) { p.Jitter = nan },
		"no such sampling":   func(p *QCNParams) { p.Sampling = 2 },
	})
	refuses(t, hotAF, map[string]func(*AFQCNParams){
		"alpha 0":           func(p *AFQCNParams) { p.Alpha = 0 },
		"alpha 1":           func(p *AFQCNParams) { p.Alpha = 1 },
		"alpha NaN":         func(p *AFQCNParams) { p.Alpha = nan },
		"no interval":       func(p *AFQCNParams) { p.Interval = 0 },
		"negative interval": func(p *AFQCNParams) { p.Interval = -1 },
		"beta 0":            func(p *AFQCNParams) { p.Beta = 0 },
		"beta 1":            func(p *AFQCNParams) { p.Beta = 1 },
		"beta NaN":          func(p *AFQCNParams) { p.Beta = nan },
		"negative active":   func(p *AFQCNParams) { p.Active = -1 },
		"no classes":        func(p *AFQCNParams) { p.Classes = 0 },
		"QCN's set point":   func(p *AFQCNParams) { p.SetPoint = 0 },
		"QCN's jitter":      func(p *AFQCNParams) { p.Jitter = 2 },
	})
	refuses(t, paper25(8), map[string]func(*PACCParams){
		"no period":               func(p *PACCParams) { p.Period = 0 },
		"negative period":         func(p *PACCParams) { p.Period = -1 },
		"no gap":                  func(p *PACCParams) { p.Gap = 0 },
		"gap longer than period":  func(p *PACCParams) { p.Gap = p.Period + 1 },
		"negative phase":          func(p *PACCParams) { p.Phase = -1 },
		"negative Qth":            func(p *PACCParams) { p.QTh = -1 },
		"negative Qburst":         func(p *PACCParams) { p.QBurst = -1 },
		"negative Bth":            func(p *PACCParams) { p.BTh = -1 },
		"no unit":                 func(p *PACCParams) { p.Unit = 0 },
		"negative beta1":          func(p *PACCParams) { p.Beta1 = -0.1 },
		"negative beta2":          func(p *PACCParams) { p.Beta2 = -0.1 },
		"beta1 NaN":               func(p *PACCParams) { p.Beta1 = nan },
		"beta2 NaN":               func(p *PACCParams) { p.Beta2 = nan },
		"beta1 infinite":          func(p *PACCParams) { p.Beta1 = inf }, // N_all of a queue at Qth is NaN
		"beta2 infinite":          func(p *PACCParams) { p.Beta2 = inf },
		"w 0":                     func(p *PACCParams) { p.W = 0 },
		"w above 1":               func(p *PACCParams) { p.W = 1.1 },
		"w NaN":                   func(p *PACCParams) { p.W = nan },
		"no flows":                func(p *PACCParams) { p.Flows = 0 },
		"negative number of them": func(p *PACCParams) { p.Flows = -1 },
	})
	refuses(t, IBParams{Weight: 15, Reference: 131072, PacketSize: 512, Rate: 10}, map[string]func(*IBParams){
		"weight 16":         func(p *IBParams) { p.Weight = 16 },
		"negative weight":   func(p *IBParams) { p.Weight = -1 },
		"no reference":      func(p *IBParams) { p.Reference = 0 },
		"negative size":     func(p *IBParams) { p.PacketSize = -1 },
		"more than 8 bits":  func(p *IBParams) { p.PacketSize = 256 * 64 },
		"negative rate":     func(p *IBParams) { p.Rate = -1 },
		"more than 16 bits": func(p *IBParams) { p.Rate = 65536 },
	})
	refuses(t, stepTCD(us), map[string]func(*TCDParams){
		"no interval":       func(p *TCDParams) { p.Interval = 0 },
		"negative interval": func(p *TCDParams) { p.Interval = -1 },
		"RED's kmin":        func(p *TCDParams) { p.Kmin = -1 },
		"RED's kmax":        func(p *TCDParams) { p.Kmax = p.Kmin - 1 },
		"RED's pmax":        func(p *TCDParams) { p.Pmax = nan },
	})
}

// What a congestion point does for a frame, a round, an interval and a message,
// it does in the memory that it was made with.
func TestCongestionPointsAllocateNothing(t *testing.T) {
	const flows = 8
	var packets [flows]*Packet
	for n := range flows {
		packets[n], _ = roce(n, 1500)
		packets[n].hash, packets[n].known = uint32(n), true
	}
	p := hotAF
	p.Classes = flows
	shares := func(h uint32, _ *Packet) (Share, bool) {
		return Share{Weight: float64(1 + h), Max: 5 * units.Gbps}, true
	}
	telemetry := make(wire.INT, wire.INTLen)
	points := []CP{
		NewQCN(hotAF.QCNParams, 1), NewAFQCN(p, 1, shares), NewPACC(paper25(flows)), NewTCD(stepTCD(40*us), 1), NewIB(IBParams{Weight: 15, Reference: 1000}), Telemetry{Link: 10 * units.Gbps},
	}
	now := units.Time(0)
	samples, cnps := 0, 0
	for _, c := range points {
		if n := testing.AllocsPerRun(100, func() {
			for i := range 200 {
				now += 1200 * units.Nanosecond
				q := queued(units.Size(200_000 + 500*i))
				packet := packets[i%flows]
				if s, ok := c.(Sampler); ok {
					if _, ok := s.Enqueue(now, q, packet); ok {
						samples++
					}
				}
				c.Dequeue(now, q, packet)
				if n, ok := c.(Notifier); ok {
					for n.Next() <= now {
						if _, ok := n.Poll(now, q); ok {
							cnps++
						}
					}
				}
				if s, ok := c.(Stamper); ok {
					telemetry.Push(s.Stamp(now, Port{Queued: q.Bytes, Sent: units.Size(now)}))
				}
				if i == 100 {
					c.Resume(now, q)
				}
			}
		}); n != 0 {
			t.Errorf("%T: %v allocations", c, n)
		}
	}
	if samples == 0 || cnps == 0 {
		t.Errorf("%d samples, %d CNPs: idle points allocate nothing", samples, cnps)
	}
}
