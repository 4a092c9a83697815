//go:build dpdk

package lab

import "testing"

// A flow of TIMELY that has a line to itself keeps it: its round trips do not change, and one of a lower priority gets
// nothing. A clock whose steps are a part of a packet that such schemes notice has them change on DPDK.
func TestWorldsAgreeAboutRoundTripsThatDoNotChange(t *testing.T) {
	worldsAgreeWithin(t, 0.02, `
id: test/steps
title: a flow of a higher priority at the line's rate
duration: 300us
topology: {kind: star, hosts: 2}
parameters:
  {link_rate: 100Gbps, host_delay: 500ns, trunk_delay: 5us, payload: 1400B, mtu: 1500B, priority: 0, xoff: 250KB,
   buffer: 16MB, start_phase: 200ns}
flows:
  - {name: low, from: H1, to: H0, start: 66us}
  - {name: high, from: H1, to: H0, start: 58us, dscp: 34}
schemes: [timely]
measure:
  sample: 2us
  probes: [{name: high, kind: received, flows: [high]}]
  metrics: [{name: high_bytes, do: last, of: high}]
`)
}

// So it is with PowerTCP, which goes by how fast queues grow.
func TestWorldsAgreeAboutQueuesThatGrow(t *testing.T) {
	worldsAgreeWithin(t, 0.04, `
id: test/power
title: flows of three priorities
duration: 1500us
topology: {kind: compact, bursters: 2}
parameters:
  {link_rate: 25Gbps, trunk_rate: 25Gbps, host_delay: 5us, trunk_delay: 1us, payload: 500B, mtu: 1500B, priority: 5,
   flow_control: credits, lane_buffer: 64KB, buffer: 16MB}
flows:
  - {name: g0, from: 'R1,H0', to: R0, start: 119us, dscp: 10}
  - {name: g1, from: H2, to: H3, start: 201us, stop: 1263us}
  - {name: g2, from: H0, to: H3, start: 15us, dscp: 34}
  - {name: g3, from: 'R1,R0', to: H1, size: 54506B, start: 283us, dscp: 26}
schemes: [powertcp]
measure:
  sample: 2us
  probes: [{name: queue, kind: queue, at: ['*']}]
  metrics: [{name: queue_bytes, do: max, of: queue}]
`)
}
