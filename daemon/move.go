package daemon

import (
	"errors"
	"fmt"
	"slices"

	"photon/config"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/units"
)

// move is which ports come and which go when another configuration is taken over.
type move struct {
	added, removed []int
	devices        []dpdk.Device // by place, as they will be
}

// prepareMove works that out, and opens the devices of ports that come. The caller holds the lock of what is loaded.
func (d *daemon) prepareMove(conf *config.Switch) (*move, error) {
	l := &d.loaded
	var vacant []int
	d.world.DoBriefly(func(now units.Time) { vacant = d.sw.Vacant(now) })
	running, added, removed, err := conf.AssignPlaces(l.conf, vacant)
	if err != nil {
		return nil, err
	}
	running.Cell = d.sw.Cell()
	m := &move{added: added, removed: removed, devices: slices.Clone(l.devices)}
	for _, i := range removed {
		m.devices[i] = dpdk.Device{}
	}
	if err := conf.For(running); err != nil {
		return nil, err
	}
	if err := d.checkMove(conf, m); err != nil {
		return nil, err
	}
	var ports []config.Port
	for _, i := range added {
		ports = append(ports, *conf.At(i))
	}
	mtu := func(int) int { return conf.MTU.Or(1500) }
	devices, err := openAll(d.world, conf.File(), ports, mtu, running.Base)
	if err == nil {
		err = d.checkFlowControl(conf, m, ports, devices)
	}
	for i, dev := range devices {
		m.devices[added[i]] = dev
	}
	if err != nil {
		m.added = added[:len(devices)]
		m.undo(d)
		return nil, err
	}
	return m, nil
}

// checkFlowControl looks at what the cards of new ports do with pauses, and at those of all, if nothing was lossless yet.
func (d *daemon) checkFlowControl(conf *config.Switch, m *move, ports []config.Port, devices []dpdk.Device) error {
	if !d.loaded.conf.Lossless() {
		for i, dev := range m.devices {
			if p := conf.At(i); p != nil && !slices.Contains(m.added, i) {
				ports, devices = append(ports, *p), append(devices, dev)
			}
		}
	}
	return d.logFlowControl(conf.Lossless(), conf.File(), ports, devices)
}

// checkMove says what cannot be opened or closed while the switch runs.
func (d *daemon) checkMove(conf *config.Switch, m *move) error {
	if len(m.added)+len(m.removed) == 0 {
		return nil
	}
	select {
	case <-d.world.Started():
	default:
		return errors.New("the switch is starting: try again when it runs")
	}
	// The devices of ports that come are opened before those of ports that go are closed, or a device that does not open
	// would leave the switch without either.
	first := func(port int) string {
		if slices.Contains(m.removed, port) {
			return fmt.Sprintf("`photon port remove %s`, then `photon reload`", d.port(port))
		}
		return "remove that first"
	}
	for _, i := range m.added {
		p := conf.At(i)
		if name := PortName(p.Device.V); slices.Contains(d.names(), name) {
			err := fmt.Errorf("port %s: there is a port %s: %s", p.Device.V, name, first(slices.Index(d.names(), name)))
			return p.Fail(conf.File(), err)
		}
		for _, thing := range dpdk.Claims(p.Device.V) {
			for at, dev := range d.loaded.devices {
				if slices.Contains(dpdk.Claims(dev.Spec), thing) && dev.Spec != "" {
					err := fmt.Errorf("port %s: port %s has %s: %s", p.Device.V, PortName(dev.Spec), thing, first(at))
					return p.Fail(conf.File(), err)
				}
			}
		}
	}
	d.taps.Lock()
	defer d.taps.Unlock()
	for _, i := range m.removed {
		if d.taps.on[i] {
			return fmt.Errorf("port %s is being captured: end that first", d.port(i))
		}
	}
	return nil
}

// undo closes what was opened.
func (m *move) undo(d *daemon) {
	for _, i := range m.added {
		d.world.Discard(m.devices[i])
	}
}

// unplug has the ports go whose devices are to be closed: from then on nothing comes by them, and what is for them
// waits until the switch forgets them.
func (d *daemon) unplug(m *move) {
	for _, i := range m.removed {
		d.knowLinks()
		d.takeLeave(i)
		last, err := d.world.Unplug(fabric.End{Node: d.id, Port: i})
		if err != nil {
			d.log.Warnf("port %s: %v", d.port(i), err)
		}
		d.world.DoBriefly(func(now units.Time) {
			if d.impaired != nil {
				d.impaired.Leave(now, i)
			}
		})
		var st fabric.Stats
		d.world.Do(func(now units.Time) { st = d.node.Stats(now) })
		waited := uint64(0)
		for _, n := range st.Ports[i].QueueFrames {
			waited += n
		}
		name := d.port(i)
		d.summarize(name, &st.Ports[i], &last)
		d.log.Infof("port %s is removed; %d frames that waited for it are discarded", name, waited)
		d.links.forget(i)
		d.firstLosses.forget(i)
		d.rates[i] = 0
		names := slices.Clone(d.names())
		names[i] = ""
		d.setNames(names...)
	}
}

// plug has the new ports take part.
func (d *daemon) plug(m *move, conf *config.Switch, node *config.SwitchNode) {
	for _, i := range m.added {
		dev, at := m.devices[i], fabric.End{Node: d.id, Port: i}
		d.knowLinks()
		d.links.forget(i)
		d.firstLosses.forget(i)
		d.rates[i] = node.Links[i].Rate
		d.links.deviceRates[i], d.links.rates[i] = dev.Rate, d.rates[i]
		names := d.names()
		names = append(slices.Clone(names), make([]string, max(0, i+1-len(names)))...)
		names[i] = PortName(dev.Spec)
		d.setNames(names...)
		if err := d.world.Plug(at, node.Workers[i], dev, node.Links[i]); err != nil {
			d.log.Warnf("port %s: %v", d.port(i), err)
		}
		d.log.Infof("port %s is added: port %d is %s, %v, worker %d", d.port(i), i, dev.Spec, dev.MAC, node.Workers[i])
		d.warnOfNode(i)
		if conf.At(i).Shutdown.V {
			_, _ = d.setPortNow(i, false) // the log has it
		}
	}
}

// forget has a place know nothing of the port that was there.
func (l *links) forget(i int) {
	l.down[i], l.downs[i], l.deviceRates[i], l.rates[i], l.moved[i], l.changes[i], l.shut[i] = false, 0, 0, 0, false, 0, false
	l.tenures[i]++
}

// AddPort implements admin.PortCommands.
func (d *daemon) AddPort(device string, rate units.Rate) (message string, err error) {
	message, err = d.orderPorts(func(was *config.Switch) (*config.Switch, string, error) {
		conf, err := was.With(device, rate)
		return conf, fmt.Sprintf("port %s is added", PortName(device)), err
	})
	if err != nil {
		d.log.Warnf("no port is added: %v", err)
	}
	return message, err
}

// RemovePort implements admin.PortCommands.
func (d *daemon) RemovePort(port string) (message string, err error) {
	message, err = d.orderPorts(func(was *config.Switch) (*config.Switch, string, error) {
		i, err := d.number(port)
		if err != nil {
			return nil, "", err
		}
		conf, err := was.Without(i)
		return conf, fmt.Sprintf("port %s is removed", port), err
	})
	if err != nil {
		d.log.Warnf("no port is removed: %v", err)
	}
	return message, err
}

// orderPorts takes over what an order makes of the configuration.
func (d *daemon) orderPorts(order func(was *config.Switch) (*config.Switch, string, error)) (message string, err error) {
	if d.sw == nil {
		return "", errNotASwitch
	}
	end, err := d.change()
	if err != nil {
		return "", err
	}
	defer end()
	l := &d.loaded
	conf, message, err := order(l.conf)
	if err == nil {
		_, err = d.takeOver(conf)
	}
	var e *config.Error
	if errors.As(err, &e) && e.Line == 0 { // it is not in the file
		err = e.Err
	}
	if err != nil {
		return "", err
	}
	if l.again != nil {
		message += "; a `photon reload` makes the ports those of the file"
	}
	return message, nil
}
