package daemon

import (
	"errors"
	"fmt"

	"photon/units"
)

// watermarked is a node that keeps the most that was in its queues.
type watermarked interface {
	// ClearWatermarks resets those of a port. It is called between bursts.
	ClearWatermarks(port int)
}

// watermarked is the node that has watermarks, whatever stands before it to impair frames; nil: this one has none.
func (d *daemon) watermarked() watermarked {
	switch {
	case d.sw != nil:
		return d.sw
	case d.nic != nil:
		return d.nic
	}
	return nil
}

// clearWatermarks resets the watermarks of a port, or of all ports if it is empty, and then the longest poll gap, too.
func (d *daemon) clearWatermarks(port string) (message string, err error) {
	node := d.watermarked()
	if node == nil {
		return "", errors.New("an agent that sends flows of its own has no watermarks: ask a switch, or an agent that is a NIC")
	}
	clear, of := []int(nil), "the longest poll gap and the watermarks of all ports begin anew"
	if port != "" {
		i, err := d.number(port)
		if err != nil {
			return "", err
		}
		clear, of = []int{i}, fmt.Sprintf("the watermarks of port %s begin anew", port)
	}
	d.world.DoBriefly(func(units.Time) {
		for _, i := range clear {
			node.ClearWatermarks(i)
		}
		if clear != nil {
			return
		}
		for i := range d.names() {
			node.ClearWatermarks(i)
		}
		if d.sw != nil {
			d.sw.ClearPools()
		}
		d.world.ClearPace()
	})
	d.log.Info(of)
	return of, nil
}
