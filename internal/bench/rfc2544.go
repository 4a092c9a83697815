package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"photon/internal/gobench"
	"photon/internal/table"
	"photon/lab/stat"
)

// benchmarked is a line of out/bench-rfc2544.json: one contestant at one length of frames and one load. Throughputs and
// bursts are of the contestant and the length, and are the same in all its lines. All are medians of the rounds.
type benchmarked struct {
	Contestant string  `json:"contestant"`
	Vdev       string  `json:"vdev"`
	Bytes      int     `json:"bytes"` // of a frame, without FCS
	NDR        float64 `json:"ndr_mpps"`
	PDR        float64 `json:"pdr_mpps"`     // with 0.5 % lost
	Burst      uint64  `json:"burst_frames"` // longest that nothing is lost of, sent as fast as the generator can
	Most       float64 `json:"generator_mpps"`
	Load       float64 `json:"load"` // part of the NDR
	P50        float64 `json:"p50_ns"`
	P99        float64 `json:"p99_ns"`
	P999       float64 `json:"p999_ns"`
}

// blocked is a line of out/bench-rfc8239.json: an incast and a victim of it (RFC 8239, section 6), with PFC or without.
type blocked struct {
	Contestant string  `json:"contestant"`
	Vdev       string  `json:"vdev"`
	Bytes      int     `json:"bytes"`
	PFC        bool    `json:"pfc"`
	Offered    float64 `json:"offered_mpps"` // by each of two senders, if nothing stops it
	Drained    float64 `json:"drained_mpps"` // of the congested port
	Lost       float64 `json:"incast_lost"`  // part of what was sent there
	Victim     float64 `json:"victim_got"`   // part of what it was to send
	VictimLost float64 `json:"victim_lost"`  // part of what it sent
	VictimP99  float64 `json:"victim_p99_ns"`
	Pauses     float64 `json:"pause_frames"`
}

var loads = []float64{0.1, 0.5, 0.9}

// measurement is what rounds are to measure.
type measurement struct {
	sizes  string
	only   []string
	trial  time.Duration
	rounds int
	out    string
}

// rfc2544 measures all contestants in turns.
func rfc2544(m measurement) error {
	cases, err := parseCases("plain", "net_ring", m.sizes, "4")
	if err != nil {
		return err
	}
	dir, err := workplace()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := buildGenerator(dir)
	if err != nil {
		return err
	}
	throughputs, incasts := []benchmarked{}, []blocked{}
	turns, crowds := gobench.New("NDR-frames/s", "PDR-frames/s", "burst-frames"), gobench.New("drained-frames/s")
	for _, c := range cases {
		c.Vdev, c.sockets = "net_memif", filepath.Join(dir, fmt.Sprint(c.Bytes))
		if err := os.Mkdir(c.sockets, 0o700); err != nil {
			return err
		}
		all, err := m.measure(c, program)
		if err != nil {
			return fmt.Errorf("%d bytes: %w", c.Bytes, err)
		}
		for _, t := range all {
			throughputs, incasts = append(throughputs, medians(t.throughputs)...), append(incasts, mediansOfIncasts(t.incasts)...)
			t.addTurns(turns, crowds)
		}
	}
	if err := errors.Join(printThroughputs(throughputs), printIncasts(incasts)); err != nil {
		return err
	}
	if err := gobench.Save(m.out, throughputs, turns); err != nil {
		return err
	}
	return gobench.Save(filepath.Join(filepath.Dir(m.out), "bench-rfc8239.json"), incasts, crowds)
}

// addTurns gives benchstat what each round found.
func (t *tested) addTurns(turns, crowds *gobench.File) {
	for _, lines := range t.throughputs {
		of := fmt.Sprintf("RFC2544/of=%s/bytes=%d", lines[0].Contestant, lines[0].Bytes)
		turns.Add(of, map[string]float64{"NDR-frames/s": lines[0].NDR * 1e6, "PDR-frames/s": lines[0].PDR * 1e6, "burst-frames": float64(lines[0].Burst)})
		for _, l := range lines {
			turns.Add(fmt.Sprintf("%s/load=%g", of, l.Load), map[string]float64{"p50-ns": l.P50, "p99-ns": l.P99, "p99.9-ns": l.P999})
		}
	}
	for _, lines := range t.incasts {
		for _, l := range lines {
			crowds.Add(fmt.Sprintf("RFC8239/of=%s/bytes=%d/pfc=%t", l.Contestant, l.Bytes, l.PFC), map[string]float64{
				"drained-frames/s": l.Drained * 1e6, "lost-%": 100 * l.Lost, "victim-lost-%": 100 * l.VictimLost, "victim-p99-ns": l.VictimP99, "pauses": l.Pauses,
			})
		}
	}
}

func printThroughputs(all []benchmarked) error {
	t := table.New(1, "contestant", "bytes", "NDR Mpps", "PDR Mpps", "of at most", "burst", "load", "p50 us", "p99 us", "p99.9 us")
	mpps := func(x float64) string { return fmt.Sprintf("%.3f", x) }
	us := func(ns float64) string { return fmt.Sprintf("%.1f", ns/1e3) }
	for _, l := range all {
		t.Row(l.Contestant, l.Bytes, mpps(l.NDR), mpps(l.PDR), mpps(l.Most), l.Burst, fmt.Sprintf("%.0f%%", 100*l.Load), us(l.P50), us(l.P99), us(l.P999))
	}
	return t.Print(os.Stdout)
}

func printIncasts(all []blocked) error {
	fmt.Println()
	t := table.New(1, "contestant", "bytes", "PFC", "offered Mpps", "drained Mpps", "incast lost", "victim got", "victim lost", "victim p99 us", "pauses")
	percent := func(part float64) string { return fmt.Sprintf("%.1f%%", 100*part) }
	for _, l := range all {
		t.Row(l.Contestant, l.Bytes, map[bool]string{true: "yes", false: "no"}[l.PFC], fmt.Sprintf("%.3f", l.Offered), fmt.Sprintf("%.3f", l.Drained),
			percent(l.Lost), percent(l.Victim), percent(l.VictimLost), fmt.Sprintf("%.1f", l.VictimP99/1e3), fmt.Sprintf("%.0f", l.Pauses))
	}
	return t.Print(os.Stdout)
}

// tested is a contestant with the generator at the other ends of its ports.
type tested struct {
	starter
	contestant // nil: it does not run
	generator  *generator

	throughputs [][]benchmarked // by round, then by load
	incasts     [][]blocked     // by round, then without PFC and with
}

// measure measures all contestants with frames of one length. While one has its turn the others stand still.
func (m *measurement) measure(c testCase, program string) (all []*tested, err error) {
	for _, s := range starters {
		if s.name == "mac" || !slices.Contains(m.only, s.name) {
			continue
		}
		t := &tested{starter: s}
		defer t.close()
		if err := t.enter(c, program); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		all = append(all, t)
	}
	for range m.rounds {
		for _, t := range all {
			resume(t.pid())
			if err := t.turn(c, m.trial); err != nil {
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
			halt(t.pid())
		}
	}
	for _, t := range all {
		if err := t.leave(); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return all, nil
}

// enter starts it, lets it learn, and stops it.
func (t *tested) enter(c testCase, program string) (err error) {
	dir := filepath.Join(c.sockets, t.name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	c.sockets = dir
	queues := 1
	if t.name == "ovs" { // it has one for its main thread
		queues = c.threads() + 1
	}
	if t.generator, err = startGenerator(program, dir, c.Ports, queues); err != nil {
		return fmt.Errorf("generator: %w", err)
	}
	if t.contestant, err = t.start(c, dir, os.Environ()); err != nil {
		t.contestant = nil
		return err
	}
	if err := t.generator.connected(c.Ports); err != nil {
		return err
	}
	if err := t.generator.teach(); err != nil {
		return err
	}
	halt(t.pid())
	return nil
}

// leave ends it, and tells if it did not end well.
func (t *tested) leave() error {
	resume(t.pid())
	_, err := t.finish()
	t.contestant = nil
	return errors.Join(err, t.generator.say("quit"), t.generator.end())
}

// close ends what did not end as it was to.
func (t *tested) close() {
	if t.contestant != nil {
		resume(t.pid())
		t.finish()
		t.generator.say("quit")
		t.generator.end()
	}
}

// turn measures all of it once.
func (t *tested) turn(c testCase, trial time.Duration) error {
	g := t.generator
	if _, err := g.try(c.Bytes, 0, 20_000); err != nil { // the caches are another's
		return err
	}
	most, err := g.try(c.Bytes, 0, 200_000)
	for again := 0; err == nil && most.got == 0; again++ { // on a busy machine the contestant may not run for as long as that
		if again == 20 {
			return errors.New("nothing comes back")
		}
		most, err = g.try(c.Bytes, 0, 200_000)
	}
	if err != nil {
		return err
	}
	top := most.rate()
	ndr, err := g.throughput(c.Bytes, 0, top, 0, trial)
	if err != nil {
		return err
	}
	pdr, err := g.throughput(c.Bytes, ndr, top, partial, trial)
	if err != nil {
		return err
	}
	burst, err := g.burst(c.Bytes)
	if err != nil {
		return err
	}
	l := benchmarked{Contestant: t.name, Vdev: c.Vdev, Bytes: c.Bytes}
	l.NDR, l.PDR, l.Most, l.Burst = round(ndr/1e6), round(pdr/1e6), round(top/1e6), uint64(burst)
	var lines []benchmarked
	for _, load := range loads {
		tried, err := g.try(c.Bytes, load*ndr, uint64(load*ndr*trial.Seconds()))
		if err != nil {
			return err
		}
		l.Load, l.P50, l.P99, l.P999 = load, tried.latency[0], tried.latency[1], tried.latency[2]
		lines = append(lines, l)
	}
	t.throughputs = append(t.throughputs, lines)
	if !t.exact { // it sends each port's frames to its neighbour, whatever they are
		return nil
	}
	return t.crowd(c, ndr, trial)
}

// Of its NDR, so much is offered in all, and taken from the congested port, which is sent three quarters of that.
const (
	crowd   = 0.8
	drained = 0.3
)

// crowd measures an incast and its victim, without PFC and, if the contestant has it, with.
func (t *tested) crowd(c testCase, ndr float64, span time.Duration) error {
	var lines []blocked
	for _, pfc := range []bool{false, true} {
		if pfc && t.name != "photon" {
			continue
		}
		rate, drain := crowd/2*ndr, drained*ndr
		r, err := t.generator.incast(c.Bytes, rate, drain, span, pfc)
		if err != nil {
			return err
		}
		lines = append(lines, blocked{
			Contestant: t.name, Vdev: c.Vdev, Bytes: c.Bytes, PFC: pfc, Offered: round(rate / 1e6), Drained: round(drain / 1e6),
			Lost: part(r.sent-r.got, r.sent), Victim: part(r.victimGot, r.wanted/2), VictimLost: part(r.victimSent-r.victimGot, r.victimSent),
			VictimP99: r.victimLatency, Pauses: float64(r.pauses),
		})
	}
	t.incasts = append(t.incasts, lines)
	return nil
}

// part is that of a whole, which may be nothing.
func part(of, whole uint64) float64 { return float64(of) / float64(max(whole, 1)) }

// medians of the rounds' lines.
func medians(rounds [][]benchmarked) (lines []benchmarked) {
	for i, l := range rounds[0] {
		of := func(value func(*benchmarked) float64) float64 { return medianOf(rounds, i, value) }
		l.NDR = of(func(l *benchmarked) float64 { return l.NDR })
		l.PDR = of(func(l *benchmarked) float64 { return l.PDR })
		l.Most = of(func(l *benchmarked) float64 { return l.Most })
		l.Burst = uint64(of(func(l *benchmarked) float64 { return float64(l.Burst) }))
		l.P50 = of(func(l *benchmarked) float64 { return l.P50 })
		l.P99 = of(func(l *benchmarked) float64 { return l.P99 })
		l.P999 = of(func(l *benchmarked) float64 { return l.P999 })
		lines = append(lines, l)
	}
	return lines
}

func mediansOfIncasts(rounds [][]blocked) (lines []blocked) {
	if len(rounds) == 0 {
		return nil
	}
	for i, l := range rounds[0] {
		of := func(value func(*blocked) float64) float64 { return medianOf(rounds, i, value) }
		l.Offered = of(func(l *blocked) float64 { return l.Offered })
		l.Drained = of(func(l *blocked) float64 { return l.Drained })
		l.Lost = of(func(l *blocked) float64 { return l.Lost })
		l.Victim = of(func(l *blocked) float64 { return l.Victim })
		l.VictimLost = of(func(l *blocked) float64 { return l.VictimLost })
		l.VictimP99 = of(func(l *blocked) float64 { return l.VictimP99 })
		l.Pauses = of(func(l *blocked) float64 { return l.Pauses })
		lines = append(lines, l)
	}
	return lines
}

// medianOf is that of the i-th line of all rounds.
func medianOf[L any](rounds [][]L, i int, value func(*L) float64) float64 {
	var all []float64
	for _, lines := range rounds {
		all = append(all, value(&lines[i]))
	}
	return stat.Median(all)
}

// rfcFile is the result file of these measurements, unless another one was named.
func rfcFile(out string) string {
	if out == defaultFile {
		return "out/bench-rfc2544.json"
	}
	return out
}
