package config

import (
	"cmp"
	"fmt"

	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// The buffer of a switch is given in bytes, and thresholds go by bytes; but its memory is frame buffers, each of which
// holds one frame however short. So frames take whole cells of the buffer, as in switch chips, and there are as many
// frame buffers as there are cells, and some to spare: whatever the mix of frames is, the thresholds are reached
// before the memory is at its end, and there is room for the XOFF that is due then.

const (
	usualCell = 200     // bytes; with it a frame of 60 bytes takes a little more than three times its length
	mostUsual = 1 << 18 // frame buffers, unless the file has a number

	defaultShared = 4 * units.MB // of a buffer for which the file has no number
)

// Running is what a switch that runs cannot change of itself, and where its ports are.
type Running struct {
	Frames int        // frame buffers that there are
	Cell   units.Size // 0: it is to be worked out
	Base   wire.MAC   // of the first port when it started: the router's, unless the file says another
	Gap    units.Time // between polls, for which receive rings of cards have room since then
	Places int        // for ports, as many as the switch has
	At     []Place    // of each port of the file
}

// Place is where a port is in a switch: its number there, and the worker that polls it.
type Place struct{ Number, Worker int }

// Start says how many frame buffers there are, before the devices tell their rates, which Resolve gets next,
// and has the switch have places for ports that are added while it runs. Its ports are in the order of the file.
func (c *Switch) Start(frames int, base wire.MAC) Running {
	c.running = Running{Frames: frames, Base: base, Gap: c.pollGap(), Places: dpdk.MaxPorts}
	for i := range c.Ports {
		c.running.At = append(c.running.At, Place{i, i % c.DPDK.Workers.Or(1)})
	}
	return c.running
}

// For makes it the configuration of a switch that runs, and says what its frame buffers cannot hold.
func (c *Switch) For(r Running) error {
	c.running = r
	_, err := c.Resolve(nil)
	return err
}

// resolve takes the shortest cell with which there are enough frame buffers.
func (c *Switch) resolve(devices []dpdk.Device) (*SwitchNode, error) {
	if c.running.Cell > 0 {
		n, err := c.resolveWith(devices, c.running.Cell)
		if err == nil {
			err = c.checkFrameBuffers(n)
		}
		if err != nil {
			return nil, err
		}
		return c.placed(n), nil
	}
	for cell := units.Size(usualCell); ; cell *= 2 {
		cell = min(cell, longest(c.MTU.Or(defaultMTU)))
		n, err := c.resolveWith(devices, cell)
		if err != nil {
			return nil, err
		}
		if err = c.checkFrameBuffers(n); err == nil {
			return c.placed(n), nil
		}
		if cell == longest(n.Config.MTU) {
			return nil, err
		}
	}
}

// frames is how many frame buffers there are.
func (c *Switch) frames(s *dataplane.SwitchConfig) int {
	inBuffer := s.Frames() + max(s.Frames()/4, c.added(s)) // for a reload that makes it larger
	usual := min(inBuffer+c.worldBuffers(), mostUsual)
	return cmp.Or(c.running.Frames, c.DPDK.Frames.Or(usual))
}

// addable is how many ports can be added to a running switch for which the file does not count the frame buffers.
const addable = 2

// added is how many frame buffers they take, if they are like the last one and virtual.
func (c *Switch) added(s *dataplane.SwitchConfig) int {
	room := units.Size(0)
	for prio := range pfc.Classes {
		if s.Lossless>>prio&1 != 0 {
			room += s.PFC[prio].XOFF + s.Ports[len(s.Ports)-1].Headroom
		}
	}
	rings := dpdk.WorldBuffers([]string{"net_null"}, 0, 0) - dpdk.WorldBuffers(nil, 0, 0)
	return addable * (int(room/s.Cell) + 1 + rings)
}

// worldBuffers is how many frame buffers rings and workers hold, and those for frames of the switch's own.
func (c *Switch) worldBuffers() int {
	var devices []string
	for i := range c.Ports {
		devices = append(devices, c.Ports[i].Device.V)
	}
	gap := c.pollGap()
	if c.running.Places > 0 {
		gap = c.running.Gap // rings stay as they were opened
	}
	return dpdk.WorldBuffers(devices, c.DPDK.Workers.Or(1), gap)
}

// pollGap is the gap between two polls for which receive rings are to have room; 0: there is nothing to lose.
func (c *Switch) pollGap() units.Time {
	if !c.Lossless() {
		return 0
	}
	return c.PFC.Response.Or(defaultResponse)
}

// Lossless reports whether there are frames that must not be lost, at any port.
func (c *Switch) Lossless() bool {
	set, err := c.PFC.lossless()
	some := set != 0
	for _, p := range c.Ports {
		some = some || len(p.Lossless) > 0 || p.Pause.V
	}
	return err == nil && some
}

// checkFrameBuffers says what the frame buffers cannot hold: without a free one no XOFF could be sent.
func (c *Switch) checkFrameBuffers(n *SwitchNode) error {
	s := &n.Config
	frames, reserve := c.frames(s), c.worldBuffers()
	if s.Frames() <= frames-reserve {
		return nil
	}
	if frames <= reserve {
		return fail(c.DPDK.Frames, "frames %d: rings of %d ports and workers take %d of them, and the buffer needs some, too", frames, len(s.Ports), reserve)
	}
	const more = "or more by `dpdk: {frames: N}`, from the start"
	most := units.Size(frames-reserve) * s.Cell
	if reserved := s.Reserved(); reserved > most {
		what := "xoff and headroom of all ports and lossless priorities"
		if s.Minimums() > 0 {
			what += ", and the min of queues,"
		}
		p := &c.PFC
		smaller := "a smaller xoff"
		line := cmp.Or(p.XOFF.Line, p.Headroom.Line, p.HeadPool.Line, c.minLine(), c.DPDK.Frames.Line, p.MACPHY.Line,
			p.Response.Line)
		if line == 0 {
			if line = c.longestWay(s); line > 0 {
				smaller = "a shorter way to the peer"
			} else {
				line = c.Rate.Line
			}
		}
		return &Error{Line: line, Err: fmt.Errorf("%s are %v, and %d frame buffers hold %v at most: the last XOFF would never be sent (%s, %s)", what, reserved, frames, most, smaller, more)}
	}
	if where := c.Buffer; !where.IsSet() {
		where.Line = cmp.Or(c.PFC.XOFF.Line, c.DPDK.Frames.Line)
		return fail(where, "buffer %v, by default %v for all ports' xoff and headroom and %v to share: "+
			"%d frame buffers hold %v at most (`buffer: %v`, which leaves %v to share, %s)",
			s.Buffer, s.Reserved(), defaultShared, frames, most, most, most-s.Reserved(), more)
	}
	return fail(c.Buffer, "buffer %v: %d frame buffers hold %v at most (a smaller one, %s)",
		s.Buffer, frames, most, more)
}

// longestWay is where the file says how far the peer is, of the port that needs most headroom; 0: nowhere.
func (c *Switch) longestWay(s *dataplane.SwitchConfig) int {
	most := 0
	for i := range c.Ports {
		if s.Ports[i].Headroom > s.Ports[most].Headroom {
			most = i
		}
	}
	p := &c.Ports[most]
	return cmp.Or(p.Delay.Line, p.CableDelay.Line, p.Cable.Line)
}
