package daemon

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"photon/lldp"
)

// Each thing that a port and its neighbour disagree about is logged once, also when another is put right before it, and
// again only if they have agreed about it meanwhile.
func TestMismatchesAreLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	d := &daemon{log: newLog(Options{Log: &log})}
	d.setNames("p0")
	x := &announced{logged: map[string][]string{}, own: dcbx(0b1000, 50)}
	for _, look := range []struct {
		peer lldp.DCBX
		pfc  int // lines of the log about it
		ets  int
	}{
		{dcbx(0b0001, 90), 1, 1},
		{dcbx(0b0001, 90), 0, 0},
		{dcbx(0b1000, 90), 0, 0}, // PFC is put right
		{dcbx(0b0001, 90), 1, 0}, // and wrong again
		{dcbx(0b0001, 50), 0, 0},
		{dcbx(0b1000, 50), 0, 0},
		{dcbx(0b1000, 90), 0, 1},
	} {
		d.neighbours.table.Update(time.Now(), 0, &lldp.Info{Chassis: "peer", Port: "1", TTL: 120, DCBX: look.peer})
		log.Reset()
		d.logMismatches(0, x)
		pfc, ets := 0, 0
		for line := range strings.Lines(log.String()) {
			switch {
			case !strings.Contains(line, "disagree:"):
			case strings.Contains(line, "PFC is on"):
				pfc++
			default:
				ets++
			}
		}
		if pfc != look.pfc || ets != look.ets {
			t.Errorf("%d lines about PFC, %d about shares; should be %d and %d:\n%s", pfc, ets, look.pfc, look.ets, &log)
		}
	}
}

// dcbx is what a port says that has PFC for some priorities, and gives two classes a share and the rest.
func dcbx(pfc, share uint8) (x lldp.DCBX) {
	x.PFC = &lldp.PFC{Priority: pfc}
	x.ETS = &lldp.ETS{Class: [8]uint8{1: 1}, Bandwidth: [8]uint8{share, 100 - share}, Algorithm: [8]uint8{lldp.Shares, lldp.Shares}}
	return x
}
