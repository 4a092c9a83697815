package admin

import (
	"encoding/json"
	"net/http"

	"photon/telemetry/node"
)

// TestbedNode is what a node does for a testbed.
type TestbedNode interface {
	Info() node.Info
	SetScheme(node.Scheme) error
	Watch(node.Watch) error
	Recorded() node.Recording
}

// Testbed answers to `photon replay --testbed`.
func (a *Server) Testbed(n TestbedNode) {
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
		var s node.Scheme
		if err := decodeBody(r, &s); err != nil {
			return err
		}
		return n.SetScheme(s)
	})
	post("/node/watch", func(r *http.Request) error {
		var watch node.Watch
		if err := decodeBody(r, &watch); err != nil {
			return err
		}
		return n.Watch(watch)
	})
	a.mux.HandleFunc("GET /node/recorded", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(n.Recorded()) // without indents: there may be millions of values. Who asked has gone
	})
}
