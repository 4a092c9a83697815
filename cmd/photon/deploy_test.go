package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"photon/config"
	"photon/fabric"
	"photon/telemetry/metrics"
)

// dashboard is what the tests look at in one of Grafana's.
type dashboard struct {
	UID, Title, Description string
	Panels                  []panel
	Templating              struct {
		List []struct {
			Name, Type, Definition string
		}
	}
}

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               struct{ UID string }
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []struct {
		RefID, Expr, LegendFormat string
		Datasource                struct{ UID string }
	}
	FieldConfig struct{ Defaults struct{ Unit string } }
	Options     struct{ YAxis struct{ Unit string } }
}

// dashboards reads those of deploy/grafana.
func dashboards(t *testing.T) (all []dashboard) {
	t.Helper()
	files, err := filepath.Glob("../../deploy/grafana/dashboards/*.json")
	if err != nil || len(files) != 3 {
		t.Fatalf("%d dashboards, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d dashboard
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, d)
	}
	return all
}

// Every panel says what it shows and in which unit, has its place, and asks for
// metrics that there are, by variables that the dashboard has.
func TestDashboards(t *testing.T) {
	known := map[string]bool{"ALERTS": true}
	for _, m := range metrics.All() {
		known[m.Name] = true
		if m.Type == "histogram" {
			known[m.Name+"_bucket"], known[m.Name+"_sum"], known[m.Name+"_count"] = true, true, true
		}
	}
	uids, shown := map[string]bool{}, map[string]bool{}
	for _, d := range dashboards(t) {
		if d.UID == "" || uids[d.UID] || d.Title == "" || d.Description == "" {
			t.Errorf("%q %q: a dashboard needs a name of its own and a description", d.UID, d.Title)
		}
		uids[d.UID] = true
		variables := map[string]bool{"__rate_interval": true}
		for _, v := range d.Templating.List {
			variables[v.Name] = true
		}
		ids, taken := map[int]bool{}, map[[2]int]string{}
		for _, p := range d.Panels {
			where := fmt.Sprintf("%s, panel %d %q", d.Title, p.ID, p.Title)
			if p.ID == 0 || ids[p.ID] {
				t.Errorf("%s: the id is not its own", where)
			}
			ids[p.ID] = true
			if g := p.GridPos; g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
				t.Errorf("%s: place %+v", where, g)
			}
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					if other := taken[[2]int{x, y}]; other != "" {
						t.Fatalf("%s lies over %q", where, other)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
			if p.Type == "row" {
				continue
			}
			if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit+p.Options.YAxis.Unit == "" || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
				t.Errorf("%s: title, description, unit, data source or queries are missing", where)
			}
			refs := map[string]bool{}
			for _, q := range p.Targets {
				if q.RefID == "" || refs[q.RefID] || q.LegendFormat == "" || q.Datasource.UID != "${datasource}" {
					t.Errorf("%s: query %q", where, q.Expr)
				}
				refs[q.RefID] = true
				for _, name := range regexp.MustCompile(`photon_\w+|ALERTS`).FindAllString(q.Expr, -1) {
					if !known[name] {
						t.Errorf("%s: there is no metric %s", where, name)
					}
					shown[name] = true
				}
				for _, v := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(q.Expr, -1) {
					if !variables[v[1]] {
						t.Errorf("%s: there is no variable %s", where, v[0])
					}
				}
			}
		}
	}
	if len(shown) < 35 {
		t.Errorf("only %d metrics are shown", len(shown))
	}
}

func promtool(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.Command("promtool", args...)
	c.Dir = "../../deploy/prometheus"
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// The alerts fire when they should and not else, in Prometheus' own eyes, and
// each of them is tried.
func TestAlertRules(t *testing.T) {
	if out := promtool(t, "check", "config", "prometheus.yml"); !strings.Contains(out, "1 rule files found") {
		t.Error(out)
	}
	promtool(t, "check", "rules", "rules.yml")
	promtool(t, "test", "rules", "rules_test.yml")
	rules, err := os.ReadFile("../../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile("../../deploy/prometheus/rules_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	alerts := regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(rules), -1)
	if len(alerts) < 6 {
		t.Errorf("%d alerts", len(alerts))
	}
	for _, a := range alerts {
		if n := strings.Count(string(tests), "alertname: "+a[1]); n < 2 {
			t.Errorf("%s is tried %d times, expected when it fires and when it does not", a[1], n)
		}
	}
}

// The alert on lossless discards is of the reasons that `photon show losses` lists, and of no others: a traceroute in a
// lossless class loses nothing.
func TestAlertOnLosses(t *testing.T) {
	rules, err := os.ReadFile("../../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`alert: PhotonLosslessDiscards\n +expr: [^\n]*reason=~"([^"]*)"`).FindSubmatch(rules)
	if found == nil {
		t.Fatal("the alert has no reasons")
	}
	var want []string
	for why := range fabric.Reasons {
		if why.Loses() {
			want = append(want, why.String())
		}
	}
	if got := strings.Split(string(found[1]), "|"); !slices.Equal(got, want) {
		t.Errorf("the alert is of %v, losses are %v", got, want)
	}
}

// What the compose file names is there, and Grafana and Prometheus find each
// other and photon where it puts them.
func TestComposeFile(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Build struct {
				Context, Dockerfile string
			}
			Entrypoint  []string
			Image       string
			NetworkMode string `yaml:"network_mode"`
			Volumes     []string
			Environment map[string]string
			Ports       []string
		}
	}
	read := func(path string, into any) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join("../../deploy", path))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Load(b, into); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	read("compose.yaml", &file)
	photon := file.Services["photon"]
	if _, err := os.Stat(filepath.Join("../../deploy", photon.Build.Context, photon.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	if fmt.Sprint(photon.Ports) != "[127.0.0.1:9090:9090 127.0.0.1:3000:3000]" {
		t.Error(photon.Ports)
	}
	mounted := map[string]string{} // in the container: here
	for _, name := range []string{"prometheus", "grafana"} {
		s := file.Services[name]
		if s.NetworkMode != "service:photon" || !strings.Contains(s.Image, ":") {
			t.Errorf("%s: %+v", name, s)
		}
		for _, v := range s.Volumes {
			parts := strings.Split(v, ":")
			if len(parts) != 3 || parts[2] != "ro" {
				t.Fatalf("%s: volume %s", name, v)
			}
			mounted[parts[1]] = filepath.Join("../../deploy", parts[0])
		}
	}
	home := strings.Replace(file.Services["grafana"].Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"], "/etc/photon/dashboards", mounted["/etc/photon/dashboards"], 1)
	for _, there := range []string{home, mounted["/etc/prometheus"] + "/prometheus.yml", mounted["/etc/grafana/provisioning"] + "/datasources/prometheus.yml"} {
		if _, err := os.Stat(there); err != nil {
			t.Error(err)
		}
	}
	var provider struct {
		Providers []struct {
			Options struct{ Path string }
		}
	}
	read("grafana/provisioning/dashboards/photon.yml", &provider)
	if mounted[provider.Providers[0].Options.Path] != "../../deploy/grafana/dashboards" {
		t.Error(provider)
	}
	var source struct{ Datasources []struct{ URL string } }
	read("grafana/provisioning/datasources/prometheus.yml", &source)
	if source.Datasources[0].URL != "http://127.0.0.1:9090" {
		t.Error(source)
	}
	recipe, err := os.ReadFile(filepath.Join("../../deploy", photon.Build.Context, photon.Build.Dockerfile))
	if err != nil {
		t.Fatal(err)
	}
	inImage := "/usr/share/photon/deploy"
	if !strings.Contains(string(recipe), "COPY deploy "+inImage+"\n") || !strings.Contains(string(recipe), "COPY --from=build /photon "+photon.Environment["PHOTON"]+"\n") {
		t.Error("the image does not have the demo, or photon where the demo looks for it")
	}
	if len(photon.Entrypoint) != 1 {
		t.Fatal(photon.Entrypoint)
	}
	if script, err := os.Stat(strings.Replace(photon.Entrypoint[0], inImage, "../../deploy", 1)); err != nil || script.Mode()&0o111 == 0 {
		t.Errorf("%s: %v", photon.Entrypoint[0], err)
	}
}

// Prometheus' configuration names all that the demo starts.
func TestDemoIsScraped(t *testing.T) {
	conf, err := os.ReadFile("../../deploy/prometheus/prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	sw, err := config.ReadSwitch("../../deploy/demo/switch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	addresses := []string{sw.MetricsAddress()}
	for i := range 3 {
		a, err := config.ReadAgent(fmt.Sprintf("../../deploy/demo/h%d.yaml", i))
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, a.MetricsAddress())
	}
	targets := regexp.MustCompile(`- (127\.0\.0\.1:\d+)`).FindAllStringSubmatch(string(conf), -1)
	var named []string
	for _, m := range targets {
		named = append(named, m[1])
	}
	if fmt.Sprint(named) != fmt.Sprint(addresses) {
		t.Errorf("scraped are %v, the demo is at %v", named, addresses)
	}
}
