//go:build dpdk && conformance

package main

import (
	"fmt"
	"testing"
	"time"

	"photon/pfc"
	"photon/telemetry/show"
)

// guarded is a switch with a watchdog that does something about storms. A pause lasts for a third of a second.
func guarded(t *testing.T, action string) *operated {
	t.Helper()
	return operate(t, "rate: 100Mbps\npfc: {priorities: [3, 4], xoff: 20KB, headroom: 200KB, watchdog: {detect: 400ms, restore: 400ms, action: "+action+"}}\n")
}

func watchdogRows() []conformanceRow {
	const function = "SONiC tests/pfcwd/test_pfcwd_function.py, "
	return []conformanceRow{
		{
			name: "pfcwd-detect", source: function + "detection; docs/pfcwd/PFCWD_BASIC.md",
			asserts: "A queue that is paused without a break is found, with and without frames in it, and no sooner than the detection time.",
			check: func(t *testing.T) {
				o := guarded(t, "drop")
				begin := time.Now()
				quiet := o.storms(0, 3)
				o.stormed("sw0", 3)
				if took := time.Since(begin); took < 400*time.Millisecond {
					t.Errorf("found after %v", took)
				}
				quiet()
				o.restored("sw0", 3)
				o.stops(0, 4)
				o.sends(1, 0, 5, 500, 34)
				again := o.storms(0, 4)
				o.stormed("sw0", 4)
				again()
			},
		},
		{
			name: "pfcwd-drop-egress", source: function + "action drop, frames for the queue",
			asserts: "With `drop`, what waits in the stormed queue and what comes for it is discarded and counted, and nothing of it arrives.",
			check: func(t *testing.T) {
				o := guarded(t, "drop")
				o.storms(0, 3)
				o.stormed("sw0", 3)
				before := o.watchdogOf("sw0", 3).Dropped
				o.sends(1, 0, 50, 500, 26)
				wants(t, "frames that arrive", len(o.receivedUntilSentinel(1, 0, isUDP(26))), 0)
				wants(t, "frames counted", o.watchdogOf("sw0", 3).Dropped-before, 50)
			},
		},
		{
			name: "pfcwd-drop-ingress", source: function + "action drop, frames from the port",
			asserts: "With `drop_both`, what the stormed port's peer sends of this priority is discarded and counted, too; of another it arrives.",
			check: func(t *testing.T) {
				o := guarded(t, "drop_both")
				o.storms(0, 3)
				o.stormed("sw0", 3)
				before := o.watchdogOf("sw0", 3).Dropped
				o.sends(0, 2, 50, 500, 26, 34)
				got := o.receivedUntilSentinel(0, 2, tests)
				wants(t, "frames of the stormed priority", count(got, 26), 0)
				wants(t, "frames of another", count(got, 34), 50)
				wants(t, "frames counted", o.watchdogOf("sw0", 3).Dropped-before, 50)
			},
		},
		{
			name: "pfcwd-forward", source: function + "action forward",
			asserts: "With `forward`, frames of the stormed queue arrive in spite of the pauses, those that waited among them.",
			check: func(t *testing.T) {
				o := guarded(t, "forward")
				o.storms(0, 3)
				o.until("a pause", func() bool {
					var c show.PFC
					o.show("pfc counters", &c)
					return c.Ports[0].Rx[3] > 0
				})
				o.sends(1, 0, 5, 500, 26)
				o.stormed("sw0", 3)
				o.sends(1, 0, 50, 500, 26)
				wants(t, "frames that arrive", len(o.arrives(0, 55)), 55)
			},
		},
		{
			name: "pfcwd-restore", source: function + "restoration",
			asserts: "When the pauses end the queue is restored, with `drop`, `drop_both` and `forward`: all frames arrive, and pauses count again.",
			check: func(t *testing.T) {
				for _, action := range []string{"drop", "drop_both", "forward"} {
					t.Run(action, func(t *testing.T) {
						o := guarded(t, action)
						quiet := o.storms(0, 3)
						o.stormed("sw0", 3)
						quiet()
						o.restored("sw0", 3)
						o.sends(1, 0, 50, 500, 26)
						o.sends(0, 1, 50, 500, 26)
						o.arrives(0, 50)
						o.arrives(1, 50)
						o.stops(0, 3)
						o.control(0, pfcFrame(0, 1<<3, 0))
					})
				}
			},
		},
		{
			name: "pfcwd-other-queue", source: function + "other queues; docs/PFCWD-test-plan.md, two senders and two receivers",
			asserts: "A storm in one priority of a port takes nothing from the port's other lossless priority, nor from the same one of other ports.",
			check: func(t *testing.T) {
				o := guarded(t, "drop")
				o.storms(0, 3)
				o.stormed("sw0", 3)
				for range 5 {
					o.sends(1, 0, 20, 500, 34)
					o.sends(1, 2, 20, 500, 26)
					o.sends(3, 2, 20, 500, 26)
				}
				wants(t, "frames of the other priority", len(o.arrivesOf(0, 34, 100)), 100)
				wants(t, "frames at another port", len(o.arrives(2, 200)), 200)
				wants(t, "status of the other queue", o.watchdogOf("sw0", 4).Storms+o.watchdogOf("sw2", 3).Storms, 0)
			},
		},
		{
			name: "pfcwd-no-pfc", source: "SONiC docs/pfcwd/PFCWD_BASIC.md, mitigation: no pause upstream for the stormed queue",
			asserts: "A storm that is dropped stops its senders no more: the XOFF that it caused is taken back, and they may send as much as they like.",
			check: func(t *testing.T) {
				o := guarded(t, "drop")
				o.hosts[1].Flush()
				o.stops(0, 3)
				o.sends(1, 0, 30, 1000, 26)
				if q := o.pausesReceived(1, 3); len(q) == 0 || q[len(q)-1] == 0 {
					t.Errorf("before: %v", q)
				}
				o.storms(0, 3)
				o.stormed("sw0", 3)
				if q := o.pausesReceived(1, 3); len(q) == 0 || q[len(q)-1] != 0 {
					t.Errorf("at the storm: %v", q)
				}
				o.sends(1, 0, 100, 1000, 26)
				wants(t, "PFC frames after it", len(o.pausesReceived(1, 3)), 0)
			},
		},
		{
			name: "pfcwd-all-ports", source: "SONiC tests/pfcwd/test_pfcwd_all_port_storm.py",
			asserts: "Storms at all ports at once are found and restored at each; then frames pass between all.",
			check: func(t *testing.T) {
				o := guarded(t, "drop")
				var quiet []func()
				for host := range 4 {
					quiet = append(quiet, o.storms(host, 3))
				}
				for host := range 4 {
					o.stormed(fmt.Sprintf("sw%d", host), 3)
				}
				for _, end := range quiet {
					end()
				}
				for host := range 4 {
					o.restored(fmt.Sprintf("sw%d", host), 3)
				}
				for host := range 4 {
					o.sends((host+1)%4, host, 10, 500, 26)
					o.arrives(host, 10)
				}
			},
		},
		{
			name: "pfcwd-no-storm", source: function + "pauses that are no storm",
			asserts: "Pauses, each taken back, for longer than the detection time together, are no storm, and lose nothing.",
			check: func(t *testing.T) {
				o := guarded(t, "drop")
				for begin := time.Now(); time.Since(begin) < 1200*time.Millisecond; {
					o.hosts[0].Send(pfcFrame(0, 1<<3, pfc.MaxQuanta))
					o.sends(1, 0, 1, 500, 26)
					o.hosts[0].Send(pfcFrame(0, 1<<3, 0))
					time.Sleep(5 * time.Millisecond)
				}
				o.resumes(0, 3)
				q := o.watchdogOf("sw0", 3)
				wants(t, "storms", q.Storms, 0)
				wants(t, "drops", q.Dropped, 0)
			},
		},
		{
			name: "pfcwd-lossy", source: "SONiC tests/pfcwd/test_pfc_config.py: lossless queues alone are watched",
			asserts: "Pauses without end for lossy priorities are no storm.",
			check: func(t *testing.T) {
				o := guarded(t, "drop")
				o.storms(0, 0, 1, 2, 5, 6, 7)
				for begin := time.Now(); time.Since(begin) < time.Second; {
					o.sends(1, 0, 5, 500, 8, 26, 34)
					got := o.receivedUntilSentinel(1, 0, tests)
					for len(got) < 15 { // lossless ones may be on their way
						got = append(got, o.hosts[0].Collect(10*time.Millisecond, tests)...)
					}
				}
				wants(t, "storms", o.watchdogOf("sw0", 3).Storms+o.watchdogOf("sw0", 4).Storms, 0)
			},
		},
		{
			name: "pfcwd-alert", source: "SONiC tests/pfcwd/test_pfcwd_cli.py, action alert",
			asserts: "With `alert` a storm is counted, and the pauses are obeyed: what waits arrives when they end.",
			check: func(t *testing.T) {
				o := guarded(t, "alert")
				quiet := o.storms(0, 3)
				o.stormed("sw0", 3)
				o.sends(1, 0, 10, 500, 26)
				wants(t, "frames during the storm", len(o.receivedUntilSentinel(1, 0, isUDP(26))), 0)
				quiet()
				wants(t, "frames after it", len(o.arrives(0, 10)), 10)
				wants(t, "drops", o.watchdogOf("sw0", 3).Dropped, 0)
			},
		},
	}
}
