package show

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"photon/dataplane"
	"photon/telemetry"
	"photon/units"
	"photon/wire"
)

// stamp is an instant for people and programs.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// Pauses is `show pfc history`.
type Pauses struct {
	Node     string       `json:"node"`
	Capacity int          `json:"kept_per_port"`
	Ports    []PausesPort `json:"ports"`
	Pauses   []PauseEvent `json:"pauses"` // of all ports, by the time when they began
}

// PausesPort says how much of a port's past there is.
type PausesPort struct {
	Port  string `json:"port"`
	Peer  string `json:"peer"`  // as LLDP knows it; empty: it does not
	Ended uint64 `json:"ended"` // pauses, ever
	Lost  uint64 `json:"lost"`  // of them are no more kept
}

// PauseEvent is one pause.
type PauseEvent struct {
	Port      string  `json:"port"`
	Priority  int     `json:"priority"`
	Direction string  `json:"direction"` // rx: the peer stopped the port; tx: the port stopped its peer
	By        string  `json:"by"`        // who stopped
	Stopped   string  `json:"stopped"`   // whom
	From      string  `json:"from"`
	Seconds   float64 `json:"seconds"` // so far, if it lasts
	Lasts     bool    `json:"lasts"`
	at        units.Time
}

func takePauses(s *telemetry.Source) Document {
	past := s.Past()
	snap := &past.Snapshot
	d := &Pauses{Node: snap.Node, Capacity: past.Capacity.Pauses, Ports: []PausesPort{}, Pauses: []PauseEvent{}}
	for i := range snap.Numbers() {
		if i >= len(past.Pauses) {
			continue
		}
		p := PausesPort{Port: snap.Ports[i], Peer: snap.Peer(i), Ended: past.Ended[i]}
		ended := uint64(0)
		for _, x := range past.Pauses[i] {
			e := PauseEvent{Port: p.Port, Priority: int(x.Priority), Direction: "rx", By: cmp.Or(p.Peer, "peer"), Stopped: p.Port, at: x.From, From: stamp(snap.WallAt(x.From))}
			if x.Sent {
				e.Direction, e.By, e.Stopped = "tx", e.Stopped, e.By
			}
			if e.Lasts = x.Until == units.Never; e.Lasts {
				e.Seconds = (snap.Now - x.From).Seconds()
			} else {
				e.Seconds = (x.Until - x.From).Seconds()
				ended++
			}
			d.Pauses = append(d.Pauses, e)
		}
		p.Lost = p.Ended - min(p.Ended, ended)
		d.Ports = append(d.Ports, p)
	}
	slices.SortStableFunc(d.Pauses, func(a, b PauseEvent) int { return cmp.Compare(a.at, b.at) })
	return d
}

// Table implements Document.
func (d *Pauses) Table(w io.Writer) {
	t := newTable("From", "Stopped", "By", "Priority", "Microseconds")
	for _, p := range d.Pauses {
		lasts := ""
		if p.Lasts {
			lasts = "+"
		}
		t.Row(p.From, p.Stopped, p.By, p.Priority, fmt.Sprintf("%.3f%s", p.Seconds*1e6, lasts))
	}
	t.Print(w)
	for _, p := range d.Ports {
		if p.Lost > 0 {
			fmt.Fprintf(w, "\n%s: %d earlier ones are not kept (`history: {pauses: %d}`)\n", p.Port, p.Lost, d.Capacity)
		}
	}
}

// Events is `show events`.
type Events struct {
	Node     string      `json:"node"`
	Capacity int         `json:"kept_per_port"`
	Events   []PortEvent `json:"events"` // of all ports, by the time when they began
	Lost     uint64      `json:"lost"`   // that are no more kept
}

// PortEvent is what happened at a port.
type PortEvent struct {
	Port     string `json:"port"`
	Event    string `json:"event"`  // discard, storm or restored
	Reason   string `json:"reason"` // of a discard; docs/metrics.md explains each
	Priority int    `json:"priority"`
	From     string `json:"from"`
	Until    string `json:"until"`  // of the last frame
	Frames   uint64 `json:"frames"` // discarded; of a storm: that waited when it began
	Length   int    `json:"length"` // of the first, bytes without FCS; 0: there was none
	First    string `json:"first"`  // its headers in words
	Head     string `json:"head"`   // its first bytes, in hexadecimal
	at       units.Time
}

func takeEvents(s *telemetry.Source) Document {
	past := s.Past()
	snap := &past.Snapshot
	d := &Events{Node: snap.Node, Capacity: past.Capacity.Events, Events: []PortEvent{}}
	for i := range snap.Numbers() {
		if i >= len(past.Events) {
			continue
		}
		d.Lost += past.Ever[i] - min(past.Ever[i], uint64(len(past.Events[i])))
		for j := range past.Events[i] {
			x := &past.Events[i][j]
			e := PortEvent{
				Port: snap.Ports[i], Event: x.Kind.String(), Priority: int(x.Priority), From: stamp(snap.WallAt(x.At)), Until: stamp(snap.WallAt(x.Last)),
				Frames: x.Frames, Length: int(x.Length), Head: hex.EncodeToString(x.Head()), First: inWords(x.Head()), at: x.At,
			}
			if x.Kind == dataplane.FramesLost {
				e.Reason = x.Reason.String()
			}
			d.Events = append(d.Events, e)
		}
	}
	slices.SortStableFunc(d.Events, func(a, b PortEvent) int { return cmp.Compare(a.at, b.at) })
	return d
}

// Table implements Document.
func (d *Events) Table(w io.Writer) {
	t := newTable("From", "Port", "Event", "Reason", "Priority", "Frames", "First")
	for _, e := range d.Events {
		t.Row(e.From, e.Port, e.Event, cmp.Or(e.Reason, "-"), e.Priority, e.Frames, cmp.Or(e.First, "-"))
	}
	t.Print(w)
	if d.Lost > 0 {
		fmt.Fprintf(w, "\n%d earlier ones are not kept (`history: {events: %d}`)\n", d.Lost, d.Capacity)
	}
}

// inWords is the headers of a frame.
func inWords(b []byte) string {
	var h wire.Header
	if !wire.Parse(b, &h) {
		return ""
	}
	words := []string{fmt.Sprintf("%v > %v", h.Src, h.Dst)}
	if h.Tagged {
		words = append(words, fmt.Sprintf("VLAN %d PCP %d", int(b[14]&15)<<8|int(b[15]), h.PCP))
	}
	if h.L3 == 0 {
		return strings.Join(append(words, fmt.Sprintf("EtherType 0x%04x", h.EtherType)), ", ")
	}
	ip := b[h.L3:]
	from, to := ip[12:16], ip[16:20]
	if h.EtherType == wire.TypeIPv6 {
		from, to = ip[8:24], ip[24:40]
	}
	end := func(b []byte, port uint16) string {
		a, _ := netip.AddrFromSlice(b)
		if h.L4 != 0 {
			return netip.AddrPortFrom(a, port).String()
		}
		return a.String()
	}
	protocol := map[uint8]string{wire.ProtoTCP: "TCP", wire.ProtoUDP: "UDP", wire.ProtoICMP: "ICMP", wire.ProtoICMPv6: "ICMPv6"}[h.Proto]
	if h.BTH != 0 {
		protocol = "RoCEv2"
	}
	return strings.Join(append(words, fmt.Sprintf("%s %s > %s, DSCP %d ECN %d",
		cmp.Or(protocol, fmt.Sprintf("protocol %d", h.Proto)), end(from, h.SrcPort), end(to, h.DstPort), h.TOS>>2, h.TOS&3)), ", ")
}
