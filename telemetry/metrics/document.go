package metrics

import (
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"photon/dataplane"
	"photon/impair"
	"photon/lldp"
)

// Series says what has series of its own where not everything can.
type Series struct {
	Flows      int   // so many of an agent's fastest flows
	Priorities uint8 // as bits
}

// AllPriorities have series if nothing else is said.
const AllPriorities = 0xFF

// size is how many series a node can have at most.
type size struct{ fixed, port, prio, worker, flow int }

// sizeOf adds up what the table says.
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
			values = int(dataplane.CNPRefusals)
		case slices.Contains(m.labels, "reason"):
			values = int(dataplane.Reasons)
		case slices.Equal(m.labels, withDone):
			values = int(impair.Actions)
		case slices.Equal(m.labels, withFeature):
			values = int(lldp.Features)
		case slices.Equal(m.labels, byState):
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

// most is how many series that makes.
func (n size) most(ports, workers int, s Series) int {
	return ports*(bits.OnesCount8(s.Priorities)*n.prio+n.port) + workers*n.worker + s.Flows*n.flow + n.fixed
}

// Most is how many series an agent, or a switch, can have at most, those of the Go
// runtime and the process excepted.
func Most(agent bool, ports, workers int, s Series) int {
	of := switches
	if agent {
		of = hosts
	}
	return sizeOf(of).most(ports, workers, s)
}

// Metric is what can be known of one without scraping it.
type Metric struct {
	Name, Type, Help string
	Switch, Agent    bool // have it; an agent that is no NIC
}

// All are all that switches and agents have.
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
	for r := range dataplane.Reasons {
		fmt.Fprintf(&b, "| `%v` | %s |\n", r, r.Explain())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// formula is size for readers.
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

Written by ` + "`photon list metrics --markdown`" + `; a test holds it to what a scrape says.

A switch or agent answers on ` + "`http://127.0.0.1:9464/metrics`" + ` (` + "`metrics:`" + ` in its file; ` + "`off`" + ` for none) in Prometheus' format. Units are
bytes and seconds, bytes of frames are without FCS unless it says "on the wire" (24 bytes a frame more: preamble, FCS, gap). Counters count
from the start of the process. rx is what came in or what the peer did, tx what went out or what this port did. All numbers of a
scrape are of one instant, but for flows, which are asked one after the other.

## How many series

| | series at most | example |
|---|---|---|
| switch | %s | 4 ports: %d |
| agent | %s | 10 flows: %d |

and those of the Go runtime and the process. Nothing else makes series: no address, no flow beyond the number asked for. Two keys of switch.yaml and agent.yaml bound them:

` + "```" + `yaml
series:
  priorities: [3, 6] # only these have series; all 8 without
  flows: 10          # so many of the fastest flows have series of their own; 0 without; agents only
` + "```" + `

What has no series is counted all the same, and ` + "`photon show`" + ` has it. The flows that are fastest change, and Prometheus keeps what it once saw:
` + "`flows`" + ` is for few and long ones, ` + "`photon_rp_rate_bytes_per_second`" + ` tells of all.

## What a scrape costs

The workers rest between two polls while the counters are copied; making text of them is up to another thread, and nothing
is locked. [operate.md](operate.md#what-it-costs) has the figures.
`
