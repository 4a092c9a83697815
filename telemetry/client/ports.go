package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"photon/telemetry/socket"
)

// SetPort has a switch shut a port, or open it, and returns what it says.
func (c *Client) SetPort(ctx context.Context, port string, up bool) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
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

// ClearWatermarks resets the watermarks of a port, or of all if it is empty, and returns what the node says.
func (c *Client) ClearWatermarks(ctx context.Context, port string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.orderPort(ctx, "/clear/watermarks", url.Values{"port": {port}})
}

func (c *Client) orderPort(ctx context.Context, path string, values url.Values) (string, error) {
	body, err := c.do(ctx, http.MethodPost, path, values)
	if err != nil {
		return "", err
	}
	defer body.Close()
	var r socket.PortSaid
	if err := json.NewDecoder(body).Decode(&r); err != nil {
		return "", c.failed(err)
	}
	return r.Said, nil
}
