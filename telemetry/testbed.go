package telemetry

import (
	"context"
	"net/http"

	"photon/telemetry/node"
)

// What a testbed asks of its nodes: who they are, a scheme, a recording.

type (
	NodeInfo   = node.Info
	NodeScheme = node.Scheme
	Watch      = node.Watch
	PeerFlow   = node.PeerFlow
	Recording  = node.Recording
)

// Bounds of recordings, see node.
const (
	WatchTick   = node.WatchTick
	MostWatched = node.MostWatched
)

// TestbedNode is what a node does for a testbed.
type TestbedNode interface {
	Info() NodeInfo
	SetScheme(NodeScheme) error
	Watch(Watch) error
	Recorded() Recording
}

// Testbed answers to `photon replay --testbed`.
func (a *Admin) Testbed(n TestbedNode) {
	a.mux.HandleFunc("GET /node", func(w http.ResponseWriter, _ *http.Request) { answer(w, n.Info()) })
	post := func(path string, do func(r *http.Request) error) {
		a.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			if err := do(r); err != nil {
				refuse(w, err)
				return
			}
			answer(w, struct{}{})
		})
	}
	post("/node/scheme", func(r *http.Request) error {
		var s NodeScheme
		if err := decodeBody(r, &s); err != nil {
			return err
		}
		return n.SetScheme(s)
	})
	post("/node/watch", func(r *http.Request) error {
		var watch Watch
		if err := decodeBody(r, &watch); err != nil {
			return err
		}
		return n.Watch(watch)
	})
	a.mux.HandleFunc("GET /node/recorded", func(w http.ResponseWriter, _ *http.Request) { answer(w, n.Recorded()) })
}

// Node asks who a node is.
func (c *Client) Node(ctx context.Context) (n NodeInfo, err error) {
	err = c.call(ctx, http.MethodGet, "/node", nil, nil, &n)
	return n, err
}

// SetScheme gives a node a scheme.
func (c *Client) SetScheme(ctx context.Context, s NodeScheme) error {
	return c.call(ctx, http.MethodPost, "/node/scheme", nil, s, &struct{}{})
}

// Watch has a node record.
func (c *Client) Watch(ctx context.Context, w Watch) error {
	return c.call(ctx, http.MethodPost, "/node/watch", nil, w, &struct{}{})
}

// Recorded fetches what a node has recorded.
func (c *Client) Recorded(ctx context.Context) (r Recording, err error) {
	err = c.call(ctx, http.MethodGet, "/node/recorded", nil, nil, &r)
	return r, err
}
