package main

import (
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
