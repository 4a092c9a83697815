package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"photon/telemetry/node"
	"photon/telemetry/show"
	"photon/telemetry/socket"
)

// FlowSource is an agent's traffic.
type FlowSource interface {
	Order(node.FlowOrders) (node.FlowsOrdered, error)
	// List returns up to most flows with numbers above after.
	List(after uint64, most int) show.FlowList
	// Stop ends flows and returns how many of them had not ended.
	Stop(ids []uint64) (stopped int, err error)
}

const (
	// flowPage is how many flows one answer lists: the port waits while they are copied.
	flowPage = 1000
	// mostOrders bounds a request; each flow is some 250 bytes of it.
	mostOrders = 256 << 20
)

// Flows answers to `photon flow`. A nil source refuses: switches have no flows.
func (a *Server) Flows(s FlowSource) {
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
		text := r.URL.Query().Get("after")
		after, err := strconv.ParseUint(cmp.Or(text, "0"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("after=%s is no number of a flow", text)
		}
		return s.List(after, flowPage), nil
	})
	handle("POST /flows", func(r *http.Request) (any, error) {
		var o node.FlowOrders
		if err := decodeBody(r, &o); err != nil {
			return nil, err
		}
		return s.Order(o)
	})
	handle("POST /flows/stop", func(r *http.Request) (any, error) {
		var ids socket.StopFlows
		if err := decodeBody(r, &ids); err != nil {
			return nil, err
		}
		n, err := s.Stop(ids.IDs)
		return socket.StoppedFlows{Stopped: n}, err
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
