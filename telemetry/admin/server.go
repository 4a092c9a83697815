package admin

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
	"time"

	"photon/internal/httpd"
	"photon/telemetry"
	"photon/telemetry/show"
	"photon/telemetry/socket"
)

// Server is the socket by which `photon show` and its sisters reach a running
// switch or agent: HTTP on a unix socket that only its owner may open.
type Server struct {
	path   string
	server *httpd.Server
	mux    *http.ServeMux
	stop   context.CancelFunc // of what is being answered
}

// ErrTaken says that another photon listens at an admin socket.
var ErrTaken = errors.New("another photon answers there")

// ListenDefault listens where `photon show` will look for a node of that name. If
// another has the name the error is an ErrTaken.
func ListenDefault(node string) (*Server, error) {
	var errs []error
	for _, dir := range socket.Dirs() {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			errs = append(errs, err)
			continue
		}
		a, err := Listen(filepath.Join(dir, socket.Name(node)))
		if err == nil || errors.Is(err, ErrTaken) {
			return a, err
		}
		errs = append(errs, err)
	}
	return nil, errs[0]
}

// Listen makes the socket, with mode 0600. A socket that nobody listens to any
// more is replaced; one that is in use is an error, as is anything else there.
func Listen(path string) (*Server, error) {
	// The mode is the socket's before it has a name, so that at no time anybody
	// else can open it.
	c := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		if outer := raw.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) }); outer != nil {
			return outer
		}
		return err
	}}
	defer lockFolder(filepath.Dir(path))()
	l, err := c.Listen(context.Background(), "unix", path)
	if errors.Is(err, syscall.EADDRINUSE) {
		if err = removeStale(path); err == nil {
			l, err = c.Listen(context.Background(), "unix", path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("admin socket %s: %w", path, socket.Plain(err))
	}
	a := &Server{path: path, mux: http.NewServeMux()}
	var ctx context.Context
	ctx, a.stop = context.WithCancel(context.Background())
	a.server = httpd.New(l, a.mux, func(s *http.Server) { s.BaseContext = func(net.Listener) context.Context { return ctx } })
	return a, nil
}

// lockFolder has other photons wait until the function that it returns is called: between the look at a socket
// that was left and its removal, another might have made its own there. A folder that cannot be locked for a while
// is not, because anybody may hold the lock of /tmp.
func lockFolder(dir string) (unlock func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for range 100 {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return func() { f.Close() }
}

// removeStale removes a socket without a listener.
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

// Path is where the socket is.
func (a *Server) Path() string { return a.path }

// Show answers for every topic; those that the node has nothing of are refused.
func (a *Server) Show(s *telemetry.Source) {
	for i := range show.Topics {
		t := &show.Topics[i]
		a.mux.HandleFunc("GET "+t.Path(), func(w http.ResponseWriter, _ *http.Request) {
			d, err := t.Ask(s)
			if err != nil {
				refuse(w, err)
				return
			}
			answer(w, d)
		})
	}
}

// Reload answers to `photon reload`: do takes over the changed configuration and
// says what changed, or why nothing did.
func (a *Server) Reload(do func() ([]string, error)) {
	a.mux.HandleFunc("POST /reload", func(w http.ResponseWriter, _ *http.Request) {
		changes, err := do()
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, socket.Reloaded{Changes: changes})
	})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // who asked has gone
}

func refuse(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusConflict)
	_ = json.NewEncoder(w).Encode(socket.Refusal{Error: err.Error()})
}

// Watch has each request reported when it was answered; call it before Serve.
func (a *Server) Watch(answered func(*http.Request, time.Duration)) { a.server.Watch(answered) }

// Serve answers until Close.
func (a *Server) Serve() { a.server.Serve() }

// Close ends what is being answered and removes the socket.
func (a *Server) Close() error {
	a.stop()
	return a.server.Close()
}
