package daemon

import (
	"errors"
	"fmt"

	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
)

// errNotASwitch is the answer to orders about ports of an agent.
var errNotASwitch = errors.New("a port of a switch can be shut, added or removed, an agent is ended")

// closed are the ports that are shut, whose devices have no link.
func (l *links) closed(devices []dpdk.DeviceStats) []bool {
	l.Lock()
	defer l.Unlock()
	shut := make([]bool, len(devices))
	copy(shut, l.shut)
	for i := range devices {
		devices[i].LinkUp = devices[i].LinkUp && !shut[i]
	}
	return shut
}

// SetPort implements admin.PortCommands.
func (d *daemon) SetPort(port string, up bool) (message string, err error) {
	if d.sw == nil {
		return "", errNotASwitch
	}
	end, err := d.change()
	if err != nil {
		return "", err
	}
	defer end()
	i, err := d.number(port)
	if err != nil {
		return "", err
	}
	d.knowLinks()
	if up == !d.links.shut[i] {
		return fmt.Sprintf("port %s is %s already", port, adminWord(up)), nil
	}
	return d.setPortNow(i, up)
}

func adminWord(up bool) string {
	if up {
		return "open"
	}
	return "shut"
}

// setPortNow is SetPort for callers that hold the locks of the links and of what is loaded. The port is not so yet.
func (d *daemon) setPortNow(i int, up bool) (message string, err error) {
	if up {
		message, err = d.openPort(i)
	} else {
		message, err = d.shutPort(i)
	}
	if err != nil {
		d.log.Warnf("port %s: %v", d.port(i), err)
		return "", fmt.Errorf("port %s: %w", d.port(i), err)
	}
	d.log.Infof("port %s %s", d.port(i), message)
	return "port " + d.port(i) + " " + message, nil
}

// shutPort shuts the switch's side first: nothing is to be forwarded while the device's link goes.
func (d *daemon) shutPort(i int) (message string, err error) {
	l := &d.links
	d.takeLeave(i)
	l.shut[i] = true
	if err := d.setLinkNow(i, dataplane.LinkState{}); err != nil {
		l.shut[i] = false
		return "", err
	}
	if !l.down[i] {
		l.down[i] = true
		l.changes[i]++
	}
	can, err := d.world.SetUp(fabric.End{Node: d.id, Port: i}, false)
	switch {
	case err != nil:
		return fmt.Sprintf("is shut; its peer does not see it: %v", err), nil
	case !can:
		return "is shut; its peer does not see it, for its device has no link to take down", nil
	}
	return "is shut", nil
}

// openPort first takes the device's link up. When the link is up, the switch learns of it as of any link.
func (d *daemon) openPort(i int) (message string, err error) {
	if _, err := d.world.SetUp(fabric.End{Node: d.id, Port: i}, true); err != nil {
		return "", err
	}
	l := &d.links
	l.shut[i] = false
	s := d.device(i)
	if err := d.setLinkNow(i, dataplane.LinkState{Up: s.LinkUp}); err != nil {
		l.shut[i] = true
		return "", err
	}
	l.downs[i] = s.Downs
	if !s.LinkUp {
		return "is open, and its link is down", nil
	}
	l.down[i] = false
	l.changes[i]++
	return "is open, and its link is up", nil
}

// enforceShut takes the link of a device down again if its port is shut: the kernel's interface may have been created again,
// or taken up by hand. The caller holds the lock of the links.
func (d *daemon) enforceShut(i int, s *dpdk.DeviceStats) {
	if !d.links.down[i] {
		d.links.down[i] = true
		d.links.changes[i]++
	}
	d.links.downs[i] = s.Downs // photon caused these
	if !s.LinkUp {
		return
	}
	if _, err := d.world.SetUp(fabric.End{Node: d.id, Port: i}, false); err != nil {
		d.log.Warnf("port %s: %v", d.port(i), err)
	}
}

// shutAtStart shuts the ports that are to be so, before the switch runs. Their devices follow when links are
// looked at for the first time.
func (d *daemon) shutAtStart(conf *config.Switch) {
	d.links.Lock()
	defer d.links.Unlock()
	d.knowLinks()
	for i := range conf.Ports {
		if !conf.Ports[i].Shutdown.V {
			continue
		}
		d.links.shut[i] = true
		if err := d.setLink(i, dataplane.LinkState{}); err != nil {
			d.log.Warnf("port %s: %v", d.port(i), err)
			continue
		}
		d.log.Infof("port %s is shut (`photon port up %s` opens it)", d.port(i), d.port(i))
	}
}

// reshut shuts and opens the ports of which a reloaded file says another thing than the one before. The caller
// holds the locks of the links and of what is loaded.
func (d *daemon) reshut(was, conf *config.Switch) {
	for i := range d.names() {
		now, before := conf.At(i), was.At(i)
		if now == nil || before == nil { // it comes or goes
			continue
		}
		if shut := now.Shutdown.V; shut != before.Shutdown.V && shut != d.links.shut[i] {
			_, _ = d.setPortNow(i, !shut) // the log has it
		}
	}
}
