package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

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
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	return c.call(ctx, method, path, query, body, v)
}

// order is call of what may take a node long: it says that it waits, and gives up when that takes too long. A node that
// hangs may do what it was asked when it goes on.
func (c *Client) order(ctx context.Context, path string, query url.Values, body, v any) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	go c.lose(ctx, giveUp)
	err := c.call(ctx, http.MethodPost, path, query, body, v)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w; it may still do what it was asked to", err)
	}
	return err
}

// lose loses patience with a node twice, until the context ends: at last it ends it.
func (c *Client) lose(ctx context.Context, giveUp context.CancelCauseFunc) {
	select {
	case <-time.After(c.patience):
	case <-ctx.Done():
		return
	}
	if c.Slow != nil {
		c.Slow(fmt.Sprintf(
			"%s: no answer for %v; this waits for %v at most, or until Ctrl-C", c.path, c.patience, c.longest,
		))
	}
	select {
	case <-time.After(c.longest - c.patience):
		giveUp(context.DeadlineExceeded)
	case <-ctx.Done():
	}
}

// OrderFlows has an agent send flows.
func (c *Client) OrderFlows(ctx context.Context, o node.FlowOrders) (ordered node.FlowsOrdered, err error) {
	err = c.order(ctx, "/flows", nil, o, &ordered)
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
