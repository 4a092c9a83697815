package main

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// labelsOf are the labels of each metric, as docs/metrics.md has them. Those of histograms' parts are theirs and le.
func labelsOf(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	row := regexp.MustCompile("(?m)^\\| `(photon_\\w+)` \\| (\\w+) \\| [^|]* \\| ([^|]*) \\|")
	for _, row := range row.FindAllStringSubmatch(string(page), -1) {
		labels := strings.Split(row[3], ", ")
		if row[2] == "histogram" {
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				all[row[1]+part] = append(slices.Clone(labels), "le")
			}
			continue
		}
		all[row[1]] = labels
	}
	if len(all) < 100 {
		t.Fatalf("%d metrics", len(all))
	}
	return all
}

// Alerts and dashboards ask for series that there are, and the tests of the alerts give them such: with other labels a
// rule is tested that never fires.
func TestAlertsAndDashboardsAreOfSeriesThatThereAre(t *testing.T) {
	known := labelsOf(t)
	quoted := regexp.MustCompile(`"(\\.|[^"\\])*"`)
	check := func(where, query string, exactly bool) {
		t.Helper()
		query = quoted.ReplaceAllString(query, `""`)
		for _, series := range regexp.MustCompile(`(photon_\w+)(\{[^}]*\})?`).FindAllStringSubmatch(query, -1) {
			labels, ok := known[series[1]]
			if !ok {
				t.Errorf("%s: there is no metric %s", where, series[1])
				continue
			}
			named := map[string]bool{}
			for _, m := range regexp.MustCompile(`(\w+) *(=~|!~|!=|=)`).FindAllStringSubmatch(series[2], -1) {
				if m[1] != "instance" && m[1] != "job" { // Prometheus adds these
					named[m[1]] = true
				}
			}
			for label := range named {
				if !slices.Contains(labels, label) {
					t.Errorf("%s: %s has no label %s", where, series[1], label)
				}
			}
			got, want := slices.Sorted(maps.Keys(named)), slices.Sorted(slices.Values(labels))
			if exactly && !slices.Equal(got, want) {
				t.Errorf("%s: %s is tried with labels %v, and has %v", where, series[1], got, want)
			}
		}
	}
	rules, err := os.ReadFile("../../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(rules)) {
		if !strings.Contains(text, "description:") {
			check("rules.yml", text, false)
		}
	}
	tests, err := os.ReadFile("../../deploy/prometheus/rules_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, series := range regexp.MustCompile(`series: '([^']*)'`).FindAllStringSubmatch(string(tests), -1) {
		check("rules_test.yml", series[1], true)
	}
	for _, d := range dashboards(t) {
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				check(d.Title+", "+p.Title, q.Expr, false)
			}
		}
	}
}
