package admin

import (
	"fmt"
	"net/http"
	"strconv"

	"photon/telemetry"
	"photon/telemetry/live"
	"photon/telemetry/socket"
)

// Live answers for what moves.
func (a *Server) Live(s *telemetry.Source) {
	a.mux.HandleFunc("GET "+socket.Live, func(w http.ResponseWriter, r *http.Request) {
		top, err := strconv.Atoi(r.FormValue("flows"))
		if err != nil || top < 0 || top > live.MaxTop {
			refuse(w, fmt.Errorf("%q flows: from 0 to %d", r.FormValue("flows"), live.MaxTop))
			return
		}
		answer(w, live.Take(s, top))
	})
}
