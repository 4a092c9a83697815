package ratelimit

import (
	"math"
	"strings"
	"testing"

	"photon/units"
	"photon/wire"
)

// with is a copy of good parameters after a change.
func with[P any](good *P, change func(*P)) P {
	p := *good
	change(&p)
	return p
}

// Every value that cannot be is named, in one line.
func TestValidateEach(t *testing.T) {
	nan := math.NaN()
	type mlx = MlxParams
	type plus = DCQCNPlusParams
	patched := timelyParams()
	patched.Patched, patched.Gain, patched.Low = true, 0.008, 50*units.Microsecond
	for _, good := range []interface{ Validate() error }{qcnParams(), mlxParams(), plusParams(), timelyParams(), patched, hpccParams(), dcqcnParams()} {
		if err := good.Validate(); err != nil {
			t.Errorf("%T: %v", good, err)
		}
	}
	for _, c := range []struct {
		bad  interface{ Validate() error }
		want string
	}{
		{with(qcnParams(), func(p *QCNParams) { p.Line = 0 }), "line rate"},
		{with(qcnParams(), func(p *QCNParams) { p.Min = 0 }), "min_rate 0bps must be above 0"},
		{with(qcnParams(), func(p *QCNParams) { p.Min = line + 1 }), "is above the line rate, 10Gbps (params: {min_rate: 1Gbps})"},
		{with(qcnParams(), func(p *QCNParams) { p.AI = -1 }), "increase"},
		{with(qcnParams(), func(p *QCNParams) { p.HAI = -1 }), "increase"},
		{with(qcnParams(), func(p *QCNParams) { p.Gd = 0 }), "gd"},
		{with(qcnParams(), func(p *QCNParams) { p.Gd = 1. / 63 }), "gd"},
		{with(qcnParams(), func(p *QCNParams) { p.Gd = nan }), "gd"},
		{with(qcnParams(), func(p *QCNParams) { p.MinDec = 0 }), "factor"},
		{with(qcnParams(), func(p *QCNParams) { p.MinDec = 1.01 }), "factor"},
		{with(qcnParams(), func(p *QCNParams) { p.MinDec = nan }), "factor"},
		{with(qcnParams(), func(p *QCNParams) { p.ByteReset = 0 }), "reset"},
		{with(qcnParams(), func(p *QCNParams) { p.TimeReset = 0 }), "reset"},
		{with(qcnParams(), func(p *QCNParams) { p.Threshold = 0 }), "threshold"},
		{with(qcnParams(), func(p *QCNParams) { p.Jitter = -0.1 }), "jitter"},
		{with(qcnParams(), func(p *QCNParams) { p.Jitter = 1 }), "jitter"},
		{with(qcnParams(), func(p *QCNParams) { p.Jitter = nan }), "jitter"},

		{with(mlxParams(), func(p *mlx) { p.Line = -1 }), "line rate"},
		{with(mlxParams(), func(p *mlx) { p.Min = 0 }), "min_rate 0bps must be above 0"},
		{with(mlxParams(), func(p *mlx) { p.Min = line + 1 }), "is above the line rate, 10Gbps (params: {min_rate: 1Gbps})"},
		{with(mlxParams(), func(p *mlx) { p.AI = -1 }), "increase"},
		{with(mlxParams(), func(p *mlx) { p.HAI = -1 }), "increase"},
		{with(mlxParams(), func(p *mlx) { p.G = 0 }), "g 0"},
		{with(mlxParams(), func(p *mlx) { p.G = 1.01 }), "g 1.01"},
		{with(mlxParams(), func(p *mlx) { p.G = nan }), "g NaN"},
		{with(mlxParams(), func(p *mlx) { p.AlphaTimer = 0 }), "timer"},
		{with(mlxParams(), func(p *mlx) { p.CutTimer = 0 }), "timer"},
		{with(mlxParams(), func(p *mlx) { p.RateTimer = 0 }), "timer"},
		{with(mlxParams(), func(p *mlx) { p.AlphaTimer = units.Microsecond - 1 }), "at least 1us"},
		{with(mlxParams(), func(p *mlx) { p.CutTimer = units.Microsecond - 1 }), "at least 1us"},
		{with(mlxParams(), func(p *mlx) { p.RateTimer = units.Microsecond - 1 }), "at least 1us"},
		{with(mlxParams(), func(p *mlx) { p.Threshold = -1 }), "threshold"},

		{with(plusParams(), func(p *plus) { p.Line = 0 }), "line rate"},
		{with(plusParams(), func(p *plus) { p.Min = 0 }), "min_rate 0bps must be above 0"},
		{with(plusParams(), func(p *plus) { p.Min = line + 1 }), "is above the line rate, 10Gbps (params: {min_rate: 1Gbps})"},
		{with(plusParams(), func(p *plus) { p.G = 0 }), "g 0"},
		{with(plusParams(), func(p *plus) { p.G = 2 }), "g 2"},
		{with(plusParams(), func(p *plus) { p.G = nan }), "g NaN"},
		{with(plusParams(), func(p *plus) { p.Timer = 0 }), "timer 0ps"},
		{with(plusParams(), func(p *plus) { p.Short = 0 }), "short 0ps"},
		{with(plusParams(), func(p *plus) { p.Timer = units.Microsecond - 1 }), "at least 1us"},
		{with(plusParams(), func(p *plus) { p.Short = units.Microsecond - 1 }), "at least 1us"},
		{with(plusParams(), func(p *plus) { p.Frame = 0 }), "frame"},
		{with(plusParams(), func(p *plus) { p.Lambda = 0 }), "factors"},
		{with(plusParams(), func(p *plus) { p.LambdaA = 0 }), "factors"},
		{with(plusParams(), func(p *plus) { p.Threshold = 0 }), "threshold"},

		{with(timelyParams(), func(p *TimelyParams) { p.Line = 0 }), "line rate"},
		{with(timelyParams(), func(p *TimelyParams) { p.Min = 0 }), "min_rate 0bps must be above 0"},
		{with(timelyParams(), func(p *TimelyParams) { p.Min = line + 1 }), "is above the line rate, 10Gbps (params: {min_rate: 1Gbps})"},
		{with(timelyParams(), func(p *TimelyParams) { p.Alpha = 0 }), "alpha"},
		{with(timelyParams(), func(p *TimelyParams) { p.Alpha = 1.5 }), "alpha"},
		{with(timelyParams(), func(p *TimelyParams) { p.Alpha = nan }), "alpha"},
		{with(timelyParams(), func(p *TimelyParams) { p.Beta = 0 }), "beta"},
		{with(timelyParams(), func(p *TimelyParams) { p.Segment = -1 }), "segment"},
		{with(timelyParams(), func(p *TimelyParams) { p.Beta = 1.5 }), "beta"},
		{with(timelyParams(), func(p *TimelyParams) { p.Beta = nan }), "beta"},
		{with(timelyParams(), func(p *TimelyParams) { p.AI = -1 }), "increase"},
		{with(timelyParams(), func(p *TimelyParams) { p.HAI = 0 }), "hai"},
		{with(timelyParams(), func(p *TimelyParams) { p.MinRTT = 0 }), "minimum RTT"},
		{with(timelyParams(), func(p *TimelyParams) { p.Low = -1 }), "t_low"},
		{with(timelyParams(), func(p *TimelyParams) { p.High = 0 }), "t_high"},
		{with(timelyParams(), func(p *TimelyParams) { p.Low = p.High }), "t_high"},
		{with(patched, func(p *TimelyParams) { p.Low = 0 }), "t_low"},
		{with(patched, func(p *TimelyParams) { p.Gain = 0 }), "gain"},
		{with(patched, func(p *TimelyParams) { p.Gain = 1.5 }), "gain"},
		{with(patched, func(p *TimelyParams) { p.Gain = nan }), "gain"},

		{with(hpccParams(), func(p *HPCCParams) { p.Line = 0 }), "line rate"},
		{with(hpccParams(), func(p *HPCCParams) { p.Min = 0 }), "min_rate 0bps must be above 0"},
		{with(hpccParams(), func(p *HPCCParams) { p.Min = line + 1 }), "is above the line rate, 10Gbps (params: {min_rate: 1Gbps})"},
		{with(hpccParams(), func(p *HPCCParams) { p.BaseRTT = 0 }), "base RTT"},
		{with(hpccParams(), func(p *HPCCParams) { p.BaseRTT = wire.INTTimeWrap/2 + 1 }), "base RTT"},
		{with(hpccParams(), func(p *HPCCParams) { p.Eta = 0 }), "eta"},
		{with(hpccParams(), func(p *HPCCParams) { p.Eta = 1.01 }), "eta"},
		{with(hpccParams(), func(p *HPCCParams) { p.Eta = nan }), "eta"},
		{with(hpccParams(), func(p *HPCCParams) { p.MaxStage = -1 }), "stages"},
		{with(hpccParams(), func(p *HPCCParams) { p.AI = -1 }), "increase"},

		{with(ibccParams(), func(p *IBCCParams) { p.Line = 0 }), "line rate"},
		{with(ibccParams(), func(p *IBCCParams) { p.Increase = -1 }), "ccti_increase"},
		{with(ibccParams(), func(p *IBCCParams) { p.Increase = 256 }), "ccti_increase"},
		{with(ibccParams(), func(p *IBCCParams) { p.Min = -1 }), "ccti_min"},
		{with(ibccParams(), func(p *IBCCParams) { p.Min = p.Limit + 1 }), "ccti_min"},
		{with(ibccParams(), func(p *IBCCParams) { p.Limit++ }), "ccti_limit"},
		{with(ibccParams(), func(p *IBCCParams) { p.Timer = 0 }), "ccti_timer"},
		{with(ibccParams(), func(p *IBCCParams) { p.Timer = 65536 * CCTUnit }), "ccti_timer"},

		{with(dcqcnParams(), func(p *DCQCNParams) { p.Line = 0 }), "line rate"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.Min = line + 1 }), "is above the line rate, 10Gbps (params: {min_rate: 1Gbps})"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.HAI = -1 }), "increase"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.G = nan }), "g NaN"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.G = leastG / 2 }), "g 3.0517578125e-05 must be from 1/16384 to 1"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.AI = 9999 }), "or at least a millionth of the line rate, 10Kbps"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.HAI = 9999 }), "or at least a millionth of the line rate, 10Kbps"},
		{with(mlxParams(), func(p *mlx) { p.AI = 1 }), "or at least a millionth of the line rate, 10Kbps"},
		{with(qcnParams(), func(p *QCNParams) { p.HAI = 1 }), "or at least a millionth of the line rate, 10Kbps"},
		{with(plusParams(), func(p *plus) { p.Hyper = 1. / 2000 }), "hyper"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.RateTimer = -1 }), "rate_timer -1ps must"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.RateTimer = units.Microsecond - 1 }), "at least 1us"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.AlphaTimer = units.Microsecond - 1 }), "at least 1us"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.ByteCount = -1 }), "byte counter"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.Threshold = -1 }), "threshold"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.Alpha = -0.1 }), "alpha"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.Alpha = 1.1 }), "alpha"},
		{with(dcqcnParams(), func(p *DCQCNParams) { p.Alpha = nan }), "alpha"},
	} {
		if err := c.bad.Validate(); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%T %+v: %v, want a line about %q", c.bad, c.bad, err, c.want)
		}
	}
}

// No reaction point allocates, whatever it is told.
func TestNoReactionPointAllocates(t *testing.T) {
	patched := timelyParams()
	patched.Patched, patched.Gain, patched.Low = true, 0.008, 20*units.Microsecond
	marked := timelyParams()
	marked.MarkedOnly = true
	jittery := qcnParams()
	jittery.Jitter = 0.15
	port := &Port{}
	for name, rp := range map[string]RP{
		"unlimited": Unlimited{line}, "pcn": NewPCN(&PCNParams{Line: line, WMin: 0.01, WMax: 0.5, Min: 1}), "dcqcn": NewDCQCN(dcqcnParams()), "tcd": NewTCD(dcqcnParams(), true),
		"qcn": NewQCN(jittery, 1), "mlx": NewMlx(mlxParams()), "dcqcn+": NewDCQCNPlus(plusParams(), port), "hpcc": NewHPCC(hpccParams()),
		"swift": NewSwift(swiftParams()), "powertcp": NewPowerTCP(&PowerTCPParams{Line: line, Min: 1, BaseRTT: 10 * units.Microsecond, Gamma: 0.9, AI: 1250}),
		"timely": NewTimely(timelyParams()), "patched": NewTimely(patched), "marked only": NewTimely(marked), "ibcc": NewIBCC(ibccParams(), nil), "ibcc, acknowledged": AckedIBCC{NewIBCC(ibccParams(), nil)},
	} {
		now, event := units.Time(0), 0
		hops, ack := make(wire.INT, wire.INTLen), &Ack{}
		if n := testing.AllocsPerRun(1000, func() {
			now += 60 * units.Microsecond
			event++
			*port = Port{PausedFrom: now - 1, PausedUntil: now + units.Time(event%2)}
			rp.Rate(now)
			rp.Sent(now, 9_000)
			switch event % 50 {
			case 0:
				rp.Notify(now, wire.CE, 50)
			case 1:
				rp.Notify(now, ue, 60_000)
			case 2:
				rp.Start(now)
			}
			if a, ok := rp.(Acker); ok {
				clear(hops)
				hops.Push(wire.INTHop{Rate: line, Time: now, TxBytes: units.Size(event) * 12_800, Queue: units.Size(event%3) * 8_000})
				*ack = Ack{Packet: uint64(event), Next: uint64(event + 5), RTT: units.Time(event%7+1) * 10 * units.Microsecond, CE: event%2 == 0, Hops: hops}
				a.Ack(now, ack)
			}
			if w, ok := rp.(Windower); ok && w.Window() <= 0 {
				t.Fatal("no window")
			}
			if rp.Rate(now) <= 0 {
				t.Fatal("no rate")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations per event", name, n)
		}
	}
}

// A tenant has 1 to 255 frames a turn, and a cap that is not negative.
func TestTenantsThatMakeSense(t *testing.T) {
	for tenant, right := range map[Tenant]bool{
		{Weight: 1}: true, {Weight: 255}: true, {Weight: 1, Cap: 1}: true,
		{}: false, {Weight: -1}: false, {Weight: 256}: false, {Weight: 1, Cap: -1}: false,
	} {
		if err := tenant.Validate(); (err == nil) != right {
			t.Errorf("%+v: %v", tenant, err)
		}
	}
}

// PowerTCP's gamma is a weight above 0, and may be all of it (NSDI'22 algorithm 1).
func TestPowerTCPValidate(t *testing.T) {
	good := &PowerTCPParams{Line: line, Min: 10 * units.Mbps, BaseRTT: 20 * units.Microsecond, Gamma: 0.9, AI: 100}
	type p = PowerTCPParams
	for i, c := range []struct {
		right bool
		p     p
	}{
		{true, *good}, {true, with(good, func(x *p) { x.Gamma = 1 })}, {true, with(good, func(x *p) { x.Gamma = 1e-9 })},
		{true, with(good, func(x *p) { x.AI = 0 })}, {true, with(good, func(x *p) { x.Min = line })},
		{true, with(good, func(x *p) { x.BaseRTT = wire.INTTimeWrap / 2 })},
		{false, with(good, func(x *p) { x.Gamma = 0 })}, {false, with(good, func(x *p) { x.Gamma = 1 + 1e-9 })},
		{false, with(good, func(x *p) { x.Gamma = math.NaN() })}, {false, with(good, func(x *p) { x.AI = -1 })},
		{false, with(good, func(x *p) { x.Min = 0 })}, {false, with(good, func(x *p) { x.Min = line + 1 })},
		{false, with(good, func(x *p) { x.Line = 0 })}, {false, with(good, func(x *p) { x.BaseRTT = 0 })},
		{false, with(good, func(x *p) { x.BaseRTT = wire.INTTimeWrap/2 + 1 })},
	} {
		if err := c.p.Validate(); (err == nil) != c.right {
			t.Errorf("case %d, %+v: %v", i, c.p, err)
		}
	}
}
