package daemon

import (
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"time"

	"go.uber.org/zap"

	"photon/config"
	"photon/telemetry/admin"
	"photon/telemetry/live"
	"photon/telemetry/metrics"
	"photon/telemetry/page"
)

// sockets are where a daemon can be asked. They are opened before anything else, so that
// what is taken is said before anything starts, and answered when it serves.
type sockets struct {
	metrics *metrics.Server // nil: nowhere
	admin   *admin.Server   // the same
	live    *page.Server    // the same
	pprof   *metrics.Server // the same
}

// asked is where a daemon of a name is to be asked.
type asked struct {
	name          string
	metrics, live string   // addresses; empty: nowhere
	pprof         string   // the same
	warnings      []string // warnings of those on all addresses
	admin         config.Admin
}

// open opens them. A place that was named must be free. At the one that follows from
// the name no other photon may be; if it cannot be made at all the node still does its work.
func (a *asked) open(log *zap.SugaredLogger) (*sockets, error) {
	s := &sockets{}
	if err := a.openAll(s, log); err != nil {
		s.close()
		return nil, refused(err)
	}
	return s, nil
}

func (a *asked) openAll(s *sockets, log *zap.SugaredLogger) (err error) {
	if a.metrics != "" {
		if s.metrics, err = metrics.Listen(a.metrics); err != nil {
			return taken(fmt.Errorf("metrics: %w", err), fmt.Sprintf("metrics: another program listens at %s (`metrics:`, or --metrics of a switch, names another address, or off)", a.metrics))
		}
	}
	if s.admin, err = a.openAdmin(log); err != nil {
		return err
	}
	if a.live != "" {
		if s.live, err = page.Listen(a.live); err != nil {
			return taken(err, fmt.Sprintf("live page: another program listens at %s (`live:`, or --live of a switch, names another address)", a.live))
		}
	}
	if a.pprof != "" {
		if s.pprof, err = metrics.Listen(a.pprof); err != nil {
			return taken(fmt.Errorf("pprof: %w", err), fmt.Sprintf("pprof: another program listens at %s (`pprof:` names another address)", a.pprof))
		}
	}
	for _, line := range a.warnings {
		log.Warn(line)
	}
	return nil
}

// openAdmin opens the admin socket; nil if there is to be none.
func (a *asked) openAdmin(log *zap.SugaredLogger) (*admin.Server, error) {
	switch {
	case a.admin.Off:
		return nil, nil
	case a.admin.Path != "":
		return admin.Listen(a.admin.Path)
	}
	s, err := admin.ListenDefault(a.name)
	if errors.Is(err, admin.ErrTaken) {
		return nil, fmt.Errorf("%w: its name is %q, too (`name:` gives this one another; `admin:`, or --admin of a switch, names another socket, or off)", err, a.name)
	}
	if err != nil {
		log.Warnf("no admin socket, so photon show will not find this one (`admin:` or --admin names another place): %v", err)
		return nil, nil
	}
	return s, nil
}

// taken is what an error of listening means if the address is in use.
func taken(err error, what string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return errors.New(what)
	}
	return err
}

// serve answers, and logs where.
func (s *sockets) serve(d *daemon) {
	source := d.source()
	if s.metrics != nil {
		s.metrics.Watch(d.logRequest("metrics"))
		s.metrics.Serve(d.version, source, d.series)
		d.log.Infof("metrics on http://%s/metrics", s.metrics.Address())
	}
	if s.admin != nil {
		s.admin.Watch(d.logRequest("admin socket"))
		d.answer(s.admin, source)
		d.log.Infof("admin socket %s", s.admin.Path())
	}
	if s.live != nil {
		s.live.Serve(live.Page(d.name, source))
		d.log.Infof("live page %s", s.live.URL())
	}
	if s.pprof != nil {
		s.pprof.Profiles()
		d.log.Infof("profiles on http://%s/debug/pprof/", s.pprof.Address())
	}
}

// logRequest logs a request to one of the sockets that was answered, if the log is verbose.
func (d *daemon) logRequest(socket string) func(*http.Request, time.Duration) {
	return func(r *http.Request, took time.Duration) {
		d.log.Debugf("%s: %s %s answered in %v", socket, r.Method, r.URL, took.Round(time.Microsecond))
	}
}

// close ends it.
func (s *sockets) close() {
	if s.live != nil {
		s.live.Close()
	}
	if s.admin != nil {
		s.admin.Close()
	}
	if s.pprof != nil {
		s.pprof.Close()
	}
	if s.metrics != nil {
		s.metrics.Close()
	}
	*s = sockets{}
}
