package marking

import (
	"testing"

	"photon/units"
)

// A port is undetermined as long as max(Ton) after its last wait, even if nothing leaves; and then in no state that an
// old frame had, unless that was congestion.
func TestStateAtAnyTime(t *testing.T) {
	const us, ton = units.Microsecond, 100 * units.Microsecond
	p := NewTCD(TCDParams{REDParams{Kmin: units.KB, Kmax: units.KB, Pmax: 1}, ton}, 1)
	is := func(at units.Time, want TCDState) {
		t.Helper()
		if got := p.StateAt(at); got != want {
			t.Errorf("at %v: %d, want %d", at, got, want)
		}
	}
	is(0, TCDNone)
	p.Resume(10*us, Queue{Bytes: 5000})
	is(10*us, TCDUndetermined)
	is(110*us, TCDUndetermined)
	is(110*us+1, TCDNone)
	p.Dequeue(120*us, Queue{Bytes: 6000}, &Packet{Size: 1000}) // the first after the pattern, and the queue has grown
	is(120*us, TCDCongestion)
	is(500*us, TCDCongestion)
	p.Dequeue(600*us, Queue{Bytes: 100}, &Packet{Size: 1000})
	is(600*us, TCDNone)
}
