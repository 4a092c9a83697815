package config

// History is how much is kept of what happened at each port of a switch, for `photon show pfc history` and
// `photon show events`.
type History struct {
	Pauses Value[int] `yaml:"pauses"` // 1024; 0: none
	Events Value[int] `yaml:"events"` // discards and storms; 256; 0: none
}

// maxHistory bounds it: 24 bytes a pause and 144 an event, for each port.
const maxHistory = 1 << 20

func (h *History) check() error {
	for _, x := range []struct {
		v    Value[int]
		name string
	}{{h.Pauses, "pauses"}, {h.Events, "events"}} {
		if x.v.V < 0 || x.v.V > maxHistory {
			return fail(x.v, "history: %s %d must be from 0 (none are kept) to %d", x.name, x.v.V, maxHistory)
		}
	}
	return nil
}
