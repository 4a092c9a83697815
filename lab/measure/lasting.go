package measure

import (
	"fmt"
	"strings"
)

// Lasting says of which times nobody knows the end: what they look at still was so at the last sample that they see, or
// was quiet for no longer than before. Such a time is at least as long.
func (w *Watch) Lasting() (notes []string) {
	var names []string
	for i := range w.e.Measure.Metrics {
		if m := (metric{&w.e.Measure.Metrics[i]}); m.lasts(w) {
			names = append(names, m.Name)
		}
	}
	if names == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: at least so long, what is timed may go on after the last sample that counts",
		strings.Join(names, ", "))}
}

// lasts reports whether what the metric gives the time of may go on after its last sample.
func (m metric) lasts(w *Watch) bool {
	first, last := m.span(w)
	if first >= last {
		return false
	}
	switch x := w.probes[m.Of.V]; m.Do.V {
	case "last_above":
		return m.decisive(w, x, first, last)[last-first-1] > m.Value
	case "last_below":
		return m.decisive(w, x, first, last)[last-first-1] < m.Value
	case "lifetime":
		begin, end, between := m.stirs(x, first, last)
		return begin >= 0 && last-end <= max(1, between)
	}
	return false
}
