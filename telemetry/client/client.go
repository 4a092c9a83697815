package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"photon/telemetry/live"
	"photon/telemetry/show"
	"photon/telemetry/socket"
)

// Client asks a running photon over its admin socket.
type Client struct {
	// Slow gets a line while a node has not answered for some time to an order that may take it long; nil: nobody does.
	Slow func(line string)

	path     string
	http     http.Client
	patience time.Duration // for what a node answers at once
	longest  time.Duration // for what may take it long
}

// Refused is what a node said when it would not do what it was asked.
type Refused string

func (r Refused) Error() string { return string(r) }

// Dial returns a client for the socket at path or, if that is empty, for the
// node of a name, or for the only one that runs on this machine.
func Dial(path, name string) (*Client, error) {
	if path == "" {
		var err error
		if path, err = find(name); err != nil {
			return nil, err
		}
	} else if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, socket.Plain(err))
	} else if info.Mode()&os.ModeSocket == 0 {
		return nil, fmt.Errorf("%s is no socket of a photon", path)
	}
	return At(path), nil
}

func newClient(path string) *Client { return &Client{path: path, patience: patience, longest: longest} }

// At returns a client for the socket at a path, where a node that is about to start may not have made it yet.
func At(path string) *Client {
	c := newClient(path)
	c.http.Transport = &http.Transport{
		DisableKeepAlives: true, // or the node would keep a connection for each client that was not closed
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		},
	}
	return c
}

// Path is where the client asks.
func (c *Client) Path() string { return c.path }

// Running returns the names of the nodes that have a socket where photon makes them.
func Running() (names []string) {
	for _, dir := range socket.Dirs() {
		found, err := filepath.Glob(filepath.Join(dir, socket.Name("*")))
		if err != nil {
			continue // the pattern is a constant
		}
		for _, path := range found {
			names = append(names, strings.TrimSuffix(filepath.Base(path), socket.Name("")))
		}
	}
	return names
}

// find looks for sockets where photon makes them.
func find(name string) (string, error) {
	found := []string{}
	for _, dir := range socket.Dirs() {
		if name != "" { // it is no pattern: another node that it matches is not meant
			path := filepath.Join(dir, socket.Name(name))
			if _, err := os.Lstat(path); err == nil && filepath.Dir(path) == filepath.Clean(dir) {
				found = append(found, path)
			}
			continue
		}
		all, err := filepath.Glob(filepath.Join(dir, socket.Name("*")))
		if err != nil {
			return "", err
		}
		found = append(found, all...)
	}
	if len(found) > 1 { // those that killed photons have left
		if alive := slices.DeleteFunc(slices.Clone(found), abandoned); len(alive) > 0 {
			found = alive
		}
	}
	switch {
	case len(found) == 1 || len(found) > 1 && name != "":
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("several photons run here (%s): say which by --name or --socket", strings.Join(found, ", "))
	case name != "":
		return "", fmt.Errorf("no photon of the name %q runs here (no socket in %s; --socket names another place)", name, strings.Join(socket.Dirs(), ", "))
	}
	return "", fmt.Errorf("no photon runs here (no socket in %s; --socket names another place)", strings.Join(socket.Dirs(), ", "))
}

// abandoned reports whether nobody listens at a socket.
func abandoned(path string) bool {
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// do makes a request. A refusal comes back as an error with the node's words.
func (c *Client) do(ctx context.Context, method, path string, query url.Values) (io.ReadCloser, error) {
	return c.send(ctx, method, path, query, nil)
}

// send is do with a body.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, body io.Reader) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, (&url.URL{Scheme: "http", Host: "photon", Path: path, RawQuery: query.Encode()}).String(), body)
	if err != nil {
		return nil, err
	}
	a, err := c.http.Do(r)
	switch {
	case err != nil:
		return nil, c.failed(err)
	case a.StatusCode == http.StatusOK:
		return a.Body, nil
	}
	defer a.Body.Close()
	var why socket.Refusal
	if err := json.NewDecoder(a.Body).Decode(&why); err != nil || why.Error == "" {
		return nil, fmt.Errorf("%s: %s (another version of photon?)", c.path, a.Status)
	}
	return nil, Refused(why.Error)
}

const (
	// patience is how long a look at a node may take. It takes milliseconds, but cores may be
	// busy with others.
	patience = 10 * time.Second
	// longest is how long an order may take: a device that is opened may be slow, and its peer slower.
	longest = 2 * time.Minute
)

// failed is an error of an answer, with who gave it.
func (c *Client) failed(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: no answer: that photon hangs, or was stopped", c.path)
	}
	for _, broken := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, broken) {
			return fmt.Errorf("%s: the answer broke off: the photon that gave it has ended", c.path)
		}
	}
	return unreachable(c.path, err)
}

// unreachable is an error of a connection to a socket.
func unreachable(path string, err error) error {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nobody answers at %s: the photon that made it has ended", path)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s: only the user who started that photon may ask it", path)
	}
	var said lastWords
	request := (*url.Error)(nil)
	switch { // of the request, and of how far it had come, nobody needs to know
	case errors.As(err, &said):
		err = said
	case errors.As(err, &request):
		err = request.Err
	}
	return fmt.Errorf("%s: %w", path, socket.Plain(err))
}

// Reload has the node take over its changed configuration and returns what
// changed, a line each.
func (c *Client) Reload(ctx context.Context) ([]string, error) {
	var r socket.Reloaded
	err := c.order(ctx, "/reload", nil, nil, &r)
	return r.Changes, err
}

// Live fetches the counters for a view that moves; flows is how many flows of
// an agent are listed, at most live.MaxTop.
func (c *Client) Live(ctx context.Context, flows int) (*live.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	body, err := c.do(ctx, http.MethodGet, socket.Live, url.Values{"flows": {strconv.Itoa(flows)}})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	d := &live.Node{}
	if err := json.NewDecoder(body).Decode(d); err != nil {
		return nil, c.failed(err)
	}
	return d, nil
}

// Show fetches a topic: the document, and the JSON it came as.
func (c *Client) Show(ctx context.Context, t *show.Topic) (show.Document, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	body, err := c.do(ctx, http.MethodGet, t.Path(), nil)
	if err != nil {
		return nil, nil, err
	}
	defer body.Close()
	b, err := io.ReadAll(body)
	if err != nil {
		return nil, nil, c.failed(err)
	}
	d := t.Empty()
	if err := json.Unmarshal(b, d); err != nil {
		return nil, nil, c.failed(err)
	}
	return d, b, nil
}
