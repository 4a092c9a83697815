//go:build browser

package live

import (
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"photon/internal/browser"
	"photon/internal/sample"
	"photon/telemetry"
	"photon/units"
)

// A port that was removed leaves the table, and one that was added in its place begins anew: what it has counted
// was not counted since the look before.
func TestOtherPortsInBrowser(t *testing.T) {
	every := liveEvery
	liveEvery = 0
	defer func() { liveEvery = every }()
	of, other, looks := sample.Source(false), atomic.Bool{}, atomic.Int64{}
	take := of.Snapshot
	of.Snapshot = func() telemetry.Snapshot {
		s := take()
		s.Now = units.Time(looks.Add(1)) * units.Second
		if other.Load() {
			s.Ports = []string{"sw1"}
			s.Stats.Ports[0].RxBytes[3] = 1e15
		}
		return s
	}
	s := httptest.NewServer(Page("n1", of).Handler())
	defer s.Close()
	p := browser.Open(t, s.URL, 1280, 900)
	row := func(port string) string { return `document.querySelector('tr[data-port="` + port + `"]')` }
	p.Becomes(row("sw0") + ` !== null`)
	other.Store(true)
	p.Becomes(row("sw1") + ` !== null`)
	p.Becomes(row("sw0") + ` === null`)
	const received = `charts.find(c => c.title === 'Receives').u.data`
	p.Becomes(received + `[0].length > 3`)
	if top := browser.Is[float64](p, `Math.max(...`+received+`.slice(1).flat())`); top != 0 {
		t.Errorf("a port that is idle received %g bit/s", top)
	}
	p.Quiet()
}
