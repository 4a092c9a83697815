package sim

import "fmt"

// Audit checks that every node accounts for every frame, and that every link carried what the nodes at its ends say.
func (w *World) Audit() error {
	for i := range w.members {
		m := &w.members[i]
		if err := m.node.Audit(); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if err := w.auditLinks(m); err != nil {
			return fmt.Errorf("%s %w", m.name, err)
		}
	}
	return nil
}

func (w *World) auditLinks(m *member) error {
	st := m.node.Stats(w.now)
	for number := range st.Ports {
		p := &w.ports[m.first+number]
		if p.peer == unlinked {
			continue
		}
		sent, received := st.Ports[number].Frames()
		if uint32(sent) != p.sent || uint32(received) != p.delivered {
			return fmt.Errorf("port %d: says %d sent and %d received, the links carried %d and %d",
				number, sent, received, p.sent, p.delivered)
		}
		if far := &w.ports[p.peerID()]; p.sent != far.delivered+far.flight.len() {
			return fmt.Errorf("port %d: %d frames sent, %d arrived or on their way", number, p.sent, far.delivered+far.flight.len())
		}
	}
	return nil
}
