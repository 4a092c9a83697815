package daemon

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/units"
)

// loaded is a switch's configuration as it is in force, and where it comes from.
type loaded struct {
	sync.Mutex
	conf    *config.Switch
	devices []dpdk.Device                  // by the places of their ports
	again   func() (*config.Switch, error) // nil: it does not come from a file
	ending  bool                           // the switch drains, or has: it stays as it is
}

// errEnding refuses changes of a switch that is about to end.
var errEnding = errors.New("this switch is stopping: nothing changes any more")

// change takes the locks of the switch's configuration and links, until end is called.
func (d *daemon) change() (end func(), err error) {
	d.links.Lock() // before what is loaded: as who looks at the links
	d.loaded.Lock()
	end = func() {
		d.loaded.Unlock()
		d.links.Unlock()
	}
	if d.loaded.ending {
		end()
		return nil, errEnding
	}
	return end, nil
}

// reload takes over the changed configuration file and says what changed in
// it, or why nothing did.
func (d *daemon) reload() (lines []string, err error) {
	if d.sw == nil {
		return nil, errors.New("an agent cannot change while it runs: restart it")
	}
	end, err := d.change()
	if err != nil {
		return nil, err
	}
	defer end()
	l := &d.loaded
	if l.again == nil {
		return nil, errors.New("this switch was started without a file: there is nothing to read again")
	}
	conf, err := l.again()
	if err != nil {
		return nil, err
	}
	return d.takeOver(conf)
}

// takeOver applies another configuration, and says what it changed. If anything is wrong, nothing changes. The
// caller holds the locks of the links and of what is loaded.
func (d *daemon) takeOver(conf *config.Switch) (lines []string, err error) {
	l := &d.loaded
	changes, err := l.conf.Changes(conf)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	m, err := d.prepareMove(conf)
	if err != nil {
		return nil, err
	}
	node, change, err := d.prepare(conf, m, config.SchemeChanged(changes))
	if err != nil {
		m.undo(d)
		return nil, err
	}
	was, line := l.conf, d.line
	d.unplug(m)
	spoil := d.prepareImpair(conf)
	d.world.DoBriefly(func(now units.Time) {
		copy(d.workers, node.Workers) // of ports that come; an impaired switch's workers read it
		d.sw.Apply(now, change)
		spoil(now)
		d.scheme, d.params, d.line, d.response = node.Scheme.Name, node.Params, node.Line, conf.Response()
	})
	l.conf, l.devices = conf, m.devices
	d.plug(m, conf, node)
	d.relink(conf)
	d.reshut(was, conf)
	survived := d.gap.Load()
	if g := d.gaps(conf, l.devices); d.gap.Load() != survived {
		d.logGap(g)
	}
	for _, c := range changes {
		lines = append(lines, c.String())
	}
	if line != d.line {
		lines = append(lines, fmt.Sprintf(
			"congestion points begin anew: %s is for a line of %v, the fastest port's, not of %v", d.scheme, d.line, line))
	}
	return lines, nil
}

// prepare works out what a configuration makes of the switch.
func (d *daemon) prepare(conf *config.Switch, m *move, scheme bool) (*config.SwitchNode, *dataplane.Change, error) {
	node, err := conf.Resolve(m.devices)
	if err != nil {
		return nil, nil, err
	}
	if !scheme && node.Line == d.line {
		node.Config.CP = nil // they stay, with what they know
	}
	change, err := d.sw.Prepare(node.Config)
	if err != nil {
		return nil, nil, &config.Error{File: conf.File(), Err: err}
	}
	return node, change, nil
}

// relink sets the rates of links that have another rate than when they were opened: a
// configuration has the headroom for that. The caller holds both locks.
func (d *daemon) relink(conf *config.Switch) {
	l := &d.links
	for i, rate := range l.rates {
		if conf.At(i) == nil || rate == d.rates[i] && !l.moved[i] {
			continue
		}
		_, headroom := conf.LinkAt(i, l.deviceRates[i], d.sw.Cell())
		if err := d.setLinkNow(i, dataplane.LinkState{Up: !l.down[i], Rate: rate, Headroom: headroom}); err != nil {
			d.log.Warnf("port %s: %v", d.port(i), err)
		}
	}
}

// reloadAndLog reloads, and logs the outcome.
func (d *daemon) reloadAndLog() ([]string, error) {
	lines, err := d.reload()
	switch {
	case err != nil:
		d.log.Warnf("not reloaded: %v", err)
	case len(lines) == 0:
		d.log.Info("reloaded: nothing changed")
	}
	for _, l := range lines {
		d.log.Infof("reloaded: %s", l)
	}
	return lines, err
}

// reloadOnHangup does so at every SIGHUP, until the function it returns is called.
// From then on one does nothing, until the process ends: it would end it by itself,
// without a word of what is still to be said.
func (d *daemon) reloadOnHangup() (stop func()) {
	hangups, ended, finished := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer close(finished)
		for {
			select {
			case <-hangups:
				_, _ = d.reloadAndLog() // the log has it
			case <-ended:
				return
			}
		}
	}()
	return func() {
		close(ended)
		<-finished
	}
}
