package admin

import (
	"fmt"
	"net/http"

	"photon/telemetry/socket"
	"photon/units"
)

// PortCommands are the commands of `photon port`. Each says in a line what came of it.
type PortCommands interface {
	// SetPort shuts a port, or opens it.
	SetPort(port string, up bool) (string, error)
	// AddPort makes a device a port, with a link of a rate (0: the device's, or what the switch's file says).
	AddPort(device string, rate units.Rate) (string, error)
	// RemovePort gives a port's device back.
	RemovePort(port string) (string, error)
}

// said answers what came of an order.
func said(w http.ResponseWriter, text string, err error) {
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, socket.PortSaid{Said: text})
}

// Ports answers to `photon port`.
func (a *Server) Ports(to PortCommands) {
	a.mux.HandleFunc("POST /port/add", func(w http.ResponseWriter, r *http.Request) {
		rate := units.Rate(0)
		if text := r.FormValue("rate"); text != "" {
			var err error
			if rate, err = units.ParseRate(text); err != nil || rate <= 0 {
				refuse(w, fmt.Errorf("rate %q: a rate above 0 (write it like 10Gbps)", text))
				return
			}
		}
		text, err := to.AddPort(r.FormValue("device"), rate)
		said(w, text, err)
	})
	a.mux.HandleFunc("POST /port/remove", func(w http.ResponseWriter, r *http.Request) {
		text, err := to.RemovePort(r.FormValue("port"))
		said(w, text, err)
	})
	a.mux.HandleFunc("POST /port", func(w http.ResponseWriter, r *http.Request) {
		admin := r.FormValue("admin")
		if admin != "up" && admin != "down" {
			refuse(w, fmt.Errorf("admin %q: up or down", admin))
			return
		}
		text, err := to.SetPort(r.FormValue("port"), admin == "up")
		said(w, text, err)
	})
}
