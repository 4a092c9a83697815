// Package daemon is a switch or an agent that runs on devices until it is told to
// stop: it opens what a configuration names, adds the node to a world of DPDK, answers
// who asks it and takes orders (telemetry/admin), looks after links, storms and losses
// while the workers poll, takes over changed configurations and, at the end, lets
// the queues run empty. Commands and their flags are cmd/photon's.
package daemon

import (
	"context"
	"io"

	"photon/config"
)

// Options are what whoever starts a daemon decides.
type Options struct {
	Log     io.Writer // where its log goes
	Version string    // of the program, which metrics tell
}

// Refusal is an error of a configuration, or of what is not there on this machine: its
// reader's to mend. Nothing was started.
type Refusal struct{ error }

// Unwrap returns what is wrong.
func (r Refusal) Unwrap() error { return r.error }

// refused marks an error as the reader's to mend.
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
