package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"photon/telemetry/node"
	"photon/telemetry/show"
	"photon/telemetry/socket"
)

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
		return c.failed(err)
	}
	_, _ = io.Copy(io.Discard, answer) // a connection with something left in it is not used again
	return nil
}

// ask is call of what a node answers at once.
func (c *Client) ask(ctx context.Context, method, path string, query url.Values, body, v any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.call(ctx, method, path, query, body, v)
}

// OrderFlows has an agent send flows.
func (c *Client) OrderFlows(ctx context.Context, o node.FlowOrders) (ordered node.FlowsOrdered, err error) {
	err = c.call(ctx, http.MethodPost, "/flows", nil, o, &ordered)
	return ordered, err
}

// StopFlows ends flows of an agent and returns how many had not ended.
func (c *Client) StopFlows(ctx context.Context, ids []uint64) (int, error) {
	var s socket.StoppedFlows
	err := c.ask(ctx, http.MethodPost, "/flows/stop", nil, socket.StopFlows{IDs: ids}, &s)
	return s.Stopped, err
}

// ListFlows fetches all flows of an agent with numbers above after, some at a time.
func (c *Client) ListFlows(ctx context.Context, after uint64) (all show.FlowList, err error) {
	var list []show.FlowStatus
	for {
		var page show.FlowList
		from := url.Values{"after": {strconv.FormatUint(after, 10)}}
		if err := c.ask(ctx, http.MethodGet, "/flows", from, nil, &page); err != nil {
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
