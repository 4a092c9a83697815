package client

import (
	"context"
	"net/http"
	"net/url"

	"photon/telemetry/socket"
)

// SetPort has a switch shut a port, or open it, and returns what it says.
func (c *Client) SetPort(ctx context.Context, port string, up bool) (string, error) {
	admin := "down"
	if up {
		admin = "up"
	}
	var r socket.PortSaid
	err := c.ask(ctx, http.MethodPost, "/port", url.Values{"port": {port}, "admin": {admin}}, nil, &r)
	return r.Said, err
}

// AddPort has a switch make a device a port; rate may be empty. It returns what the switch says.
func (c *Client) AddPort(ctx context.Context, device, rate string) (string, error) {
	var r socket.PortSaid
	err := c.order(ctx, "/port/add", url.Values{"device": {device}, "rate": {rate}}, nil, &r)
	return r.Said, err
}

// RemovePort has a switch give a port's device back, and returns what it says.
func (c *Client) RemovePort(ctx context.Context, port string) (string, error) {
	var r socket.PortSaid
	err := c.order(ctx, "/port/remove", url.Values{"port": {port}}, nil, &r)
	return r.Said, err
}

// ClearWatermarks resets the watermarks of a port, or of all if it is empty, and returns what the node says.
func (c *Client) ClearWatermarks(ctx context.Context, port string) (string, error) {
	var r socket.PortSaid
	err := c.ask(ctx, http.MethodPost, "/clear/watermarks", url.Values{"port": {port}}, nil, &r)
	return r.Said, err
}
