package client

import (
	"context"
	"net/http"

	"photon/telemetry/node"
)

// Node asks who a node is.
func (c *Client) Node(ctx context.Context) (n node.Info, err error) {
	err = c.call(ctx, http.MethodGet, "/node", nil, nil, &n)
	return n, err
}

// SetScheme gives a node a scheme.
func (c *Client) SetScheme(ctx context.Context, s node.Scheme) error {
	return c.call(ctx, http.MethodPost, "/node/scheme", nil, s, &struct{}{})
}

// Watch has a node record.
func (c *Client) Watch(ctx context.Context, w node.Watch) error {
	return c.call(ctx, http.MethodPost, "/node/watch", nil, w, &struct{}{})
}

// Recorded fetches what a node has recorded.
func (c *Client) Recorded(ctx context.Context) (r node.Recording, err error) {
	err = c.call(ctx, http.MethodGet, "/node/recorded", nil, nil, &r)
	return r, err
}
