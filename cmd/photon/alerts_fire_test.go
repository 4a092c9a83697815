//go:build dpdk

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// fired asks promtool which alerts two scrapes raise, each as its name, port, priority and reason: Prometheus sees the
// one for a minute, and then the other for three.
func fired(t *testing.T, before, after map[string]float64) map[string]bool {
	t.Helper()
	type series struct {
		Series string `json:"series"`
		Values string `json:"values"`
	}
	type try struct {
		At     string   `json:"eval_time"`
		Name   string   `json:"alertname"`
		Expect []string `json:"exp_alerts"`
	}
	rules, err := filepath.Abs("../../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	var all []series
	for name, is := range after {
		if !strings.HasPrefix(name, "photon_") {
			continue
		}
		was, wasThere := before[name]
		values := "_x6"
		if wasThere {
			values = strconv.FormatFloat(was, 'f', -1, 64) + "x5"
		}
		all = append(all, series{name, values + " " + strconv.FormatFloat(is, 'f', -1, 64) + "x18"})
	}
	var tries []try
	for _, a := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(text), -1) {
		tries = append(tries, try{"3m", a[1], []string{}})
	}
	test, err := json.Marshal(map[string]any{
		"rule_files": []string{rules}, "evaluation_interval": "10s",
		"tests": []any{map[string]any{"interval": "10s", "input_series": all, "alert_rule_test": tries}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test.yml")
	if err := os.WriteFile(file, test, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("promtool", "test", "rules", file).CombinedOutput()
	found := map[string]bool{}
	for _, a := range regexp.MustCompile(`Labels:\{alertname="(\w+)"([^}]*)\}`).FindAllStringSubmatch(string(out), -1) {
		name := a[1]
		for _, label := range []string{"port", "priority", "reason"} {
			if m := regexp.MustCompile(label + `="(\w+)"`).FindStringSubmatch(a[2]); m != nil {
				name += " " + m[1]
			}
		}
		found[name] = true
	}
	if err == nil != (len(found) == 0) || strings.Contains(string(out), "error") {
		t.Fatalf("%v\n%s", err, out)
	}
	return found
}

// Whoever sends more than a port that sends PAUSE can take loses frames of whatever priority, and the alerts say so; a
// lossy priority that loses as much raises none. The numbers are those of a switch with real frames.
func TestAlertsFireOnWhatASwitchSays(t *testing.T) {
	o := operate(t, "  pause: true\n  lossless: []\nmetrics: 127.0.0.1:9464\nrate: 10Mbps\n"+
		"pfc: {xoff: 10KB, headroom: 10KB}\nlossy_queue: 10KB\n")
	counted := func(port, reason string) {
		before, n := 0.0, 0.0
		o.until("all is counted", func() bool {
			m := o.process.metrics()
			before, n = n, sum(m, "photon_port_discards_total", `port="`+port+`"`, `reason="`+reason+`"`)
			return n > 0 && n == before
		})
	}
	first := o.process.metrics()
	for n := range uint32(300) {
		o.hosts[2].Send(udp(2, 1, 0, 1000, n))
	}
	counted("sw1", "tail_drop")
	second := o.process.metrics()
	got := fired(t, first, second)
	for name := range got {
		if strings.HasPrefix(name, "PhotonLossless") || strings.HasPrefix(name, "PhotonHeadroom") {
			t.Errorf("a lossy priority lost frames, and there is %s", name)
		}
	}
	for n := range uint32(300) {
		o.hosts[3].Send(udp(3, 1, 26, 1000, n))
	}
	counted("sw3", "headroom")
	got = fired(t, second, o.process.metrics())
	for _, want := range []string{"PhotonLosslessDiscards sw3 3 headroom", "PhotonHeadroomNearlyUsed sw3 0"} {
		if !got[want] {
			t.Errorf("there is no %s, but %v", want, got)
		}
	}
}
