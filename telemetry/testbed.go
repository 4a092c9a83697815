package telemetry

import (
	"context"
	"net/http"

	"photon/dataplane"
	"photon/units"
	"photon/wire"
)

// What a testbed asks of its nodes: who they are, a scheme, a recording.

// NodeInfo is who a node is.
type NodeInfo struct {
	Name     string          `json:"name"`
	Switch   bool            `json:"switch"`
	Ports    []string        `json:"ports"`
	Rates    []units.Rate    `json:"rates"`             // of the links, by port
	Lossless uint8           `json:"lossless"`          // set of priorities
	IP       wire.IP         `json:"ip,omitempty"`      // of an agent
	MAC      wire.MAC        `json:"mac,omitempty"`     // of an agent
	Payload  units.Size      `json:"payload,omitempty"` // of an agent's full packet
	XOFF     units.Size      `json:"xoff,omitempty"`    // of a switch, of its first lossless priority
	Scheme   string          `json:"scheme"`            // in force
	Now      units.Time      `json:"now"`               // the node's clock
	Balanced string          `json:"unbalanced"`        // what does not add up in its accounts; empty: all does
	Missed   uint64          `json:"missed"`            // frames that its devices and the kernel dropped
	Stats    dataplane.Stats `json:"stats"`
}

// NodeScheme is the scheme that a node is to have.
type NodeScheme struct {
	Name   string            `json:"name"`
	Params map[string]string `json:"params"`
}

// Watch is what a node is to record.
type Watch struct {
	From     units.Time `json:"from"`  // the node's time; the first sample is one span later
	Every    units.Time `json:"every"` // a multiple of WatchTick
	Samples  int        `json:"samples"`
	Flows    []uint64   `json:"flows"`    // of an agent: those it sends, by number
	Received []PeerFlow `json:"received"` // of an agent: those it receives
}

// PeerFlow is a flow as its receiver knows it.
type PeerFlow struct {
	From wire.IP `json:"from"`
	QP   uint32  `json:"qp"`
}

const (
	// WatchTick is how often a node looks whether a sample is due.
	WatchTick = 10 * units.Microsecond
	// MostWatched bounds a recording: values, of 8 bytes.
	MostWatched = 16 << 20
)

// Recording is what a node has recorded: columns of values as they were, one for
// each sample; counters count from the node's start. Done says that it is complete.
type Recording struct {
	Done   bool      `json:"done"`
	Begin  []int64   `json:"begin"` // by column, at the start
	Names  []string  `json:"names"`
	Values [][]int64 `json:"values"`
}

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
