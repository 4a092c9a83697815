package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"photon/telemetry/node"
	"photon/units"
	"photon/wire"
)

// What an agent is asked to send, see node.
type (
	FlowOrders   = node.FlowOrders
	FlowOrder    = node.FlowOrder
	FlowsOrdered = node.FlowsOrdered
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
		t.row(f.ID, blank(f.Group == "", f.Group), f.To, f.QP, blank(f.Size == 0, units.Size(f.Size).String()), f.State, seconds(f.Start), blank(f.FCT == 0, seconds(f.FCT)),
			megabits(f.Rate), blank(f.State != "running", megabits(f.Allowed)), f.Packets, f.Notified, blank(f.Why == "", f.Why))
	}
	t.write(w)
	fmt.Fprintf(w, "\n%d wait for their start, %d are sent, %d were refused, %d failed, ", d.Pending, d.Running, d.Refused, d.Failed)
	fmt.Fprintf(w, "%d ended and are not listed any more\n", d.Forgotten)
}

func seconds(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) + "s" }

func megabits(bps int64) string { return strconv.FormatFloat(float64(bps)/1e6, 'f', 2, 64) + "Mbps" }

// FlowSource is an agent's traffic.
type FlowSource interface {
	Order(FlowOrders) (FlowsOrdered, error)
	// List returns up to most flows with numbers above after.
	List(after uint64, most int) FlowList
	// Stop ends flows and returns how many of them had not ended.
	Stop(ids []uint64) (stopped int, err error)
}

const (
	// flowPage is how many flows one answer lists: the port waits while they are copied.
	flowPage = 1000
	// mostOrders bounds a request; each flow is some 250 bytes of it.
	mostOrders = 256 << 20
)

type stopFlows struct {
	IDs []uint64 `json:"ids"`
}

type stoppedFlows struct {
	Stopped int `json:"stopped"`
}

// Flows answers to `photon flow`. A nil source refuses: switches have no flows.
func (a *Admin) Flows(s FlowSource) {
	handle := func(pattern string, do func(r *http.Request) (any, error)) {
		a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if s == nil {
				refuse(w, errors.New("a switch has no flows of its own: ask an agent"))
				return
			}
			v, err := do(r)
			if err != nil {
				refuse(w, err)
				return
			}
			answer(w, v)
		})
	}
	handle("GET /flows", func(r *http.Request) (any, error) {
		after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64) // absent: from the first
		return s.List(after, flowPage), nil
	})
	handle("POST /flows", func(r *http.Request) (any, error) {
		var o FlowOrders
		if err := decodeBody(r, &o); err != nil {
			return nil, err
		}
		return s.Order(o)
	})
	handle("POST /flows/stop", func(r *http.Request) (any, error) {
		var ids stopFlows
		if err := decodeBody(r, &ids); err != nil {
			return nil, err
		}
		n, err := s.Stop(ids.IDs)
		return stoppedFlows{n}, err
	})
}

func decodeBody(r *http.Request, v any) error {
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, mostOrders))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("the request is not understood: %w", err)
	}
	return nil
}

// call posts a document and reads the answer into v.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, body, v any) error {
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			return err
		}
	}
	answer, err := c.send(ctx, method, path, query, bytes.NewReader(b))
	if err != nil {
		return err
	}
	defer answer.Close()
	if err := json.NewDecoder(answer).Decode(v); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	return nil
}

// OrderFlows has an agent send flows.
func (c *Client) OrderFlows(ctx context.Context, o FlowOrders) (ordered FlowsOrdered, err error) {
	err = c.call(ctx, http.MethodPost, "/flows", nil, o, &ordered)
	return ordered, err
}

// StopFlows ends flows of an agent and returns how many had not ended.
func (c *Client) StopFlows(ctx context.Context, ids []uint64) (int, error) {
	var s stoppedFlows
	err := c.call(ctx, http.MethodPost, "/flows/stop", nil, stopFlows{ids}, &s)
	return s.Stopped, err
}

// ListFlows fetches all flows of an agent with numbers above after, some at a time.
func (c *Client) ListFlows(ctx context.Context, after uint64) (all FlowList, err error) {
	var list []FlowStatus
	for {
		var page FlowList
		if err := c.call(ctx, http.MethodGet, "/flows", url.Values{"after": {strconv.FormatUint(after, 10)}}, nil, &page); err != nil {
			return all, err
		}
		all = page
		if len(page.Flows) == 0 {
			all.Flows = list
			return all, nil
		}
		list = append(list, page.Flows...)
		after = page.Flows[len(page.Flows)-1].ID
	}
}
