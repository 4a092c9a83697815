package show

import (
	"strings"
	"testing"

	"photon/internal/sample"
)

// Who stopped whom is said both ways, what lasts is marked, and what is no more kept is told.
func TestPausesForPeople(t *testing.T) {
	var b strings.Builder
	d := takePauses(sample.Source(false)).(*Pauses)
	if len(d.Pauses) != 2 || d.Pauses[0].By != "peer" || d.Pauses[0].Stopped != "sw0" || d.Pauses[0].Seconds != 0.001 || d.Pauses[0].Lasts ||
		d.Pauses[1].By != "sw0" || d.Pauses[1].Stopped != "peer" || !d.Pauses[1].Lasts || d.Pauses[1].Seconds != 1 || d.Ports[0].Lost != 2 {
		t.Errorf("%+v", d)
	}
	d.Table(&b)
	takeEvents(sample.Source(false)).Table(&b)
	for _, want := range []string{"1000.000\n", "1000000.000+\n", "sw0: 2 earlier ones are not kept (`history: {pauses: 4}`)", "storm", "pfc_watchdog"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

func TestHeadersInWords(t *testing.T) {
	for want, head := range map[string]string{
		"": "short",
		"30:30:30:30:30:30 > 30:30:30:30:30:30, EtherType 0x3030": strings.Repeat("0", 40),
	} {
		if got := inWords([]byte(head)); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
