//go:build dpdk

package lab

import (
	"fmt"
	"testing"
)

// Packets of hosts whose links are as fast as the bottleneck's arrive when it has just sent one. In both worlds they
// are in its queue then, and what leaves it is judged with them: as many packets are marked, and the queue is as long.
func TestWorldsAgreeAboutWhatComesAtOnce(t *testing.T) {
	const text = `
id: test/ties
title: hosts at the rate of the bottleneck
duration: 200us
topology: {kind: star, hosts: 5}
parameters:
  {link_rate: 50Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1300B, mtu: 1500B, priority: 3, xoff: 1MB,
   buffer: 16MB, start_phase: %s}
schemes: [ibcc, pcn]
flows: [{name: all, from: H0..H3, to: H4, start: 5us}]
measure:
  sample: 1us
  probes:
    - {name: queue, kind: queue, at: [S0>H4]}
    - {name: marked, kind: marked, at: [S0>H4]}
  metrics:
    - {name: queue_bytes, do: mean, of: queue}
    - {name: marks, do: delta, of: marked}
`
	for _, phase := range []string{"0s", "1us"} {
		worldsAgreeWithin(t, 0.02, fmt.Sprintf(text, phase))
	}
}

// A port that passes on frame after frame, none of which waits, also does what is due: here it lets delayed frames of
// its peer go on, which the senders would repeat if they came later.
func TestWorldsAgreeAboutWhatIsDueAtABusyPort(t *testing.T) {
	worldsAgreeWithin(t, 0.02, `
id: test/due
title: delayed frames behind a port that is busy with those of one sender
duration: 1ms
topology: {kind: dumbbell, pairs: 1}
parameters:
  {link_rate: 25Gbps, trunk_rate: 40Gbps, host_delay: 1us, trunk_delay: 5us, payload: 8192B, mtu: 9000B, priority: 3,
   xoff: 500KB, buffer: 16MB}
schemes: [none]
flows:
  - {name: two, from: H0, to: R0, size: 1MB, start: 20us, count: 2}
  - {name: back, from: R0, to: H0}
impair: [{link: H0>S0, rules: [{do: delay, rate: 0.1, by: 3us}]}]
measure:
  sample: 1us
  probes: [{name: got, kind: received, flows: [two]}, {name: again, kind: sending, flows: [two]}]
  metrics:
    - {name: got_bytes, do: delta, of: got}
    - {name: sent_bytes, do: delta, of: again}
`)
}

// A flow is stopped, and another gets another rate, when the file says so, in both worlds: not when the next sample is
// due.
func TestWorldsAgreeWhenEventsHappen(t *testing.T) {
	worldsAgreeWithin(t, 0.03, `
id: test/events
title: events between two samples
duration: 500us
topology: {kind: star, hosts: 3}
parameters:
  {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 1MB,
   buffer: 9MB}
flows:
  - {name: stopped, from: H0, to: H2, stop: 120us}
  - {name: slowed, from: H1, to: H2}
events: [{at: 210us, flow: slowed, rate: 1Gbps}]
schemes: [none]
measure:
  sample: 100us
  probes:
    - {name: stopped, kind: sending, flows: [stopped]}
    - {name: slowed, kind: sending, flows: [slowed]}
  metrics:
    - {name: stopped_bytes, do: last, of: stopped}
    - {name: slowed_bytes, do: last, of: slowed}
`)
}
