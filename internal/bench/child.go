//go:build dpdk

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// beMeasured forwards until it is told to stop, as `photon switch` with this
// configuration would, but for the emulated rate of virtual devices.
func beMeasured(c testCase) error {
	conf := &config.Switch{}
	if err := config.Decode("switch.yaml", []byte(c.configuration()), conf); err != nil {
		return err
	}
	if err := conf.Check(); err != nil {
		return err
	}
	w, err := dpdk.New(conf.Options())
	if err != nil {
		return err
	}
	var devices []dpdk.Device
	for _, p := range conf.Ports {
		d, err := w.Open(p.Device.V, conf.MTU.Or(1500))
		if err != nil {
			return err
		}
		devices = append(devices, d)
	}
	node, err := conf.Resolve(devices)
	if err != nil {
		return err
	}
	envs := w.NewEnvs(c.Ports)
	sw, err := dataplane.NewSwitch(node.Config, envs)
	if err != nil {
		return err
	}
	sw.Reserve()
	id := w.Add("switch", sw, envs, node.Workers)
	w.TimeFrames(id)
	for i, d := range devices {
		if err := w.Attach(fabric.End{Node: id, Port: i}, d, fabric.Link{}); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error)
	debug.SetGCPercent(-1) // both as `photon switch` does
	w.SeldomStop()
	go func() { ended <- w.Run(ctx, units.Never) }()
	select {
	case <-w.Started(): // before that, what comes is thrown away
	case err := <-ended:
		return err
	}
	if c.sockets != "" {
		if err := wait(func() error { return connect(w) }); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	var before fabric.Stats
	for in := bufio.NewScanner(os.Stdin); in.Scan() && in.Text() != "stop"; {
		switch in.Text() {
		case "begin":
			for quietLooks := 0; quietLooks < 2; { // what was received before the first look was delivered before the second
				w.Do(func(now units.Time) {
					if quietLooks++; sw.Queued() > 0 {
						quietLooks = 0
					}
					before = sw.Stats(now)
				})
			}
			fmt.Println("begun")
		case "count":
			sum := uint64(0)
			for _, d := range w.Devices() {
				sum += d.TxFrames
			}
			fmt.Println("forwarded", sum)
		}
	}
	stop()
	<-ended
	if err := w.Audit(); err != nil {
		return err
	}
	if c.sockets != "" { // more is sent than it can forward
		fmt.Println("saw that its audit passed")
		return w.Close()
	}
	saw, err := c.check(before, sw.Stats(w.Now()), sw.Queued())
	if err != nil {
		return err
	}
	fmt.Println("saw", saw)
	return w.Close()
}

// check holds the switch to what it was to do with every frame between two looks, after which so
// many are queued, and tells what it did.
func (c testCase) check(before, after fabric.Stats, queued int) (string, error) {
	var received, sent, marked, routed uint64
	prios := uint8(0)
	for i := range after.Ports {
		s, b := &after.Ports[i], &before.Ports[i]
		for why := range s.Discards {
			if d := s.Discards[why]; d != b.Discards[why] {
				return "", fmt.Errorf("port %d discards, %v: %v, and before %v", i, fabric.Reason(why), d, b.Discards[why])
			}
		}
		if s.Ingress.Pauses != b.Ingress.Pauses {
			return "", fmt.Errorf("port %d: %v XOFF", i, s.Ingress.Pauses)
		}
		in, out := uint64(0), uint64(0)
		for p := range pfc.Classes {
			if n := s.RxFrames[p] - b.RxFrames[p]; n > 0 {
				in += n
				prios |= 1 << p
			}
			out += s.TxFrames[p] - b.TxFrames[p]
			marked += s.Marked[p] - b.Marked[p]
		}
		if in == 0 || out == 0 {
			return "", fmt.Errorf("port %d: %d frames received, %d sent", i, in, out)
		}
		received, sent, routed = received+in, sent+out, routed+s.Routed-b.Routed
	}
	if received != sent+uint64(queued) { // a flooded frame would be sent more than once
		return "", fmt.Errorf("%d frames received, %d sent, %d queued", received, sent, queued)
	}
	if c.routed != (routed == received) || !c.routed && routed > 0 {
		return "", fmt.Errorf("%d frames of %d routed", routed, received)
	}
	if want := c.priorities(); prios != want {
		return "", fmt.Errorf("priorities %08b, and not %08b", prios, want)
	}
	percent := 100 * float64(marked) / float64(sent)
	return fmt.Sprintf("%d frames of priorities %08b, all forwarded, none discarded or flooded, no XOFF, %.0f%% marked; "+
		"audit passed", received, prios, percent), nil
}

// connect has memif ports try again that found no place at the socket, as `photon switch` does.
func connect(w dpdk.World) error {
	w.Reconnect()
	for _, d := range w.Devices() {
		if !d.LinkUp {
			return fmt.Errorf("port %s has no peer", d.Spec)
		}
	}
	return nil
}
