package sweep

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"photon/lab/figure"
	"photon/lab/measure"
)

// records are runs of a and b with two seeds, over sizes and a setting of a alone.
func records() (all []*Record) {
	for _, scheme := range []string{"a", "b"} {
		for i, size := range []string{"100KB", "1MB", "10MB"} {
			for seed := range uint64(2) {
				y := float64(10*(i+1)) + float64(2*seed)
				r := &Record{
					Experiment: "mine", Scheme: scheme, Seed: seed,
					Params: map[string]string{"flows.all.size": size}, Metrics: measure.Metrics{"fct_s": &y, "never": nil},
				}
				if scheme == "a" {
					r.Params["schemes.a.w"] = "1/2"
				}
				all = append(all, r)
			}
		}
	}
	return all
}

// A curve has the median of its seeds at each value, and its interval, in the order of the axis; a scheme's setting is
// in its name.
func TestCurves(t *testing.T) {
	c := Collected{records: records()}
	for _, over := range []string{"", "size", "flows.all.size"} {
		got, err := c.Curves("fct_s", over)
		if err != nil {
			t.Fatal(err)
		}
		points := []figure.Point{
			{X: 100e3, Y: 11, Low: 10, High: 12}, {X: 1e6, Y: 21, Low: 20, High: 22}, {X: 10e6, Y: 31, Low: 30, High: 32},
		}
		curves := []figure.Curve{{Name: "a w=1/2", Points: points}, {Name: "b", Points: points}}
		want := []figure.Panel{{Title: "mine", X: "size", XUnit: "B", Y: "fct_s", Log: true, Curves: curves}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("over %q: %+v", over, got)
		}
	}
	for _, x := range []struct{ metric, over, want string }{
		{"karma", "", `no metric "karma": there are fct_s, never`}, {"never", "", "never never happened"},
		{"fct_s", "rate", `"rate" is none of what varies, or several: flows.all.size, schemes.a.w`},
	} {
		if _, err := c.Curves(x.metric, x.over); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v", x, err)
		}
	}
	still := Collected{records: []*Record{{Metrics: measure.Metrics{}}}}
	if _, err := still.Curves("fct_s", ""); err == nil || !strings.Contains(err.Error(), "nothing varies") {
		t.Error(err)
	}
}

// What never came in some of the runs is later than in the others: it moves the median, and takes the point away where
// it is most of them. An interval ends at the largest that came.
func TestCurvesOfWhatNeverCame(t *testing.T) {
	for _, x := range []struct {
		values []float64
		of     int
		want   []figure.Point
	}{
		{[]float64{1, 2, 3}, 3, []figure.Point{{X: 5, Y: 2, Low: 1, High: 3}}},
		{[]float64{1, 2}, 3, []figure.Point{{X: 5, Y: 2, Low: 1, High: 2}}},
		{[]float64{1}, 3, nil},
		{[]float64{1}, 1, []figure.Point{{X: 5, Y: 1, Low: 1, High: 1}}},
	} {
		c := Collected{}
		for seed := range x.of {
			m := measure.Metrics{"settled_s": nil}
			if seed < len(x.values) {
				m["settled_s"] = &x.values[seed]
			}
			n := map[string]string{"n": "5"}
			c.records = append(c.records, &Record{Experiment: "mine", Scheme: "a", Seed: uint64(seed), Params: n, Metrics: m})
		}
		got, err := c.Curves("settled_s", "")
		if x.want == nil {
			if err == nil {
				t.Errorf("%v of %d: %+v", x.values, x.of, got)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got[0].Curves[0].Points, x.want) {
			t.Errorf("%v of %d: %+v, %v", x.values, x.of, got, err)
		}
	}
}

// What is drawn has the names of the curves in it, and the units of metric and setting; words are an axis, too.
func TestDraw(t *testing.T) {
	c := Collected{records: records()}
	for i, r := range c.records {
		r.Params["topology.kind"] = []string{"star", "tree"}[i%2]
	}
	for over, curve := range map[string]string{"size": "a w=1/2 kind=star", "kind": "a size=100KB w=1/2"} {
		dir := t.TempDir()
		files, err := Folder(dir).Draw(&c, "fct_s", over)
		if err != nil || len(files) != 2 {
			t.Fatal(files, err)
		}
		png, err := os.ReadFile(files[0])
		if err != nil || !strings.HasPrefix(string(png), "\x89PNG") {
			t.Errorf("%s: %.8q, %v", files[0], png, err)
		}
		svg, err := os.ReadFile(files[1])
		if err != nil {
			t.Fatal(err)
		}
		axis := map[string]string{"size": "size, MB", "kind": "kind"}[over]
		for _, text := range []string{"mine", axis, "fct_s, s", curve} {
			if !strings.Contains(string(svg), ">"+text+"<") {
				t.Errorf("%s does not say %q", files[1], text)
			}
		}
	}
}
