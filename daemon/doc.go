// Package daemon is a switch or an agent that runs on devices until it is asked to
// stop: it opens what a configuration names, adds the node to a world of DPDK, answers
// commands (telemetry/admin), watches links, storms and losses while the workers
// poll, applies changed configurations and, at the end, empties the queues. Commands and their flags are cmd/photon's.
//
// The files, in the order in which a daemon passes them:
//
//	doc.go                                     the options, and which kind of daemon it is
//	switch.go, agent.go, nic.go                what is made of a configuration
//	open.go, flowcontrol.go                    devices are opened, and asked what they do with pauses
//	serve.go                                   the node runs, and is asked to stop
//	sockets.go, notify.go                      where it can be asked; systemd is notified
//	admin.go, snapshot.go, past.go, survey.go  what it answers: all counters, what happened, rates of flows
//	capture.go, clear.go                       frames of a port are copied; watermarks are reset
//	wall.go                                    what instants of the node's clock are by the wall's
//	watch.go, links.go, losses.go              what is looked at regularly: devices, storms and deadlocks; links; losses
//	lldp.go, sflow.go                          what is sent to neighbours and to a collector
//	collect.go                                 garbage is collected while the peers are paused
//	reload.go, move.go, port.go, names.go      another configuration; ports that come and go, are shut, and their names
//	impair.go                                  damage on purpose changes, too
//	traffic.go                                 flows that an agent is to send
//	testbed.go                                 the node as part of a testbed
//	drain.go                                   the end: queues are emptied
package daemon

import (
	"context"
	"io"

	"photon/config"
)

// Options are chosen by the caller that starts a daemon.
type Options struct {
	Log     io.Writer // where its log goes
	Verbose bool      // log requests, too
	JSON    bool      // log one JSON object a line
	Version string    // of the program, as metrics report it
}

// Refusal is an error of a configuration, or of what is missing on this machine: a
// mistake of the user. Nothing was started.
type Refusal struct{ error }

// Unwrap returns what is wrong.
func (r Refusal) Unwrap() error { return r.error }

// refused marks an error as a mistake of the user, for exit code 2.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return Refusal{err}
}

// Agent is an agent, or a NIC for applications, whichever the configuration is of, until
// the context ends.
func Agent(ctx context.Context, o Options, conf *config.Agent) error {
	if conf.IsNIC() {
		return runNIC(ctx, o, conf)
	}
	return runAgent(ctx, o, conf)
}
