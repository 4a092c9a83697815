package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"photon/lab/experiment"
	"photon/lab/live"
	"photon/lab/web/site"
	"photon/telemetry/page"
	"photon/telemetry/page/address"
)

// defaultPage is where --serve serves.
const defaultPage = "127.0.0.1:9470"

// pageFlags are those of a page that shows replays while they run.
type pageFlags struct {
	address string // empty: none
	remote  bool
	stay    time.Duration // after the end
}

// untilInterrupted keeps the page until Ctrl-C.
const untilInterrupted time.Duration = -1

func (p *pageFlags) add(f *pflag.FlagSet) {
	f.StringVar(&p.address, "serve", "", "Show the runs on a page while they run, at this `address`, and until Ctrl-C after that")
	f.Lookup("serve").NoOptDefVal = defaultPage
	f.BoolVar(&p.remote, "serve-remote", false, "Allow an address other than loopback, where others can look too")
	f.DurationVar(&p.stay, "serve-for", untilInterrupted, "Keep the page for this `time` after the end (default: until Ctrl-C)")
	f.Lookup("serve-for").DefValue = "0s" // which the help leaves out
}

// isAddress reports whether an argument is an address, which belongs to --serve=.
func (p *pageFlags) isAddress(argument string) bool {
	_, _, err := net.SplitHostPort(argument)
	return p.address != "" && err == nil
}

// check says what is wrong with the flags.
func (p *pageFlags) check() error {
	if p.address == "" {
		if p.remote || p.stay != untilInterrupted {
			return errors.New("--serve-remote and --serve-for go with --serve")
		}
		return nil
	}
	if p.stay < 0 && p.stay != untilInterrupted {
		return fmt.Errorf("--serve-for %v must not be negative", p.stay)
	}
	err := address.Check(p.address, p.remote)
	if errors.Is(err, address.ErrOpen) {
		return fmt.Errorf("--serve: %w (--serve-remote allows that)", err)
	}
	if err != nil {
		return fmt.Errorf("--serve: %w", err)
	}
	return nil
}

// serve serves the page of replays if --serve is given. The caller calls stay when they have ended: it
// keeps the page up as long as --serve-for says, and returns the error it was given.
func (p *pageFlags) serve(c *cobra.Command, all []*experiment.Experiment, show *progressLine) (b *live.Status, stay func(error) error, err error) {
	if p.address == "" {
		return nil, func(err error) error { return err }, nil
	}
	var ids []string
	for _, e := range all {
		ids = append(ids, e.ID)
	}
	what := strings.Join(ids, " ")
	if len(ids) > 4 {
		what = fmt.Sprintf("%d experiments", len(ids))
	}
	b = live.NewStatus(what, all, show.status)
	s, err := page.Listen(p.address)
	if err != nil {
		return nil, nil, bad(fmt.Errorf("%w (--serve=127.0.0.1:0 takes any port that is free)", err))
	}
	s.Serve(site.Of(b))
	fmt.Fprintf(c.ErrOrStderr(), "live page: %s\n", s.URL())
	return b, func(err error) error {
		defer s.Close()
		b.End(err)
		if err != nil || c.Context().Err() != nil {
			return err
		}
		var over <-chan time.Time // never
		if p.stay != untilInterrupted {
			over = time.After(p.stay)
		} else {
			fmt.Fprintf(c.ErrOrStderr(), "the page stays at %s until Ctrl-C\n", s.URL())
		}
		select {
		case <-over:
		case <-c.Context().Done():
		}
		return nil
	}, nil
}
