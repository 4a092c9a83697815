package sim

import (
	"context"
	"testing"

	"photon/fabric"
	"photon/units"
)

// passer is a node whose workers hand something over to each other: each that finds it has it for the other.
type passer struct {
	env   *fabric.Env
	for1  bool // the second worker is to find it, not the first
	found []units.Time
}

func (p *passer) Receive(_ units.Time, _ int, burst []fabric.Frame) {
	p.for1, p.found = true, []units.Time{}
	p.env.Free(burst[0])
}

func (p *passer) Poll(now units.Time, worker int) {
	if p.found != nil && p.for1 == (worker == 1) && len(p.found) < gapsUntilIdle {
		p.found, p.for1 = append(p.found, now), !p.for1
	}
}

func (p *passer) Transmit(units.Time, int, []fabric.Frame) int { return 0 }
func (p *passer) Next(units.Time, int) units.Time              { return units.Never }
func (p *passer) Stats(units.Time) fabric.Stats                { return fabric.Stats{} }
func (p *passer) Audit() error                                 { return nil }
func (p *passer) Close()                                       {}

// sender sends one frame.
type sender struct {
	passer
	sent bool
}

func (s *sender) Transmit(_ units.Time, _ int, burst []fabric.Frame) int {
	if s.sent {
		return 0
	}
	s.sent = true
	burst[0], _ = s.env.Alloc(60)
	return 1
}

// What a worker has for another is found within a poll gap after it was put there, and what that one then has for the
// first within another, however often they hand it over before they are idle.
func TestWorkersPollUntilTheyAreIdle(t *testing.T) {
	const gap = units.Microsecond
	w := New()
	w.SetWorkers(2, gap)
	envs := w.NewEnvs(2)
	p := &passer{env: envs[0]}
	w.Add("P", p, envs, []int{0, 1})
	link := fabric.Link{Rate: rate, Delay: units.Microsecond}
	var first *sender
	for port := range 2 {
		envs := w.NewEnvs(1)
		s := &sender{passer: passer{env: envs[0]}, sent: port == 1}
		w.Add("S", s, envs, []int{0})
		if err := w.Connect(end(0, port), end(1+port, 0), link); err != nil {
			t.Fatal(err)
		}
		if port == 0 {
			first = s
		}
	}
	first.env.Wake(0, 0)
	if err := w.Run(context.Background(), units.Millisecond); err != nil {
		t.Fatal(err)
	}
	put := link.Serialize(60) + link.Delay
	if len(p.found) != gapsUntilIdle {
		t.Fatalf("it was found %d times: %v", len(p.found), p.found)
	}
	for i, at := range p.found {
		if at < put || at > put+gap {
			t.Errorf("number %d was put there at %v and found at %v", i, put, at)
		}
		put = at
	}
}
