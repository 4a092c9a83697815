package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/units"
)

// alwaysDue is a notification point that has a notice due from the first packet on, and none when it is asked.
type alwaysDue struct {
	cnp.Silent
	due units.Time
}

func (p *alwaysDue) Data(now units.Time, _ int, _ uint8, _ int) { p.due = now }
func (p *alwaysDue) Next() units.Time                           { return p.due }

// A notification point that breaks its word would be asked at the same instant for ever: a host says so instead, with
// and without a delay of its CNPs.
func TestNoticesThatAreDueForEver(t *testing.T) {
	for _, delay := range []units.Time{0, units.Microsecond} {
		np := &alwaysDue{due: units.Never}
		p := newPair(t, np, func(c *agent.Config) { c.NPDelay = delay })
		p.send(1, 10*units.KB, 0)
		said := func() (said string) {
			defer func() { said = fmt.Sprint(recover()) }()
			p.run(ms)
			return said
		}()
		if !strings.HasPrefix(said, "notification point: ") || !strings.Contains(said, np.due.String()) {
			t.Errorf("delay %v: %s", delay, said)
		}
	}
}
