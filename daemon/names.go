package daemon

import (
	"fmt"
	"slices"
	"strings"

	"photon/dataplane/dpdk"
	"photon/units"
)

// names are those of the ports, by number; empty where none is. Nobody changes the list: another takes its place.
func (d *daemon) names() []string {
	if list := d.named.Load(); list != nil {
		return *list
	}
	return nil
}

// setNames has the ports have names from now on.
func (d *daemon) setNames(names ...string) {
	n := len(names)
	for n > 0 && names[n-1] == "" {
		n--
	}
	names = slices.Clone(names[:n])
	d.named.Store(&names)
}

// port is the name of a port; empty: it has gone.
func (d *daemon) port(i int) string {
	if names := d.names(); i < len(names) {
		return names[i]
	}
	return ""
}

// number is that of a port by its name.
func (d *daemon) number(port string) (int, error) {
	i := slices.Index(d.names(), port)
	if i < 0 || port == "" { // places without a port have no name
		return 0, fmt.Errorf("there is no port %q (there are %s)", port, d.listed())
	}
	return i, nil
}

// listed are the ports that are there, for messages.
func (d *daemon) listed() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(d.names()), func(n string) bool { return n == "" }), ", ")
}

// device is what a port's device counts.
func (d *daemon) device(i int) dpdk.DeviceStats {
	for _, s := range d.world.Devices() {
		if s.Port == i {
			return s
		}
	}
	return dpdk.DeviceStats{}
}

// ratesConfigured are the links'.
func (d *daemon) ratesConfigured() []units.Rate {
	d.links.Lock()
	defer d.links.Unlock()
	return slices.Clone(d.rates[:len(d.names())])
}
