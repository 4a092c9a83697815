package daemon

import (
	"fmt"
	"sync"
	"time"

	"photon/fabric"
	"photon/telemetry/admin"
	"photon/telemetry/pcapng"
	"photon/units"
)

// tapFrames is how many frames a port's ring holds: 10 ms of small ones at a
// million a second.
const tapFrames = 8192

// taps are the ports that are being captured.
type taps struct {
	sync.Mutex
	on map[int]bool
}

// priorityAt is the priority of frames at a port of a node. A frame that a switch sends has that of its queue, which
// its bytes do not say: the port through which it came has other maps, or it had a tag there.
func (d *daemon) priorityAt(n hosted, port int) fabric.PriorityOf {
	return func(f *fabric.Frame, b []byte, out bool) int {
		if prio := n.Priority(port, b); prio < 0 || !out || d.sw == nil {
			return prio
		}
		return int(f.Prio)
	}
}

// capture copies the frames of a port.
func (d *daemon) capture(port string, snap int) (admin.Stream, func(), error) {
	d.loaded.Lock() // no port comes or goes until the capture is known
	defer d.loaded.Unlock()
	number, err := d.number(port)
	if err != nil {
		return nil, nil, err
	}
	d.taps.Lock()
	defer d.taps.Unlock()
	if d.taps.on[number] {
		return nil, nil, fmt.Errorf("port %s is being captured already", port)
	}
	var n hosted
	d.world.DoBriefly(func(units.Time) { n = d.node }) // which a reload may replace
	tap := fabric.NewTap(tapFrames, snap, d.priorityAt(n, number))
	at := fabric.End{Node: d.id, Port: number}
	var start units.Time
	var wall time.Time
	d.world.DoBriefly(func(now units.Time) {
		d.world.Tap(at, tap)
		start, wall = now, d.wall.at(d.world.Laps(), now, time.Now())
	})
	if d.taps.on == nil {
		d.taps.on = map[int]bool{}
	}
	d.taps.on[number] = true
	d.log.Infof("port %s is being captured", port)
	c := &pcapng.Capture{Port: port, Tap: tap, Wall: func(t units.Time) time.Time { return wall.Add((t - start).Duration()) }}
	return c.Stream, func() {
		d.world.DoBriefly(func(units.Time) { d.world.Tap(at, nil) })
		d.taps.Lock()
		defer d.taps.Unlock()
		delete(d.taps.on, number)
		d.log.Infof("port %s is not captured any more: %d frames were missed", port, tap.Lost())
	}, nil
}
