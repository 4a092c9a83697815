//go:build dpdk

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"photon/internal/testnet"
)

// background is a program that runs in a namespace until the test ends.
type background struct {
	cmd   *exec.Cmd
	log   *watched
	ended chan error
}

func inBackground(t *testing.T, c *exec.Cmd) *background {
	t.Helper()
	b := &background{cmd: c, log: &watched{}, ended: make(chan error, 1)}
	c.Stdout, c.Stderr = b.log, b.log
	c.SysProcAttr.Setpgid = true // what it starts ends with it
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { b.ended <- c.Wait() }()
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // who has ended is not there any more
		if t.Failed() {
			t.Logf("%s says\n%s", c.Path, b.log)
		}
	})
	return b
}

// stop ends it as an operator would, and returns how it ended.
func (b *background) stop(t *testing.T) error {
	t.Helper()
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-b.ended:
		return err
	case <-time.After(time.Minute):
		return fmt.Errorf("it does not end")
	}
}

// server is a Prometheus in a namespace.
type server struct {
	t      *testing.T
	client *http.Client
}

// get asks its API.
func (s *server) get(path string, query url.Values, into any) error {
	r, err := s.client.Get("http://127.0.0.1:9090/api/v1/" + path + "?" + query.Encode())
	if err != nil {
		return err
	}
	defer r.Body.Close()
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s", answer.Error)
	}
	return json.Unmarshal(answer.Data, into)
}

// value is the first sample of a query's answer, and how many there are.
func (s *server) value(query string) (first string, n int, err error) {
	var data struct{ Result []struct{ Value [2]any } }
	if err := s.get("query", url.Values{"query": {query}}, &data); err != nil {
		return "", 0, err
	}
	if len(data.Result) > 0 {
		first, _ = data.Result[0].Value[1].(string)
	}
	return first, len(data.Result), nil
}

// until waits until something is so.
func (s *server) until(what string, ok func() (done bool, why string)) {
	s.t.Helper()
	why := ""
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		var done bool
		if done, why = ok(); done {
			return
		}
	}
	s.t.Fatalf("not within 90 s: %s: %s", what, why)
}

// choices are what a variable of a dashboard can be, as the regular expression
// that Grafana makes of all of them.
func (s *server) choices(definition string) string {
	s.t.Helper()
	m := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`).FindStringSubmatch(definition)
	if m == nil {
		s.t.Fatalf("variable %q", definition)
	}
	var values []string
	s.until(definition, func() (bool, string) {
		err := s.get("label/"+m[2]+"/values", url.Values{"match[]": {strings.ReplaceAll(m[1], "$node", ".+")}}, &values)
		return err == nil && len(values) > 0, fmt.Sprint(values, err)
	})
	return "(" + strings.Join(values, "|") + ")"
}

// The demo of deploy/, scraped by the real Prometheus with its configuration:
// every query of every dashboard returns data, and every rule is evaluated. When
// the demo ends, an alert says so.
func TestDemoUnderPrometheus(t *testing.T) {
	n := testnet.New(t, "demo")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := n.Command("../../deploy/demo/demo.sh")
	c.Env = append(os.Environ(), beMain+"=1", "PHOTON="+self)
	demo := inBackground(t, c)

	dir := t.TempDir()
	for _, name := range []string{"prometheus.yml", "rules.yml"} {
		b, err := os.ReadFile(filepath.Join("../../deploy/prometheus", name))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(b), "_interval: 5s", "_interval: 500ms") // a test does not wait so long
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inBackground(t, n.Command("prometheus", "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", "127.0.0.1:9090"))
	s := &server{t, n.Client()}
	s.until("four targets answer", func() (bool, string) {
		v, _, err := s.value(`count(up{job="photon"} == 1)`)
		return v == "4", fmt.Sprint(v, err)
	})
	// Every flow of the demo's beginning is one that marks, is told, and slows down.
	for _, query := range []string{
		"sum(photon_queue_ecn_marked_packets_total) > 100", "sum(photon_rp_cnp_handled_total) > 100", "sum(photon_np_cnp_sent_total) > 100",
		`min(photon_rp_flows{node=~"demo-h[01]"}) >= 3`, "sum(photon_worker_poll_gap_seconds_count) > 1000", "count(photon_device_up == 1) == 6",
		"count(photon_residence_seconds_count > 10) == 3",
	} {
		s.until(query, func() (bool, string) {
			_, n, err := s.value(query)
			return n == 1, fmt.Sprint(err)
		})
	}
	queries := 0
	for _, d := range dashboards(t) {
		replace := []string{"$__rate_interval", "10s"}
		for _, v := range d.Templating.List {
			if v.Type == "query" {
				replace = append(replace, "$"+v.Name, s.choices(v.Definition))
			}
		}
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				query := strings.NewReplacer(replace...).Replace(q.Expr)
				queries++
				s.until(fmt.Sprintf("%s, %s: %s", d.Title, p.Title, query), func() (bool, string) {
					_, n, err := s.value(query)
					return n > 0, fmt.Sprint(err)
				})
			}
		}
	}
	if queries < 50 {
		t.Errorf("only %d queries", queries)
	}
	s.rules(func(name, health, lastError string, alerts int) (bool, string) {
		return health == "ok" && lastError == "", fmt.Sprint(name, " ", health, " ", lastError)
	})

	if err := demo.stop(t); err != nil {
		t.Errorf("the demo: %v", err)
	}
	s.rules(func(name, _, _ string, alerts int) (bool, string) {
		return name != "PhotonDown" || alerts == 4, fmt.Sprint(alerts, " nodes are missed")
	})
}

// rules waits until all rules are as they should be.
func (s *server) rules(ok func(name, health, lastError string, alerts int) (bool, string)) {
	s.t.Helper()
	s.until("rules", func() (bool, string) {
		var data struct {
			Groups []struct {
				Rules []struct {
					Name, Health, LastError string
					Alerts                  []any
				}
			}
		}
		if err := s.get("rules", nil, &data); err != nil {
			return false, err.Error()
		}
		if len(data.Groups) != 1 || len(data.Groups[0].Rules) < 6 {
			return false, fmt.Sprintf("%+v", data)
		}
		for _, r := range data.Groups[0].Rules {
			if fine, why := ok(r.Name, r.Health, r.LastError, len(r.Alerts)); !fine {
				return false, why
			}
		}
		return true, ""
	})
}
