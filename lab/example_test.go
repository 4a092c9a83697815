package lab_test

import (
	"context"
	"fmt"
	"photon/lab/experiment"
	"photon/lab/run"
)

const incast = `
id: example/incast
title: Four senders, one receiver
duration: 5ms
topology: {kind: star, hosts: 5}
parameters:
  link_rate: {value: 10Gbps, source: the example}
  host_delay: {value: 1us, source: the example}
  trunk_delay: {value: 1us, source: there is none}
  payload: {value: 1000B, source: the example}
  mtu: {value: 1500B, source: Ethernet}
  priority: {value: 3, source: RoCE's usual}
  xoff: {value: 50KB, source: the example}
  xon: {value: 47KB, source: the example}
  buffer: {value: 9MB, source: the example}
flows:
  - {name: burst, from: H0..H3, to: H4, size: 500KB}
schemes: [{name: none}, {name: pcn}]
measure:
  sample: 10us
  probes:
    - {name: xoffs, kind: xoffs, at: [S0]}
  metrics:
    - {name: xoffs, do: delta, of: xoffs}
    - {name: completed, do: completed, flows: [burst]}
`

// An experiment is read, run in virtual time, and gives the same numbers everywhere.
func Example() {
	e, err := experiment.Parse("incast.yaml", []byte(incast))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := run.Replay(context.Background(), e, run.Options{World: "sim"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, one := range r.Runs {
		fmt.Printf("%s: %v of 4 flows ended, %v XOFF, lost %d\n", one.Scheme, *one.Metrics["completed"], *one.Metrics["xoffs"], one.Invariants.LostFrames)
	}
	// Output:
	// none: 4 of 4 flows ended, 209 XOFF, lost 0
	// pcn: 4 of 4 flows ended, 5 XOFF, lost 0
}
