package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"photon/units"
)

// PortOrders are what `photon port` orders. Each says in a line what came of it.
type PortOrders interface {
	// SetPort shuts a port, or opens it.
	SetPort(port string, up bool) (string, error)
	// AddPort makes a device a port, with a link of a rate (0: the device's, or what the switch's file says).
	AddPort(device string, rate units.Rate) (string, error)
	// RemovePort gives a port's device back.
	RemovePort(port string) (string, error)
}

// Ports answers to `photon port`.
func (a *Admin) Ports(to PortOrders) {
	said := func(w http.ResponseWriter, said string, err error) {
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, portSet{said})
	}
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

type portSet struct {
	Said string `json:"said"`
}

// SetPort has a switch shut a port, or open it, and returns what it says.
func (c *Client) SetPort(ctx context.Context, port string, up bool) (string, error) {
	admin := "down"
	if up {
		admin = "up"
	}
	return c.orderPort(ctx, "/port", url.Values{"port": {port}, "admin": {admin}})
}

// AddPort has a switch make a device a port; rate may be empty. It returns what the switch says.
func (c *Client) AddPort(ctx context.Context, device, rate string) (string, error) {
	return c.orderPort(ctx, "/port/add", url.Values{"device": {device}, "rate": {rate}})
}

// RemovePort has a switch give a port's device back, and returns what it says.
func (c *Client) RemovePort(ctx context.Context, port string) (string, error) {
	return c.orderPort(ctx, "/port/remove", url.Values{"port": {port}})
}

func (c *Client) orderPort(ctx context.Context, path string, values url.Values) (string, error) {
	body, err := c.do(ctx, http.MethodPost, path, values)
	if err != nil {
		return "", err
	}
	defer body.Close()
	var r portSet
	if err := json.NewDecoder(body).Decode(&r); err != nil {
		return "", fmt.Errorf("%s: %w", c.path, err)
	}
	return r.Said, nil
}
