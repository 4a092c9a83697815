package sweep

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"photon/lab/measure"
	"photon/lab/stat"
)

// sometimes are runs of a and b at two values of n with three seeds: b's never settles at the second with two of
// them, and a has nothing at the first.
func sometimes() *Collected {
	c := &Collected{}
	for scheme, at := range map[string]map[string][]float64{"a": {"7": {3, 4, 5}}, "b": {"5": {1, 2, 3}, "7": {9}}} {
		for _, n := range []string{"5", "7"} {
			for seed := range uint64(3) {
				if at[n] == nil {
					continue
				}
				m := measure.Metrics{"settled_s": nil, "y": new(float64)}
				if int(seed) < len(at[n]) {
					m["settled_s"] = &at[n][seed]
				}
				set := map[string]string{"x.n": n}
				c.records = append(c.records, &Record{Experiment: "mine", Scheme: scheme, Seed: seed, Params: set, Metrics: m})
			}
		}
	}
	slices.SortStableFunc(c.records, func(a, b *Record) int { return strings.Compare(a.Scheme, b.Scheme) })
	return c
}

// A page has a chart of each metric, with the medians and their intervals, and tables that say how often something
// never came.
func TestPage(t *testing.T) {
	c := sometimes()
	file, err := Folder(t.TempDir()).Page(c, []string{"settled_s", "y"}, "n", "photon sweep collect <here>")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?s)class="data">(.*?)</script>`).FindStringSubmatch(string(b))
	var data struct {
		Schemes []struct{ Name string }
		Charts  []struct {
			Kind, Y string
			X       struct {
				Values []float64
				Names  []string
			}
			Lines []struct {
				Name, Color  string
				V, Low, High []*float64
			}
		}
	}
	if err := json.Unmarshal([]byte(text[1]), &data); err != nil {
		t.Fatal(err)
	}
	numbers := func(v ...float64) (p []*float64) {
		for _, x := range v {
			if x < 0 {
				p = append(p, nil)
				continue
			}
			p = append(p, &x)
		}
		return p
	}
	chart := data.Charts[0]
	if len(data.Charts) != 2 || chart.Y != "settled_s, s" || data.Charts[1].Y != "y" ||
		!slices.Equal(chart.X.Values, []float64{5, 7}) || !slices.Equal(chart.X.Names, []string{"5", "7"}) {
		t.Fatalf("%+v", data)
	}
	want := map[string][3][]*float64{
		"a": {numbers(-1, 4), numbers(-1, 3), numbers(-1, 5)},
		"b": {numbers(2, -1), numbers(1, -1), numbers(3, -1)},
	}
	for _, l := range chart.Lines {
		if got := [3][]*float64{l.V, l.Low, l.High}; !reflect.DeepEqual(got, want[l.Name]) || l.Color == "" {
			t.Errorf("%s: %s", l.Name, text[1])
		}
	}
	if chart.Lines[0].Color == chart.Lines[1].Color {
		t.Error("two curves look alike")
	}
	const number = `<td class="n" data-label="[ab]">(.*?)</td>`
	row := regexp.MustCompile(`<tr><th scope="row" class="wide"><code>(.*?)</code></th>` + number + number + `</tr>`)
	rows := row.FindAllStringSubmatch(string(b), -1)
	for i, want := range []string{
		"settled_s, n = 5|–|2 s (1 s to 3 s)", "settled_s, n = 7|4 s (3 s to 5 s)|never in 2 of 3",
		"y, n = 5|–|0 (0 to 0)", "y, n = 7|0 (0 to 0)|0 (0 to 0)",
	} {
		if len(rows) != 4 || strings.Join(rows[i][1:], "|") != want {
			t.Errorf("row %d: %q", i+1, rows)
		}
	}
	said := regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>`).ReplaceAllString(string(b), "")
	for _, not := range []string{"claim", "Parameters", "<here>", "Index"} {
		if strings.Contains(said, not) {
			t.Errorf("the page says %q", not)
		}
	}
	_, err = Folder(t.TempDir()).Page(c, []string{"karma"}, "n", "")
	if err == nil || !strings.Contains(err.Error(), `no metric "karma"`) {
		t.Error(err)
	}
}

func TestCell(t *testing.T) {
	inf := stat.Never
	for _, c := range []struct {
		v    []float64
		unit string
		want string
	}{
		{nil, "", "–"}, {[]float64{3}, "", "3"}, {[]float64{inf}, "s", "never in 1 of 1"},
		{[]float64{1, 2, 3}, "", "2 (1 to 3)"},
		{[]float64{1, 2, inf}, "", "2 (1 to 2), never in 1 of 3"}, {[]float64{261326}, "B", "261.3 KB"},
		{[]float64{3.5e-4, 3.6e-4, 3.7e-4}, "s", "360 µs (350 µs to 370 µs)"}, {[]float64{12346}, "", "12350"},
	} {
		if got := cell(c.v, c.unit); got != c.want {
			t.Errorf("%v: %s, want %s", c.v, got, c.want)
		}
	}
}

// Chart and table of a page have the same numbers in units that can be read, and the axis of a setting with many
// values has its unit.
func TestPageHasUnits(t *testing.T) {
	c := &Collected{}
	for i := range 13 {
		// 238045 B is 238.0 KB, and would be 238.1 if it was rounded to five digits first.
		set := map[string]string{"p.xoff": strconv.Itoa(500+100*i) + "KB"}
		m := measure.Metrics{"queue_max_bytes": new(238045.0)}
		c.records = append(c.records, &Record{Experiment: "mine", Scheme: "a", Seed: 1, Params: set, Metrics: m})
	}
	file, err := Folder(t.TempDir()).Page(c, []string{"queue_max_bytes"}, "", "photon sweep collect")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"y":"queue_max_bytes, KB"`, `"v":[238.045,`, `"label":"xoff, MB"`, `"values":[0.5,0.6,0.7,0.8,`, `>238 KB<`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}
