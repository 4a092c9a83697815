package admin

import "net/http"

// Watermarks answers to `photon clear watermarks`: clear resets the watermarks of a port, or of all if it is empty.
func (a *Server) Watermarks(clear func(port string) (said string, err error)) {
	a.mux.HandleFunc("POST /clear/watermarks", func(w http.ResponseWriter, r *http.Request) {
		text, err := clear(r.FormValue("port"))
		said(w, text, err)
	})
}
