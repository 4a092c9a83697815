package daemon

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"photon/config"
	"photon/dataplane"
	"photon/lldp"
	"photon/telemetry"
	"photon/units"
	"photon/wire"
)

// neighbours are the peers at the other ends of a switch's cables, known from LLDP. The switch carries the frames; this
// file encodes and decodes them.
type neighbours struct {
	sync.Mutex
	table  lldp.Table
	ports  map[int]*announced
	of     *config.Switch    // configuration that was looked at last
	said   *config.Announced // what it says; nil: no LLDP
	leaves uint64            // how often a port took its leave because it was shut or removed
}

// announced is a port that sends LLDP.
type announced struct {
	frame   []byte     // that is being sent
	every   units.Time // so often
	own     lldp.DCBX
	changes uint64 // of its link, until then
	tenure  uint64 // of its place, as it was then: another port there has other neighbours
	counts  dataplane.Announced
	bad     uint64              // frames that could not be read
	logged  map[string][]string // mismatches that the log has, by neighbour
	leaving bool                // its last frame was a shutdown frame
	crowded bool                // the log has that it has more neighbours than it keeps
}

// fastFrames is how many frames follow the first in a second each (802.1AB clause 9.2.5.5: txFastInit is 4).
const fastFrames = 3

// watchNeighbours updates what ports announce to the present configuration, reads the frames they received, and logs
// new neighbours, lost ones and mismatches.
func (d *daemon) watchNeighbours(now time.Time) {
	if d.sw == nil {
		return
	}
	d.loaded.Lock()
	loaded, ending := d.loaded.conf, d.loaded.ending
	d.loaded.Unlock()
	n := &d.neighbours
	n.Lock()
	leaves := n.leaves
	n.Unlock() // takeLeave takes it last
	up, changes, tenures := d.linksNow()
	n.Lock()
	defer n.Unlock()
	if n.leaves != leaves { // a port had a link then, and took its leave
		return
	}
	if loaded != n.of { // to work it out leaves garbage
		n.of, n.said = loaded, loaded.Announced()
	}
	conf := n.said
	if ending || conf == nil && len(n.ports) == 0 {
		return
	}
	for i, x := range n.ports {
		if x.tenure != tenures(i) {
			delete(n.ports, i)
		}
		if x.tenure != tenures(i) || x.changes != changes(i) { // a cable may lead to someone else now
			n.table.Forget(i)
		}
	}
	changed := d.changedAnnouncements(conf, up, changes)
	received := d.announceAndReceive(changed)
	for i, a := range changed {
		if a == nil {
			delete(n.ports, i)
			n.table.Forget(i)
			continue
		}
		n.ports[i].tenure = tenures(i)
	}
	d.readAnnouncements(now, received)
	d.forgetSilent(now, up)
	for i, x := range n.ports {
		d.logMismatches(i, x)
	}
}

// changedAnnouncements are what ports are to announce from now on that announce something else, by port; nil: nothing.
// conf is nil if the switch is to speak no LLDP: each port then says so with one last frame.
func (d *daemon) changedAnnouncements(
	conf *config.Announced, up func(int) bool, changes func(int) uint64,
) map[int]*dataplane.Announcement {
	n := &d.neighbours
	changed := map[int]*dataplane.Announcement{}
	for i, x := range n.ports {
		switch {
		case d.port(i) == "" || x.leaving:
			changed[i] = nil
		case conf == nil:
			changed[i], x.leaving = &dataplane.Announcement{Frame: goodbye(x.frame)}, true
		}
	}
	if conf == nil {
		return changed
	}
	addresses := make([]wire.MAC, len(d.names()))
	d.world.DoBriefly(func(units.Time) {
		for i := range addresses {
			addresses[i] = d.sw.MAC(i)
		}
	})
	for i, name := range d.names() {
		if name == "" || !up(i) || i >= len(conf.DCBX) {
			continue
		}
		info := conf.Info
		info.From, info.Port, info.DCBX = addresses[i], name, conf.DCBX[i]
		frame := info.Encode(conf.Base)
		x := n.ports[i]
		same := x != nil && bytes.Equal(x.frame, frame) && x.every == conf.Every && x.changes == changes(i)
		if !same || x.leaving { // which took its leave of neighbours has to greet them again
			changed[i] = n.begin(i, frame, conf.Every, &info.DCBX, changes(i)).quickly()
		}
	}
	return changed
}

// quickly is what a port announces, several times in a short while at first.
func (x *announced) quickly() *dataplane.Announcement {
	return &dataplane.Announcement{Frame: x.frame, Every: x.every, Fast: fastFrames}
}

// announceAndReceive has the switch announce what changed, and returns what ports have received since the last call.
func (d *daemon) announceAndReceive(changed map[int]*dataplane.Announcement) map[int][][]byte {
	received := map[int][][]byte{}
	d.world.DoBriefly(func(at units.Time) {
		for i, a := range changed {
			d.sw.Announce(at, i, a)
		}
		for i, x := range d.neighbours.ports {
			x.counts = d.sw.TakeAnnouncements(i, func(b []byte) { received[i] = append(received[i], bytes.Clone(b)) })
		}
	})
	return received
}

// readAnnouncements reads what ports have received. Who is new is told soon who is here.
func (d *daemon) readAnnouncements(now time.Time, received map[int][][]byte) {
	again := map[int]*dataplane.Announcement{}
	for i, frames := range received {
		for _, b := range frames {
			if d.readAnnouncement(now, i, b) {
				again[i] = d.neighbours.ports[i].quickly()
			}
		}
	}
	if len(again) == 0 {
		return
	}
	d.world.DoBriefly(func(at units.Time) {
		for i, a := range again {
			d.sw.Announce(at, i, a)
		}
	})
}

// begin records what a port announces from now on, and how often.
func (n *neighbours) begin(i int, frame []byte, every units.Time, own *lldp.DCBX, changes uint64) *announced {
	if n.ports == nil {
		n.ports = map[int]*announced{}
	}
	x := n.ports[i]
	if x == nil {
		x = &announced{logged: map[string][]string{}}
		n.ports[i] = x
	}
	x.frame, x.every, x.own, x.changes, x.leaving = frame, every, *own, changes, false
	return x
}

// goodbye is the shutdown frame (TTL 0) that withdraws an announcement.
func goodbye(frame []byte) []byte {
	var i lldp.Info
	if i.Decode(frame) != nil {
		return frame // it is ours
	}
	chassis, err := wire.ParseMAC(i.Chassis)
	if err != nil {
		return frame
	}
	i.TTL = 0
	return i.Encode(chassis)
}

// linksNow returns who has a link, how often that changed, and how many ports have had each place.
func (d *daemon) linksNow() (up func(int) bool, changes, tenures func(int) uint64) {
	l := &d.links
	l.Lock()
	defer l.Unlock()
	down := slices.Clone(l.down)
	at := func(counts []uint64) func(int) uint64 {
		counts = slices.Clone(counts)
		return func(i int) uint64 {
			if i >= 0 && i < len(counts) {
				return counts[i]
			}
			return 0
		}
	}
	return func(i int) bool { return i >= len(down) || !down[i] }, at(l.changes), at(l.tenures)
}

// readAnnouncement reads one frame that a port received, and reports whether its sender is new.
func (d *daemon) readAnnouncement(now time.Time, port int, b []byte) bool {
	n := &d.neighbours
	x := n.ports[port]
	if x == nil || x.leaving {
		return false
	}
	var i lldp.Info
	if err := i.Decode(b); err != nil {
		if x.bad++; x.bad == 1 {
			d.log.Warnf("port %s: from %v: %v (said once; photon_lldp_rx_malformed_total counts them)", d.port(port), i.From, err)
		}
		return false
	}
	lost := n.table.Lost
	isNew := n.table.Update(now, port, &i)
	if n.table.Lost != lost && !x.crowded {
		x.crowded = true
		d.log.Warnf("port %s: it keeps %d neighbours, and has more: %s, port %s, is not shown or compared "+
			"(said once until some have gone)", d.port(port), lldp.MaxNeighbours, system(&i), i.Port)
	}
	if !isNew {
		return false
	}
	d.log.Infof("port %s: its neighbour is %s, port %s", d.port(port), system(&i), i.Port)
	return true
}

// system is the name of a neighbour.
func system(i *lldp.Info) string {
	if i.SystemName != "" {
		return i.SystemName
	}
	return i.Chassis
}

func (d *daemon) forgetSilent(now time.Time, up func(int) bool) {
	n := &d.neighbours
	for i := range n.ports {
		if !up(i) {
			n.table.Forget(i)
		}
	}
	for i, gone := range n.table.Expire(now) {
		for j := range gone {
			d.log.Warnf("port %s: nothing was heard any more of its neighbour %s", d.port(i), system(&gone[j].Info))
		}
	}
	for i, x := range n.ports {
		x.crowded = x.crowded && len(n.table.At(i)) == lldp.MaxNeighbours
	}
}

// logMismatches logs where a port and its neighbours disagree, once each, and when they agree.
func (d *daemon) logMismatches(port int, x *announced) {
	seen := map[string]bool{}
	for _, peer := range d.neighbours.table.At(port) {
		key := peer.Chassis + " " + peer.Port
		seen[key] = true
		var now []string
		for _, m := range lldp.Compare(&x.own, &peer.DCBX) {
			now = append(now, m.Text)
		}
		before := x.logged[key]
		for _, text := range now {
			if !slices.Contains(before, text) {
				d.log.Warnf("port %s: it and its neighbour %s disagree: %s", d.port(port), system(&peer.Info), text)
			}
		}
		if before != nil && now == nil {
			d.log.Infof("port %s: it and its neighbour %s agree now", d.port(port), system(&peer.Info))
		}
		x.logged[key] = now
	}
	for key := range x.logged {
		if !seen[key] {
			delete(x.logged, key)
		}
	}
}

// announceShutdown sends a shutdown frame at every port, because the switch ends.
func (d *daemon) announceShutdown() {
	n := &d.neighbours
	n.Lock()
	defer n.Unlock()
	if len(n.ports) == 0 {
		return
	}
	frames := map[int][]byte{}
	for i, x := range n.ports {
		frames[i] = goodbye(x.frame)
	}
	d.world.DoBriefly(func(at units.Time) {
		for i, b := range frames {
			d.sw.Announce(at, i, &dataplane.Announcement{Frame: b})
		}
	})
}

// takeLeave sends the shutdown frame of a port that is about to be shut or removed, and waits until it has left, or
// for leaveTime. The caller holds the locks of the links.
func (d *daemon) takeLeave(i int) {
	n := &d.neighbours
	n.Lock()
	defer n.Unlock()
	x := n.ports[i]
	if x == nil || x.leaving || d.links.down[i] {
		return
	}
	sent := func() uint64 { return d.sw.TakeAnnouncements(i, func([]byte) {}).Sent }
	var before, now uint64
	d.world.DoBriefly(func(at units.Time) {
		before = sent()
		d.sw.Announce(at, i, &dataplane.Announcement{Frame: goodbye(x.frame)})
	})
	for deadline := time.Now().Add(leaveTime); now == before && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
		d.world.DoBriefly(func(units.Time) { now = sent() })
	}
	x.leaving = true
	n.leaves++
	n.table.Forget(i)
}

// leaveTime is how long a port that goes may take for its last LLDP frame.
const leaveTime = 100 * time.Millisecond

// lldp is what telemetry shows of the ports that send LLDP, by number; nil: the switch does not speak it. Ports begin
// a moment after the file said so, and one without a link does not send.
func (d *daemon) lldp(ports int) []telemetry.LLDPPort {
	d.loaded.Lock()
	on := d.loaded.conf != nil && d.loaded.conf.LLDP != nil
	d.loaded.Unlock()
	n := &d.neighbours
	n.Lock()
	defer n.Unlock()
	if !on && len(n.ports) == 0 {
		return nil
	}
	all := make([]telemetry.LLDPPort, ports)
	for i, x := range n.ports {
		if i < ports {
			all[i] = telemetry.LLDPPort{On: true, Counts: x.counts, Malformed: x.bad, Own: x.own, Neighbours: n.table.At(i)}
		}
	}
	return all
}
