package show

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"photon/lldp"
	"photon/pfc"
	"photon/telemetry"
)

// LLDP is `show lldp`.
type LLDP struct {
	Node  string     `json:"node"`
	On    bool       `json:"on"`
	Ports []LLDPView `json:"ports"`
}

// LLDPView is one port that says who it is.
type LLDPView struct {
	Port       string         `json:"port"`
	Sent       uint64         `json:"tx_frames"`
	Received   uint64         `json:"rx_frames"`
	Lost       uint64         `json:"rx_lost"`
	Malformed  uint64         `json:"rx_malformed"`
	Own        DCBXView       `json:"own"`
	Neighbours []LLDPNeighbor `json:"neighbours"`
}

// LLDPNeighbor is one who spoke there.
type LLDPNeighbor struct {
	Chassis      string     `json:"chassis_id"`
	Port         string     `json:"port_id"`
	System       string     `json:"system_name"`
	Text         string     `json:"system_description"`
	PortText     string     `json:"port_description"`
	MAC          string     `json:"mac"`
	Capabilities []string   `json:"capabilities"`
	Expires      float64    `json:"expires_seconds"` // unless it sends another frame
	DCBX         DCBXView   `json:"dcbx"`
	Mismatches   []Mismatch `json:"mismatches"`
}

// DCBXView is what a port says of data center bridging; what it says nothing of is null.
type DCBXView struct {
	PFC  *PFCView `json:"pfc"`
	ETS  *ETSView `json:"ets"`
	Asks *ETSView `json:"ets_recommendation"`
	Apps []string `json:"applications"`
}

// PFCView is PFC of a port.
type PFCView struct {
	Willing    bool  `json:"willing"`
	Priorities []int `json:"priorities"`
}

// ETSView is how a port shares its link; the arrays are by priority.
type ETSView struct {
	Willing   bool      `json:"willing"`
	Algorithm [8]string `json:"algorithm"` // strict, cbs, ets, or a number
	Percent   [8]int    `json:"percent"`   // of the link, of those with ets
}

// Mismatch is where a port and its neighbour disagree.
type Mismatch struct {
	Feature string `json:"feature"` // pfc, ets or applications
	Text    string `json:"text"`
}

func takeLLDP(s *telemetry.Source) Document {
	snap := s.Snapshot()
	d := &LLDP{Node: snap.Node, On: snap.LLDP != nil, Ports: []LLDPView{}}
	for i := range snap.Numbers() {
		if i >= len(snap.LLDP) || !snap.LLDP[i].On {
			continue
		}
		p := &snap.LLDP[i]
		v := LLDPView{
			Port: snap.Ports[i], Sent: p.Counts.Sent, Received: p.Counts.Received, Lost: p.Counts.Lost, Malformed: p.Malformed,
			Own: viewDCBX(&p.Own), Neighbours: []LLDPNeighbor{},
		}
		for j := range p.Neighbours {
			n := &p.Neighbours[j]
			x := LLDPNeighbor{
				Chassis: n.Chassis, Port: n.Port, System: n.SystemName, Text: n.SystemText, PortText: n.PortText, MAC: n.From.String(),
				Capabilities: append([]string{}, lldp.Abilities(n.Capabilities)...), Expires: max(0, n.Until.Sub(snap.Wall).Seconds()),
				DCBX: viewDCBX(&n.DCBX), Mismatches: []Mismatch{},
			}
			for _, m := range lldp.Compare(&p.Own, &n.DCBX) {
				x.Mismatches = append(x.Mismatches, Mismatch{m.Feature.String(), m.Text})
			}
			v.Neighbours = append(v.Neighbours, x)
		}
		d.Ports = append(d.Ports, v)
	}
	return d
}

func viewDCBX(d *lldp.DCBX) (v DCBXView) {
	if p := d.PFC; p != nil {
		v.PFC = &PFCView{Willing: p.Willing, Priorities: pfc.Priorities(p.Priority)}
	}
	v.ETS, v.Asks = viewETS(d.ETS), viewETS(d.Recommended)
	if d.HasApps {
		v.Apps = []string{}
		for _, a := range d.Apps {
			v.Apps = append(v.Apps, a.String())
		}
	}
	return v
}

func viewETS(e *lldp.ETS) *ETSView {
	if e == nil {
		return nil
	}
	v := &ETSView{Willing: e.Willing}
	for prio, class := range e.Class {
		switch a := e.Algorithm[class&7]; a {
		case lldp.Strict:
			v.Algorithm[prio] = "strict"
		case lldp.Credit:
			v.Algorithm[prio] = "cbs"
		case lldp.Shares:
			v.Algorithm[prio], v.Percent[prio] = "ets", int(e.Bandwidth[class&7])
		default:
			v.Algorithm[prio] = fmt.Sprint(a)
		}
	}
	return v
}

// Table implements Document.
func (d *LLDP) Table(w io.Writer) {
	if !d.On {
		fmt.Fprintln(w, "This switch does not speak LLDP (`lldp: {}` in its file changes that).")
		return
	}
	t := newTable("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "PFC", "ETS", "Mismatch", "Expires")
	var texts []string
	for _, p := range d.Ports {
		for _, n := range p.Neighbours {
			features := ""
			for _, m := range n.Mismatches {
				features += m.Feature + " "
				texts = append(texts, fmt.Sprintf("%s: it and %s disagree: %s", p.Port, cmp.Or(n.System, n.Chassis), m.Text))
			}
			t.Row(p.Port, cmp.Or(n.System, n.Chassis), n.Port, strings.Join(n.Capabilities, " "), n.DCBX.PFC.word(), n.DCBX.ETS.word(),
				cmp.Or(strings.TrimSpace(features), "-"), fmt.Sprintf("%.0fs", n.Expires))
		}
	}
	t.Print(w)
	if texts != nil {
		fmt.Fprintf(w, "\n%s\n", strings.Join(texts, "\n"))
	}
}

func (p *PFCView) word() string {
	if p == nil {
		return "-"
	}
	word := strings.Trim(fmt.Sprint(p.Priorities), "[]")
	return cmp.Or(word, "none") + willing(p.Willing)
}

func (e *ETSView) word() string {
	if e == nil {
		return "-"
	}
	var shares []string
	for prio, percent := range e.Percent {
		if e.Algorithm[prio] == "ets" {
			shares = append(shares, fmt.Sprintf("%d:%d%%", prio, percent))
		}
	}
	return cmp.Or(strings.Join(shares, " "), "strict") + willing(e.Willing)
}

func willing(w bool) string {
	if w {
		return " (willing)"
	}
	return ""
}
