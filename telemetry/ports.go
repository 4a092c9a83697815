package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// Ports answers to `photon port`: set shuts a port or opens it, and says in a line what came of it.
func (a *Admin) Ports(set func(port string, up bool) (string, error)) {
	a.mux.HandleFunc("POST /port", func(w http.ResponseWriter, r *http.Request) {
		admin := r.FormValue("admin")
		if admin != "up" && admin != "down" {
			refuse(w, fmt.Errorf("admin %q: up or down", admin))
			return
		}
		said, err := set(r.FormValue("port"), admin == "up")
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, portSet{said})
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
	body, err := c.do(ctx, http.MethodPost, "/port", url.Values{"port": {port}, "admin": {admin}})
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
