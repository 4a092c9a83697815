package agent_test

import (
	"context"
	"testing"

	"photon/agent"
	"photon/pfc"
	"photon/scheme"
)

// Whatever scheme there is, it runs behind NICs, too: three applications share a port, all of them go on, and nothing
// is lost, and no mark is seen, on the way.
func TestEverySchemeBehindNICs(t *testing.T) {
	for _, name := range scheme.Names() {
		w := newIncast(t, name)
		if err := w.Run(context.Background(), incastSpan); err != nil {
			t.Fatal(err)
		}
		if err := w.Audit(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range 3 {
			if got := w.apps[3].from[byte(i+1)]; got < 5000 { // of the 20 000 or so that are a third of the link
				t.Errorf("%s: of application %d arrive %d frames", name, i, got)
			}
			n := w.nics[i].Stats(w.Now()).Ports[agent.Wire]
			if lost := n.Discarded(); lost != [pfc.Classes]uint64{} {
				t.Errorf("%s: NIC %d discards what came from the wire: %v", name, i, lost)
			}
		}
		s := w.sw.Stats(w.Now())
		for i := range s.Ports {
			if lost := s.Ports[i].Discarded(); lost != [pfc.Classes]uint64{} {
				t.Errorf("%s: the switch discards %v at port %d", name, lost, i)
			}
		}
		expect(t, name+": marks that the application sees", w.apps[3].ce, 0)
	}
}
