package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// Stream writes captured frames, as pcapng, until the context ends; flush is
// called when what was written shall go out.
type Stream func(ctx context.Context, w io.Writer, flush func() error) error

// Captures answers to `photon capture`: begin has frames of a port copied, of
// each the first snap bytes, until stop is called.
func (a *Server) Captures(begin func(port string, snap int) (s Stream, stop func(), err error)) {
	a.mux.HandleFunc("GET /capture", func(w http.ResponseWriter, r *http.Request) {
		snap, err := strconv.Atoi(r.FormValue("snap"))
		if err != nil || snap < 1 || snap > maxSnap {
			refuse(w, fmt.Errorf("%q bytes of each frame: from 1 to %d", r.FormValue("snap"), maxSnap))
			return
		}
		stream, stop, err := begin(r.FormValue("port"), snap)
		if err != nil {
			refuse(w, err)
			return
		}
		defer stop()
		w.Header().Set("Content-Type", "application/x-pcapng")
		_ = stream(r.Context(), w, http.NewResponseController(w).Flush) // who asked has gone
	})
}

// maxSnap is the longest frame, with two tags.
const maxSnap = 9216 + 22
