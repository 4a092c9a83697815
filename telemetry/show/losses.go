package show

import (
	"fmt"
	"io"
	"strings"
	"time"

	"photon/fabric"
	"photon/telemetry"
)

// Losses is `show losses`.
type Losses struct {
	Node   string `json:"node"`
	Losses []Loss `json:"losses"` // none: nothing was lost at the ports that there are

	Removed uint64       `json:"removed_ports_frames"` // that lossless priorities of ports lost which have been removed
	Devices []DeviceLoss `json:"devices"`              // that dropped frames
}

// DeviceLoss is what a port's device, or the kernel behind it, dropped of all priorities.
type DeviceLoss struct {
	Port     string `json:"port"`
	Received uint64 `json:"rx_frames"` // before photon had them, or because they were too long or damaged
	Sent     uint64 `json:"tx_frames"` // which photon counts as sent
}

// Loss is what a lossless priority of a port lost.
type Loss struct {
	Port     string       `json:"port"`
	Priority int          `json:"priority"`
	Frames   uint64       `json:"frames"`
	Reasons  []LossReason `json:"reasons"`
	First    time.Time    `json:"first"` // when the first was lost
}

// LossReason is how many frames were lost for a reason.
type LossReason struct {
	Reason string `json:"reason"`
	Frames uint64 `json:"frames"`
}

// LossesOf finds what a node's lossless priorities have lost.
func LossesOf(s *telemetry.Snapshot) []Loss {
	all := []Loss{}
	for i := range s.Numbers() {
		p := &s.Stats.Ports[i]
		for prio := range p.LostAt {
			l := Loss{Port: s.Ports[i], Priority: prio}
			for why := range fabric.Reasons {
				if n := p.Discards[why][prio]; n > 0 && why.Loses() {
					l.Frames += n
					l.Reasons = append(l.Reasons, LossReason{why.String(), n})
				}
			}
			// Of a lossless priority, or of a port that sends PAUSE.
			if first, lost := s.FirstLoss(i, prio); l.Frames > 0 && lost {
				l.First = first.UTC().Truncate(time.Microsecond)
				all = append(all, l)
			}
		}
	}
	return all
}

// Why is for which reasons frames were lost, in words.
func (l *Loss) Why() string {
	var words []string
	for _, r := range l.Reasons {
		words = append(words, fmt.Sprintf("%d %s", r.Frames, r.Reason))
	}
	return strings.Join(words, ", ")
}

func takeLosses(s *telemetry.Source) Document {
	snap := s.Snapshot()
	d := &Losses{Node: snap.Node, Removed: snap.Gone, Losses: LossesOf(&snap), Devices: []DeviceLoss{}}
	for i := range snap.Numbers() {
		if i >= len(snap.Devices) {
			continue
		}
		x := &snap.Devices[i]
		l := DeviceLoss{
			Port:     snap.Ports[i],
			Received: x.RxMissed + x.RxNoBuffer + x.RxTooLong + x.RxSeveral + x.RxErrors,
			Sent:     x.TxErrors + x.TxTooLong + x.TxDropped,
		}
		if l.Received+l.Sent > 0 {
			d.Devices = append(d.Devices, l)
		}
	}
	return d
}

// Table implements Document.
func (d *Losses) Table(w io.Writer) {
	switch {
	case d.Removed > 0:
		fmt.Fprintf(w, "Ports that were removed lost %d frames of lossless priorities (the log has their counters).\n\n",
			d.Removed)
	case len(d.Losses) == 0:
		fmt.Fprint(w, "The switch has lost no frame of a lossless priority.\n\n")
	}
	t := newTable("Queue", "Lost/pkts", "First", "Reasons")
	for i := range d.Losses {
		l := &d.Losses[i]
		t.Row(fmt.Sprintf("%s:%d", l.Port, l.Priority), l.Frames, stamp(l.First), l.Why())
	}
	t.Print(w)
	if len(d.Devices) == 0 {
		return
	}
	fmt.Fprint(w, "\nDevices have dropped frames, of whatever priority (`photon_device_*`):\n\n")
	t = newTable("Port", "Received/pkts", "Sent/pkts")
	for _, l := range d.Devices {
		t.Row(l.Port, l.Received, l.Sent)
	}
	t.Print(w)
}
