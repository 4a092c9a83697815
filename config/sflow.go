package config

import (
	"net/netip"

	"go.yaml.in/yaml/v4"

	"photon/units"
)

// SFlow has a switch send samples of the frames that it receives, and counters of its ports, to a collector.
type SFlow struct {
	Collector Value[string]     `yaml:"collector"` // address and port: 10.0.0.9:6343
	Sampling  Value[int]        `yaml:"sampling"`  // one frame in so many; 1000
	Polling   Value[units.Time] `yaml:"polling"`   // of the counters; 20s; 0s: they are not sent
	Agent     Value[string]     `yaml:"agent"`     // address by which the collector knows the switch; that from which it sends

	Line int `yaml:"-"`
}

// UnmarshalYAML implements yaml.Unmarshaler: it notes the line, for one that says nothing.
func (s *SFlow) UnmarshalYAML(n *yaml.Node) error {
	type keys SFlow
	s.Line = n.Line
	return n.Load((*keys)(s), yaml.WithKnownFields())
}

func (s *SFlow) check() error {
	if s == nil {
		return nil
	}
	if at, err := netip.ParseAddrPort(s.Collector.V); err != nil || at.Port() == 0 {
		return FailIn([]any{s.Collector, s}, "sflow: collector %q: an address and a port belong here (write it like 10.0.0.9:6343)", s.Collector.V)
	}
	if n := s.Sampling; n.IsSet() && (n.V < 1 || n.V > 1<<24) {
		return fail(n, "sflow: sampling %d must be from 1 (every frame) to %d (one in so many)", n.V, 1<<24)
	}
	if p := s.Polling; p.IsSet() && p.V != 0 && (p.V < units.Second || p.V > 3600*units.Second) {
		return fail(p, "sflow: polling %v must be from 1s to 3600s, or 0s: counters are not sent", p.V)
	}
	if a := s.Agent; a.IsSet() {
		if _, err := netip.ParseAddr(a.V); err != nil {
			return fail(a, "sflow: agent %q: an address belongs here (write it like 10.0.0.1)", a.V)
		}
	}
	return nil
}

// Every is one frame in so many that is sampled.
func (s *SFlow) Every() int { return s.Sampling.Or(1000) }

// Interval is the time between two of counters; 0: they are not sent.
func (s *SFlow) Interval() units.Time { return s.Polling.Or(20 * units.Second) }
