package run

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"photon/scheme"
)

// writer puts an experiment together.
type writer struct {
	*rapid.T
	strings.Builder
	links []string // that can be changed and impaired
	ends  bool     // all flows end by themselves
}

func (w *writer) p(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *writer) of(name string, values ...any) any { return rapid.SampledFrom(values).Draw(w.T, name) }

func (w *writer) is(name string) bool { return rapid.Bool().Draw(w.T, name) }

func (w *writer) n(name string, least, most int) int {
	return rapid.IntRange(least, most).Draw(w.T, name)
}

// some writes a parameter in one of three experiments.
func (w *writer) some(name string, values ...any) {
	if w.n("has "+name, 0, 2) == 0 {
		w.p("  %s: %v", name, w.of(name, values...))
	}
}

// drawExperiment is what somebody might write.
func drawExperiment(t *rapid.T) string {
	w := &writer{T: t}
	w.draw(w.of("duration", "150us", "400us"))
	w.p("measure:\n  sample: %v", w.of("sample", "3us", "10us", "100us"))
	w.p("  probes:\n    - {name: queues, kind: queue, at: [\"*\"]}")
	return w.String()
}

// draw writes all but what is measured.
func (w *writer) draw(duration any) {
	name := w.of("scheme", toAny(scheme.Names())...).(string)
	w.p("id: test/random\ntitle: random\nseed: 1\nduration: %v", duration)
	hosts := w.topology()
	w.parameters(name == "hpcc" || name == "powertcp")
	w.flows(hosts)
	w.events()
	w.scheme(name)
}

func toAny(list []string) (all []any) {
	for _, s := range list {
		all = append(all, s)
	}
	return all
}

// topology writes one and yields what its hosts are called.
func (w *writer) topology() []string {
	names := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf("H%d", i))
		}
		return list
	}
	switch w.n("topology", 0, 12) {
	case 0:
		hosts := w.n("hosts", 2, 12)
		w.p("topology: {kind: star, hosts: %d}", hosts)
		return names(hosts)
	case 1:
		w.p("topology: {kind: fat-tree, k: 4}")
		return names(16)
	case 2:
		tors, hosts := w.n("tors", 2, 4), w.n("hosts", 1, 4)
		spines := w.n("spines", 1, 4)
		w.p("topology: {kind: leaf-spine, tors: %d, hosts: %d, spines: %d}", tors, hosts, spines)
		return names(tors * hosts)
	case 3:
		pods, tors, hosts := w.n("pods", 1, 2), w.n("tors", 2, 3), w.n("hosts", 1, 3)
		leafs, spines, uplinks := w.n("leafs", 1, 2), w.n("spines", 1, 3), w.n("uplinks", 1, 2)
		w.p("topology: {kind: clos, pods: %d, tors: %d, leafs: %d, hosts: %d, spines: %d, uplinks: %d}",
			pods, tors, leafs, hosts, spines, uplinks)
		return names(pods * tors * hosts)
	case 4:
		pods, hosts, nics, spines := w.n("pods", 1, 2), w.n("hosts", 2, 4), w.n("nics", 1, 3), w.n("spines", 1, 3)
		w.p("topology: {kind: rail, pods: %d, hosts: %d, nics: %d, spines: %d}", pods, hosts, nics, spines)
		return names(pods * hosts)
	case 5:
		nics, tors, hosts, spines := w.n("nics", 1, 3), w.n("tors", 1, 3), w.n("hosts", 2, 3), w.n("spines", 1, 3)
		w.p("topology: {kind: planes, nics: %d, tors: %d, hosts: %d, spines: %d}", nics, tors, hosts, spines)
		return names(tors * hosts)
	case 6:
		w.p("topology: {kind: dragonfly, switches: 2, hosts: 1, global: %d}", w.n("global", 1, 2))
		return names(2 * 3) // of more, if global is 2
	}
	return w.free()
}

// free writes switches in a tree with further links, some of them parallel, each with a rate and a delay of its own.
func (w *writer) free() (hosts []string) {
	switches, count := w.n("switches", 1, 6), w.n("hosts", 2, 10)
	w.p("topology:\n  kind: free\n  nodes:")
	for i := range switches {
		w.p("    - {name: S%d}", i)
	}
	for i := range count {
		hosts = append(hosts, fmt.Sprintf("H%d", i))
		w.p("    - {name: H%d, host: true}", i)
	}
	w.p("  links:")
	link := func(a, b string) {
		rate, delay := "", ""
		if w.is("a rate of its own") {
			rate = fmt.Sprintf(", rate: %vGbps", w.of("rate", 10, 25, 40, 50, 100, 200, 400))
		}
		if w.is("a delay of its own") {
			delay = fmt.Sprintf(", delay: %v", w.of("delay", "10ns", "300ns", "1us", "7us"))
		}
		w.p("    - {a: %s, b: %s%s%s}", a, b, rate, delay)
		w.links = append(w.links, a+">"+b, b+">"+a)
	}
	for i := 1; i < switches; i++ {
		link(fmt.Sprintf("S%d", w.n("of", 0, i-1)), fmt.Sprintf("S%d", i))
	}
	if switches > 1 {
		for range w.n("further links", 0, 4) {
			a, b := w.n("a", 0, switches-1), w.n("b", 0, switches-2)
			if b >= a {
				b++
			}
			link(fmt.Sprintf("S%d", a), fmt.Sprintf("S%d", b))
		}
	}
	for i := range count {
		link(fmt.Sprintf("H%d", i), fmt.Sprintf("S%d", w.n("at", 0, switches-1)))
	}
	return hosts
}

func (w *writer) parameters(withINT bool) {
	rates := []any{"10Gbps", "40Gbps", "56Gbps", "100Gbps", "400Gbps"}
	if withINT { // which cannot name them all
		rates = []any{"25Gbps", "50Gbps", "100Gbps", "400Gbps"}
	}
	w.p("parameters:\n  link_rate: %v\n  trunk_rate: %v", w.of("link_rate", rates...), w.of("trunk_rate", rates...))
	delays := []any{"10ns", "200ns", "1us", "5us", "20us"}
	w.p("  host_delay: %v\n  trunk_delay: %v", w.of("host_delay", delays...), w.of("trunk_delay", delays...))
	w.p("  payload: %vB\n  mtu: 1500B\n  priority: 3", w.of("payload", 100, 256, 1000, 1024, 1400))
	w.p("  buffer: %vMB", w.of("buffer", 4, 12, 40))
	w.some("start_phase", "0s")
	w.some("overhead", 4, 20, 38)
	w.some("paths", "flow", "round_robin", "random", "queue")
	w.some("ack_each", true)
	w.some("ack_priority", 3, 1)
	w.some("np_delay", "500ns")
	w.some("recovery", "selective")
	w.some("path_weights", "capacity")
	w.some("entropy", "packet")
	w.some("convergence", "30us")
	if w.n("credits", 0, 4) == 0 {
		w.p("  flow_control: credits\n  lane_buffer: %v", w.of("lane_buffer", "4KB", "50KB", "128KB"))
		return
	}
	w.p("  xoff: %vB", w.of("xoff", 3000, 20_000, 100_000, 500_000))
	w.some("alpha", 0.02, 0.125, 1, 8)
	w.some("pause_delay", "1us")
	switch w.n("lossless", 0, 4) {
	case 0:
		if w.ends {
			break // senders that lose much may take very long
		}
		w.p("  lossless: {value: [], source: drawn}")
		w.some("lossy_queue", "20KB", "200KB")
		w.some("lossy_alpha", 0.5, 2)
		w.some("lossy_ingress", "100KB")
	case 1:
		w.p("  lossless: {value: [3, 4], source: drawn}")
	}
}

func (w *writer) flows(hosts []string) {
	w.p("flows:")
	for i := range w.n("groups", 1, 5) {
		cut := w.n("cut", 1, len(hosts)-1) // those before it send to those from it on, or the other way round
		pick := func(among []string) string {
			first := w.n("first", 0, len(among)-1)
			if last := w.n("last", first, len(among)-1); last > first {
				return among[first] + ".." + among[last]
			}
			return among[first]
		}
		from, to := pick(hosts[:cut]), pick(hosts[cut:])
		if w.is("back") {
			from, to = to, from
		}
		f := fmt.Sprintf("name: g%d, from: %s, to: %s, start: %dus", i, from, to, w.n("start", 0, 60))
		switch waits := i > 0 && w.n("waits", 0, 3) == 0; {
		case waits:
			what := w.of("what", "end", "start", "acknowledged", "20KB")
			f += fmt.Sprintf(", size: 30KB, after: {flows: g%d, at: %v}", w.n("after", 0, i-1), what)
		case !w.ends && w.is("long"):
			f += w.of("until", "", ", stop: 120us", ", lasts: 50us").(string)
		default:
			f += fmt.Sprintf(", size: %v", w.of("size", "1B", "1KB", "30KB", "400KB"))
			again := []any{"", ", step: 3us", ", spread: 50us", ", repeat: 3, gap: 2us"}
			if !w.ends {
				again = append(again, ", every: 30us")
			}
			f += w.of("again", again...).(string)
		}
		f += w.of("else", "", "", "", ", count: 3", ", rate: 3Gbps", ", dscp: 8", ", weight: 2").(string)
		w.p("  - {%s}", f)
	}
	if w.is("a workload") {
		w.p("workloads:\n  - {name: w, sizes: pareto, mean: 20KB, shape: 1.2, from: \"*\", to: \"*\", load: 0.4,")
		w.p("     capacity: 100Gbps, end: 200us%v}", w.of("kind", "", "", ", messages: true"))
	}
	if w.is("a collective") {
		do := w.of("do", "all-reduce, channels: 2", "all-to-all, window: 2", "all-gather, repeat: 2",
			"broadcast, chunks: 3")
		w.p("collectives:\n  - {name: c, do: %v, hosts: \"*\", size: 100KB}", do)
	}
}

// scheme writes one, some of whose parameters are larger or smaller than they are by themselves.
func (w *writer) scheme(name string) {
	s, err := scheme.Get(name)
	if err != nil {
		w.Fatal(err)
	}
	w.p("schemes:\n  - name: %s\n    params:", name)
	for _, p := range s.Params {
		parts := aNumber.FindStringSubmatch(p.Default)
		if parts == nil || w.ends || w.n("other "+p.Name, 0, 5) > 0 {
			continue
		}
		number, err := strconv.ParseFloat(parts[1], 64)
		if err != nil {
			w.Fatal(err)
		}
		if number *= w.of("times", 0.25, 0.5, 2.0, 8.0).(float64); parts[2] == "" && !strings.Contains(p.Default, ".") {
			number = math.Ceil(number)
		}
		text := strconv.FormatFloat(number, 'f', -1, 64) + parts[2]
		w.p("      %s: {value: %q, source: drawn}", p.Name, text)
	}
}

var aNumber = regexp.MustCompile(`^([0-9.]+)([a-zA-Z/%]*)$`)

// events changes links, and impairs one.
func (w *writer) events() {
	if len(w.links) == 0 {
		return
	}
	link := func() string { return rapid.SampledFrom(w.links).Draw(w.T, "link") }
	if w.is("changes") {
		w.p("events:")
		for range w.n("changes", 1, 2) {
			name, at := link(), w.n("at", 10, 80)
			rate := "1Gbps"
			if !strings.Contains(name, "H") && w.is("fails") {
				rate = "0bps"
			}
			w.p("  - {at: %dus, link: %s, rate: %s}", at, name, rate)
			then := w.of("rate then", "10Gbps", "25Gbps", "100Gbps")
			w.p("  - {at: %dus, link: %s, rate: %v}", at+w.n("for", 1, 60), name, then)
		}
	}
	if w.is("impaired") {
		rules := []any{"do: delay, rate: 0.1, by: 3us", "do: mark, rate: 0.2",
			"do: pause, priority: 3, every: 20us, stop: 90us"}
		if !w.ends {
			rules = append(rules, "do: lose, rate: 0.01", "do: lose, frames: ack, rate: 0.1",
				"do: duplicate, rate: 0.02", "do: reorder, rate: 0.01, behind: 2")
		}
		w.p("impair:\n  - {link: %s, rules: [{%v}]}", link(), w.of("rule", rules...))
	}
}
