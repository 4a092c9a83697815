package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"photon/internal/httpd"
)

// Admin is the socket by which `photon show` and its sisters reach a running
// switch or agent: HTTP on a unix socket that only its owner may open.
type Admin struct {
	path   string
	server *httpd.Server
	mux    *http.ServeMux
	stop   context.CancelFunc // of what is being answered
}

// systemDir is where daemons keep their sockets.
var systemDir = "/run/photon"

// runtimeDirs are where sockets are made, in order of preference.
func runtimeDirs() []string {
	dirs := []string{systemDir}
	if own := os.Getenv("XDG_RUNTIME_DIR"); own != "" {
		dirs = append(dirs, filepath.Join(own, "photon"))
	}
	return dirs
}

// socketName is a node's socket in a runtime directory.
func socketName(node string) string { return node + ".sock" }

// ErrTaken says that another photon listens at an admin socket.
var ErrTaken = errors.New("another photon answers there")

// ListenDefault listens where `photon show` will look for a node of that name. If
// another has the name the error is an ErrTaken.
func ListenDefault(node string) (*Admin, error) {
	var errs []error
	for _, dir := range runtimeDirs() {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			errs = append(errs, err)
			continue
		}
		a, err := Listen(filepath.Join(dir, socketName(node)))
		if err == nil || errors.Is(err, ErrTaken) {
			return a, err
		}
		errs = append(errs, err)
	}
	return nil, errs[0]
}

// Listen makes the socket, with mode 0600. A socket that nobody listens to any
// more is replaced; one that is in use is an error, as is anything else there.
func Listen(path string) (*Admin, error) {
	// The mode is the socket's before it has a name, so that at no time anybody
	// else can open it.
	c := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		if outer := raw.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) }); outer != nil {
			return outer
		}
		return err
	}}
	l, err := c.Listen(context.Background(), "unix", path)
	if errors.Is(err, syscall.EADDRINUSE) {
		if err = removeStale(path); err == nil {
			l, err = c.Listen(context.Background(), "unix", path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("admin socket %s: %w", path, plain(err))
	}
	a := &Admin{path: path, mux: http.NewServeMux()}
	var ctx context.Context
	ctx, a.stop = context.WithCancel(context.Background())
	a.server = httpd.New(l, a.mux, func(s *http.Server) { s.BaseContext = func(net.Listener) context.Context { return ctx } })
	return a, nil
}

// removeStale removes a socket to which nobody listens.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return errors.New("there is something that is not a socket")
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
		return ErrTaken
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}

// plain leaves out what an error of the network says of addresses.
func plain(err error) error {
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return errno
	}
	return err
}

// Path is where the socket is.
func (a *Admin) Path() string { return a.path }

// Show answers for every topic; those that the node has nothing of are refused.
func (a *Admin) Show(s *Source) {
	for i := range Topics {
		t := &Topics[i]
		a.mux.HandleFunc("GET "+t.path(), func(w http.ResponseWriter, _ *http.Request) {
			if err := t.refuses(s); err != nil {
				refuse(w, err)
				return
			}
			answer(w, t.take(s))
		})
	}
}

// Reload answers to `photon reload`: do takes over the changed configuration and
// says what changed, or why nothing did.
func (a *Admin) Reload(do func() ([]string, error)) {
	a.mux.HandleFunc("POST /reload", func(w http.ResponseWriter, _ *http.Request) {
		changes, err := do()
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, reloaded{changes})
	})
}

type reloaded struct {
	Changes []string `json:"changes"`
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // who asked has gone
}

// refusal is the answer to what cannot be done.
type refusal struct {
	Error string `json:"error"`
}

func refuse(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusConflict)
	_ = json.NewEncoder(w).Encode(refusal{err.Error()})
}

// Serve answers until Close.
func (a *Admin) Serve() { a.server.Serve() }

// Close ends what is being answered and removes the socket.
func (a *Admin) Close() error {
	a.stop()
	return a.server.Close()
}
