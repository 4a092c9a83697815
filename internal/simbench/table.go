package main

import (
	"fmt"
	"io"

	"photon/internal/table"
	"photon/lab/stat"
)

// line is one case of the result file; figures are medians of the turns, and ratios of
// the turns' ratios.
type line struct {
	Name      string  `json:"name"`
	Ack       string  `json:"ack"` // for each flow, or packet
	Rate      float64 `json:"packet_hops_per_second"`
	PerEvent  float64 `json:"ns_per_event"`
	RSS       int64   `json:"rss_bytes"`
	Wall      float64 `json:"wall_seconds"`
	CPU       float64 `json:"cpu_seconds"`
	SetUp     float64 `json:"setup_cpu_seconds"`
	Hops      uint64  `json:"packet_hops"`
	Events    uint64  `json:"events"`
	Frames    int     `json:"packets_in_flight"` // most at a time
	PerFrame  float64 `json:"bytes_per_packet_in_flight"`
	Wall2     float64 `json:"wall_seconds_2_cores,omitempty"`
	Twice     float64 `json:"wall_ratio_2_cores,omitempty"` // wall on one core by that on two
	Spread    float64 `json:"spread"`                       // of the rates: (largest - smallest) / median
	Hash      string  `json:"trace_hash"`
	NS3Rate   float64 `json:"ns3_rate_ratio,omitempty"`         // ours to the ns-3 simulator's, each as measured
	NS3Scaled float64 `json:"ns3_rate_ratio_scaled,omitempty"`  // the same if this machine were as fast as its
	NS3Wall2  float64 `json:"ns3_wall_ratio_2_cores,omitempty"` // its seconds by the wall, on one core, to ours on two
}

// machine is how fast the machine is, by the bare loop; figures are medians of the turns.
type machine struct {
	Loop     string  `json:"loop"`
	Rate     float64 `json:"packet_hops_per_second"`
	PerEvent float64 `json:"ns_per_event"`
	Spread   float64 `json:"spread"`                           // of the rates, as a line's
	There    float64 `json:"reference_packet_hops_per_second"` // of such a loop where ns-3 was measured
	Speed    float64 `json:"speed"`                            // of this machine by that one
}

func newMachine(loop []measured) machine {
	l := newLine(bare.c, false, loop, nil, comparisons{})
	return machine{Loop: l.Name, Rate: l.Rate, PerEvent: l.PerEvent, Spread: l.Spread, There: bareThere, Speed: l.Rate / bareThere}
}

func newLine(c *testCase, each bool, runs, shared []measured, by comparisons) line {
	m := runs[0]
	l := line{Name: c.name, Ack: perWhat(each), Hops: m.Hops, Events: m.Events, Frames: m.Frames, Hash: m.Hash}
	of := func(value func(*measured) float64) (v []float64) {
		for i := range runs {
			v = append(v, value(&runs[i]))
		}
		return v
	}
	rates := of((*measured).rate)
	l.Rate = stat.Median(rates)
	l.Spread = stat.Spread(rates)
	l.PerEvent = stat.Median(of((*measured).perEvent))
	l.RSS = int64(stat.Median(of(func(m *measured) float64 { return float64(m.RSS) })))
	wall := func(m *measured) float64 { return m.Wall.Seconds() }
	l.Wall = stat.Median(of(wall))
	l.CPU = stat.Median(of(func(m *measured) float64 { return m.Used.Seconds() }))
	l.SetUp = stat.Median(of(func(m *measured) float64 { return m.SetUp.Seconds() }))
	l.PerFrame = stat.Median(of((*measured).perFrame))
	if by.ns3.Median > 0 {
		l.NS3Rate, l.NS3Scaled, l.NS3Wall2 = by.ns3.Median, by.ns3Scaled.Median, by.ns3Twice.Median
	}
	if runs = shared; len(runs) > 0 {
		l.Wall2, l.Twice = stat.Median(of(wall)), by.twice.Median
	}
	return l
}

// twice is how many times as fast by the wall a run is on two processors.
func (l *line) twice() string {
	if l.Twice == 0 {
		return "–"
	}
	return fmt.Sprintf("x %.2f", l.Twice)
}

func printTable(w io.Writer, lines []line, here machine) error {
	t := table.New(2, "case", "ack", "Mhops/s core", "±", "ns/event", "2 cores", "RSS MB",
		"in flight", "B/packet", "set-up s", "x ns-3", "2 cores", "scaled")
	rate := func(perSecond, spread float64) (text, within string) {
		return fmt.Sprintf("%.2f", perSecond/1e6), fmt.Sprintf("%.0f%%", 50*spread)
	}
	known := func(x float64) string {
		if x == 0 {
			return "–"
		}
		return fmt.Sprintf("%.1f", x)
	}
	for _, l := range lines {
		text, within := rate(l.Rate, l.Spread)
		t.Row(l.Name, l.Ack, text, within, fmt.Sprintf("%.1f", l.PerEvent), l.twice(), fmt.Sprintf("%.1f", float64(l.RSS)/1e6), l.Frames, fmt.Sprintf("%.0f", l.PerFrame),
			fmt.Sprintf("%.2f", l.SetUp), known(l.NS3Rate), known(l.NS3Wall2), known(l.NS3Scaled))
	}
	text, within := rate(here.Rate, here.Spread)
	t.Row(here.Loop, "–", text, within, fmt.Sprintf("%.1f", here.PerEvent))
	if err := t.Print(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s is the machine: a loop of bare events; %.1f Mhops/s where ns-3 was measured\n", here.Loop, here.There/1e6)
	return err
}
