package show

import (
	"fmt"
	"io"
	"strconv"

	"photon/units"
	"photon/wire"
)

// FlowList is what an agent tells of its flows, in the order of their numbers.
type FlowList struct {
	Node      string       `json:"node"`
	IP        wire.IP      `json:"ip"`
	Now       float64      `json:"now"`
	Pending   int          `json:"pending"`
	Running   int          `json:"running"`
	Refused   uint64       `json:"refused"`
	Failed    uint64       `json:"failed"`
	Forgotten uint64       `json:"forgotten"` // ended and not listed any more
	Flows     []FlowStatus `json:"flows"`
}

// FlowStatus is one flow. Times are seconds of the agent, sizes bytes.
type FlowStatus struct {
	ID        uint64  `json:"id"`
	Group     string  `json:"group"`
	To        wire.IP `json:"to"`
	QP        uint32  `json:"qp"`
	Size      int64   `json:"bytes"` // of payload; 0: until it is stopped
	State     string  `json:"state"` // pending, running, done, stopped, refused, failed
	Start     float64 `json:"start_s"`
	FirstBit  float64 `json:"first_bit_s"`
	End       float64 `json:"end_s"` // 0: it has not ended
	FCT       float64 `json:"fct_s"` // first bit out to last acknowledgement in; 0: not done
	Rate      int64   `json:"rate_bps"`
	Allowed   int64   `json:"allowed_bps"`   // by the reaction point now
	Packets   uint64  `json:"packets"`       // sent, repetitions included
	WireBytes uint64  `json:"wire_bytes"`    // of them, preamble and gap included
	Notified  uint64  `json:"notified"`      // CNPs and CNMs
	Limited   bool    `json:"limited"`       // a rate limiter is associated
	Why       string  `json:"why,omitempty"` // it was refused, or failed
}

// FlowCSV is the head of flows as CSV; Row is a line of it.
var FlowCSV = []string{
	"id", "group", "to", "qp", "bytes", "state", "start_s", "first_bit_s", "end_s", "fct_s", "rate_bps", "allowed_bps", "packets", "wire_bytes", "notified", "limited", "why",
}

// Row is the flow as a line of CSV.
func (f *FlowStatus) Row() []string {
	float := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return []string{
		strconv.FormatUint(f.ID, 10), f.Group, f.To.String(), strconv.FormatUint(uint64(f.QP), 10), strconv.FormatInt(f.Size, 10), f.State, float(f.Start), float(f.FirstBit),
		float(f.End), float(f.FCT), strconv.FormatInt(f.Rate, 10), strconv.FormatInt(f.Allowed, 10), strconv.FormatUint(f.Packets, 10), strconv.FormatUint(f.WireBytes, 10),
		strconv.FormatUint(f.Notified, 10), strconv.FormatBool(f.Limited), f.Why,
	}
}

// Table implements Document.
func (d *FlowList) Table(w io.Writer) {
	t := newTable("ID", "Group", "To", "QP", "Size", "State", "Start", "FCT", "Rate", "Allowed", "Packets", "CNPs", "Why")
	blank := func(empty bool, v string) string {
		if empty {
			return "-"
		}
		return v
	}
	for i := range d.Flows {
		f := &d.Flows[i]
		t.Row(f.ID, blank(f.Group == "", f.Group), f.To, f.QP, blank(f.Size == 0, units.Size(f.Size).String()), f.State, seconds(f.Start), blank(f.FCT == 0, seconds(f.FCT)),
			megabits(f.Rate), blank(f.State != "running", megabits(f.Allowed)), f.Packets, f.Notified, blank(f.Why == "", f.Why))
	}
	t.Print(w)
	fmt.Fprintf(w, "\n%d wait for their start, %d are sent, %d were refused, %d failed, ", d.Pending, d.Running, d.Refused, d.Failed)
	fmt.Fprintf(w, "%d ended and are not listed any more\n", d.Forgotten)
}

func seconds(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) + "s" }

func megabits(bps int64) string { return strconv.FormatFloat(float64(bps)/1e6, 'f', 2, 64) + "Mbps" }
