package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
)

func portCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "port",
		Short: "Shut a port of a running switch, or open it again",
		Long: "Shut a port of a running switch, or open it again (photon show ports lists them). It stays so until the next\n" +
			"order, until a reload of a file in which `shutdown` of the port is another than before, or until the switch ends.",
		Example: "  photon port down sw0\n  photon port up sw0",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		setPortCommand("down", "Shut a port of a running switch",
			"Shut a port of a running switch: it has no link, whatever its device says. What waits for it is discarded and\n"+
				"counted, as is all that still comes through it; its addresses are forgotten, routes and groups avoid it. The peer\n"+
				"sees its link go, if the device can take it down: cards, interfaces of the kernel and taps can."),
		setPortCommand("up", "Open a port of a running switch that was shut",
			"Open a port of a running switch that was shut. It begins as a port whose link has come up."))
	return c
}

func setPortCommand(name, short, long string) *cobra.Command {
	var at socketFlags
	c := &cobra.Command{
		Use: name + " PORT", Short: short, Long: long, Args: one("a port (photon show ports lists them)"),
		RunE: func(c *cobra.Command, args []string) error {
			client, err := at.dial()
			if err != nil {
				return err
			}
			said, err := client.SetPort(c.Context(), args[0], name == "up")
			if err != nil {
				return answered(err)
			}
			fmt.Fprintln(c.OutOrStdout(), said)
			return nil
		},
	}
	at.add(c)
	return c
}

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

// setPort shuts a port or opens it, and says what came of it.
func (d *daemon) setPort(port string, up bool) (said string, err error) {
	if d.sw == nil {
		return "", errors.New("a port of a switch can be shut, an agent is ended")
	}
	i := slices.Index(d.ports, port)
	if i < 0 {
		return "", fmt.Errorf("there is no port %q (there are %s)", port, strings.Join(d.ports, ", "))
	}
	d.links.Lock() // before what is loaded: as who looks at the links
	defer d.links.Unlock()
	d.loaded.Lock()
	defer d.loaded.Unlock()
	if d.loaded.ending {
		return "", errEnding
	}
	d.knowLinks(len(d.ports))
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

// setPortNow is setPort of who holds the locks of the links and of what is loaded, at a port that is not so.
func (d *daemon) setPortNow(i int, up bool) (said string, err error) {
	if up {
		said, err = d.openPort(i)
	} else {
		said, err = d.shutPort(i)
	}
	if err != nil {
		d.log.Warnf("port %s: %v", d.ports[i], err)
		return "", fmt.Errorf("port %s: %w", d.ports[i], err)
	}
	d.log.Infof("port %s %s", d.ports[i], said)
	return "port " + d.ports[i] + " " + said, nil
}

// shutPort shuts the switch's side first: nothing is to be forwarded while the device's link goes.
func (d *daemon) shutPort(i int) (said string, err error) {
	l := &d.links
	l.shut[i] = true
	if err := d.setLinkNow(i, dataplane.LinkState{}); err != nil {
		l.shut[i] = false
		return "", err
	}
	if !l.down[i] {
		l.down[i] = true
		l.changes[i]++
	}
	can, err := d.world.SetUp(dataplane.End{Node: d.id, Port: i}, false)
	switch {
	case err != nil:
		return fmt.Sprintf("is shut; its peer does not see it: %v", err), nil
	case !can:
		return "is shut; its peer does not see it, for its device has no link to take down", nil
	}
	return "is shut", nil
}

// openPort has the device take its link up first. When it is there the switch is told, as of any link.
func (d *daemon) openPort(i int) (said string, err error) {
	if _, err := d.world.SetUp(dataplane.End{Node: d.id, Port: i}, true); err != nil {
		return "", err
	}
	l := &d.links
	l.shut[i] = false
	s := d.world.Devices()[i]
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

// keepShut has a device whose port is shut have no link: an interface of the kernel may have been made anew since, or
// somebody has taken it up. The caller holds the lock of the links.
func (d *daemon) keepShut(i int, s *dpdk.DeviceStats) {
	if !d.links.down[i] {
		d.links.down[i] = true
		d.links.changes[i]++
	}
	d.links.downs[i] = s.Downs // these are ours
	if !s.LinkUp {
		return
	}
	if _, err := d.world.SetUp(dataplane.End{Node: d.id, Port: i}, false); err != nil {
		d.log.Warnf("port %s: %v", d.ports[i], err)
	}
}

// shutAtStart shuts the ports that are to be so, before the switch runs. Their devices follow when links are
// looked at for the first time.
func (d *daemon) shutAtStart(conf *config.Switch) {
	d.links.Lock()
	defer d.links.Unlock()
	d.knowLinks(len(conf.Ports))
	for i := range conf.Ports {
		if !conf.Ports[i].Shutdown.V {
			continue
		}
		d.links.shut[i] = true
		if err := d.setLink(i, dataplane.LinkState{}); err != nil {
			d.log.Warnf("port %s: %v", d.ports[i], err)
			continue
		}
		d.log.Infof("port %s is shut (`photon port up %s` opens it)", d.ports[i], d.ports[i])
	}
}

// reshut shuts and opens the ports of which a reloaded file says another thing than the one before. The caller
// holds the locks of the links and of what is loaded.
func (d *daemon) reshut(was, conf *config.Switch) {
	for i := range conf.Ports {
		shut := conf.Ports[i].Shutdown.V
		if shut != was.Ports[i].Shutdown.V && shut != d.links.shut[i] {
			_, _ = d.setPortNow(i, !shut) // the log has it
		}
	}
}
