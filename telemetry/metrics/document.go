package metrics

import (
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"photon/dataplane"
	"photon/fabric"
	"photon/impair"
	"photon/lldp"
	"photon/pfc"
)

// Series limits what has series of its own.
type Series struct {
	Flows      int   // as many of an agent's fastest flows
	Priorities uint8 // as bits
}

// AllPriorities is the default: every priority has series.
const AllPriorities = 0xFF

// size counts the series that a node can have at most: in all, and for each port, port and priority,
// worker and flow.
type size struct{ fixed, port, prio, worker, flow int }

// sizeOf adds up the table.
func sizeOf(of owner) (n size) {
	for _, m := range metrics {
		if !of.has(m.of) {
			continue
		}
		values := 1
		switch {
		case m.buckets != nil:
			values = len(m.buckets) + 3 // +Inf, sum and count
		case slices.Contains(m.labels, "reason") && !slices.Contains(m.labels, "priority"):
			values = int(fabric.CNPRefusals)
		case slices.Contains(m.labels, "reason"):
			values = int(fabric.Reasons)
		case slices.Equal(m.labels, byImpairment):
			values = int(impair.Actions)
		case slices.Equal(m.labels, byFeature):
			values = int(lldp.Features)
		case slices.Equal(m.labels, byWatchdogAction):
			values = len(pfc.WatchdogCounters{}.Under)
		case slices.Equal(m.labels, byNeighbourState):
			values = len(dataplane.NeighbourStates)
		}
		if slices.Contains(m.labels, "direction") {
			values *= 2
		}
		switch {
		case slices.Contains(m.labels, "priority"):
			n.prio += values
		case slices.Contains(m.labels, "port"):
			n.port += values
		case slices.Contains(m.labels, "worker"):
			n.worker += values
		case slices.Contains(m.labels, "qp"):
			n.flow += values
		default:
			n.fixed += values
		}
	}
	return n
}

// most multiplies a size by what a node has.
func (n size) most(ports, workers int, s Series) int {
	return ports*(bits.OnesCount8(s.Priorities)*n.prio+n.port) + workers*n.worker + s.Flows*n.flow + n.fixed
}

// Most returns the most series that an agent or a switch can have, without those of the Go runtime and
// the process.
func Most(agent bool, ports, workers int, s Series) int {
	of := switches
	if agent {
		of = hosts
	}
	return sizeOf(of).most(ports, workers, s)
}

// Metric describes a metric without scraping it.
type Metric struct {
	Name, Type, Help string
	Switch, Agent    bool // have it; an agent that is no NIC
}

// All returns the metrics of switches and agents.
func All() (all []Metric) {
	for _, m := range metrics {
		all = append(all, Metric{m.name, string(m.kind), m.help, switches.has(m.of), hosts.has(m.of)})
	}
	return all
}

// Document writes docs/metrics.md.
func Document(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, metricsHead, formula(sizeOf(switches)), Most(false, 4, 1, Series{0, AllPriorities}), formula(sizeOf(hosts)), Most(true, 1, 1, Series{10, AllPriorities}))
	for _, m := range metrics {
		if title := sections[m]; title != "" {
			fmt.Fprintf(&b, "\n## %s\n\n| metric | type | of | labels | what it is | elsewhere |\n|---|---|---|---|---|---|\n", title)
		}
		of := map[owner]string{both: "both", switches: "switch", hosts: "agent", nics: "agent as NIC", carriers: "switch, agent as NIC", senders: "agent, not as NIC"}[m.of]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", m.name, m.kind, of, strings.Join(m.labels, ", "), m.help, m.known)
	}
	b.WriteString("\n## Reasons of discards\n\n| `reason` | what happened |\n|---|---|\n")
	for r := range fabric.Reasons {
		fmt.Fprintf(&b, "| `%v` | %s |\n", r, r.Explain())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// formula prints a size for readers.
func formula(n size) string {
	var parts []string
	add := func(text string, factor int) {
		if factor > 0 {
			parts = append(parts, fmt.Sprintf(text, factor))
		}
	}
	add("ports x priorities x %d", n.prio)
	add("ports x %d", n.port)
	add("workers x %d", n.worker)
	add("flows x %d", n.flow)
	add("%d", n.fixed)
	return strings.Join(parts, " + ")
}

const metricsHead = `# Metrics

For those who scrape a switch or agent, or write queries and alerts. After this page you know what each metric
is, and how many series to expect. ` + "`photon list metrics --markdown`" + ` writes it.

A switch or agent serves ` + "`http://127.0.0.1:9464/metrics`" + ` (` + "`metrics: ADDRESS`" + ` in its file; ` + "`off`" + ` for none).
Bytes are without FCS, or "on the wire", with 24 more per frame (preamble, FCS, gap). *rx* is what a port
received or its peer did; *tx* is what it sent or did itself. All numbers of a scrape are of one instant,
except those of flows. [What a scrape costs](operate.md#what-it-costs).

## How many series

| | series at most | example |
|---|---|---|
| switch | %s | 4 ports: %d |
| agent | %s | 10 flows: %d |

Go's runtime and the process add theirs; addresses make none. These keys of a switch or agent set limits:

` + "```" + `yaml
series:
  priorities: [3, 6] # only these have series; by default all 8
  flows: 10          # the fastest flows get series of their own; by default none; agents only
` + "```" + `

` + "`photon show`" + ` also has what has no series. The fastest flows change, and Prometheus keeps old series: use
` + "`flows`" + ` for few long flows, and ` + "`photon_rp_rate_bytes_per_second`" + ` for all.
`
