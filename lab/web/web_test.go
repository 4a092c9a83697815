package web

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	b, err := json.Marshal(Numbers{0, 1, -2.5, 0.001, 1e9, 1.5e-9, 123456, math.NaN(), math.Inf(1), Round(0.1+0.2, 4)})
	if want := "[0,1,-2.5,0.001,1e+09,1.5e-09,123456,null,null,0.3]"; err != nil || string(b) != want {
		t.Errorf("%s, want %s: %v", b, want, err)
	}
	for v, want := range map[float64]float64{123456: 123500, 0.00012344: 0.0001234, -99999: -100000, 0: 0} {
		if got := Round(v, 4); got != want {
			t.Errorf("%v with four digits is %v", v, got)
		}
	}
}

// Schemes of somebody's own look different from each other, and from all others, as long as they are no more than sixteen.
func TestOwnSchemesLookDifferent(t *testing.T) {
	var names []string
	for name := range schemeStyles {
		names = append(names, name)
	}
	for i := range otherStyles {
		names = append(names, fmt.Sprintf("own-%d", i))
	}
	seen := map[string]string{}
	for name, l := range LineStyles(names) {
		if k := l.Color + l.SVG(); seen[k] != "" {
			t.Errorf("%s and %s look the same", name, seen[k])
		} else {
			seen[k] = name
		}
	}
}

// Few values stay as they are.
func TestThinKeepsFew(t *testing.T) {
	axis, values, spans := Thin([]Curve{{[]float64{1, 2, 4}, []float64{7, 8, 9}}, {[]float64{1, 2, 4}, []float64{1, 1, 1}}}, 0, 4, 10)
	if spans != 0 || !slices.Equal(axis.Values, Numbers{1, 2, 4}) || !slices.Equal(values[0], Numbers{7, 8, 9}) {
		t.Errorf("%v %v %d", axis, values, spans)
	}
}

// Of many values every span keeps its extremes, in their order.
func TestThinKeepsPeaks(t *testing.T) {
	var c Curve
	for i := range 10000 {
		c.X = append(c.X, float64(i+1))
		c.Y = append(c.Y, 5)
	}
	c.Y[1234], c.Y[1239], c.Y[9999] = 99, 1, 77
	axis, values, spans := Thin([]Curve{c}, 0, 10000, 200)
	if spans != 100 || axis.N != 200 || len(values[0]) != 200 || axis.From != 25 || axis.Step != 50 {
		t.Fatalf("%+v, %d values, %d spans", axis, len(values[0]), spans)
	}
	if v := values[0]; v[24] != 99 || v[25] != 1 || v[198] != 5 || v[199] != 77 || v[0] != 5 {
		t.Errorf("%v", v)
	}
}

// Curves with samples at other times share an axis; a span without samples is empty.
func TestThinJoins(t *testing.T) {
	a, b := Curve{[]float64{1, 2, 3}, []float64{1, 2, 3}}, Curve{[]float64{3.5}, []float64{9}}
	_, values, spans := Thin([]Curve{a, b}, 0, 4, 8)
	if spans != 4 || !math.IsNaN(values[1][0]) || values[1][6] != 9 || values[0][2] != 1 {
		t.Errorf("%v %d", values, spans)
	}
}

func TestLooksStay(t *testing.T) {
	styles := LineStyles([]string{"dcqcn", "dcqcn+", "new", "newer", "pcn"})
	if alone := LineStyles([]string{"pcn"}); alone["pcn"].Color != styles["pcn"].Color || styles["new"].Color == "" {
		t.Errorf("%+v", styles)
	}
	seen := map[string]string{}
	for name, l := range styles {
		k := l.Color + l.SVG()
		if seen[k] != "" {
			t.Errorf("%s and %s look the same", name, seen[k])
		}
		seen[k] = name
	}
}

// linear is a colour's red, green and blue as light, and luminance how bright it is.
func linear(t *testing.T, color string) (light [3]float64) {
	t.Helper()
	var rgb [3]int
	if _, err := fmt.Sscanf(color, "#%2x%2x%2x", &rgb[0], &rgb[1], &rgb[2]); err != nil {
		t.Fatalf("%q: %v", color, err)
	}
	for i, v := range rgb {
		if c := float64(v) / 255; c <= 0.04045 {
			light[i] = c / 12.92
		} else {
			light[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return light
}

func luminance(l [3]float64) float64 { return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] }

// sights are what is seen of red, green and blue: by most people, without red cones, and without green ones (Machado et
// al., 2009).
var sights = [][3][3]float64{
	{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

// apart is how far two colours are from each other in Oklab, to the eyes for which that is least.
func apart(a, b [3]float64) float64 {
	product := func(m [3][3]float64, v [3]float64) (w [3]float64) {
		for i := range m {
			for k := range v {
				w[i] += m[i][k] * v[k]
			}
		}
		return w
	}
	oklab := func(v [3]float64) [3]float64 {
		cones := product([3][3]float64{{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566}, {0.0883024619, 0.2817188376, 0.6299787005}}, v)
		for i := range cones {
			cones[i] = math.Cbrt(max(0, cones[i]))
		}
		return product([3][3]float64{{0.2104542553, 0.7936177850, -0.0040720468}, {1.9779984951, -2.4285922050, 0.4505937099}, {0.0259040371, 0.7827717662, -0.8086757660}}, cones)
	}
	least := math.Inf(1)
	for _, sight := range sights {
		u, v := oklab(product(sight, a)), oklab(product(sight, b))
		least = min(least, math.Hypot(math.Hypot(u[0]-v[0], u[1]-v[1]), u[2]-v[2]))
	}
	return least
}

// On a dark page lines stand out as WCAG wants it, and are told apart at least as well as on white, where they are Okabe's
// and Ito's; and no two schemes come to look the same.
func TestLooksOnDark(t *testing.T) {
	ground := luminance(linear(t, "#13171b"))
	nearest := func(of func(LineStyle) string) float64 {
		least := math.Inf(1)
		for i := range 8 {
			for k := range i {
				least = min(least, apart(linear(t, of(Numbered(i))), linear(t, of(Numbered(k)))))
			}
		}
		return least
	}
	light, dark := nearest(func(l LineStyle) string { return l.Color }), nearest(func(l LineStyle) string { return l.Dark })
	if dark < light {
		t.Errorf("colours are %.3f apart on dark, and %.3f on white", dark, light)
	}
	seen := map[string]string{}
	for color, night := range onDark {
		if c := (luminance(linear(t, night)) + 0.05) / (ground + 0.05); c < 3 {
			t.Errorf("%s is %s on dark, with a contrast of %.2f", color, night, c)
		}
		if seen[night] != "" {
			t.Errorf("%s and %s are both %s on dark", color, seen[night], night)
		}
		seen[night] = color
	}
	for name, l := range LineStyles([]string{"none", "pcn", "ibcc", "new", "newer"}) {
		if l.Dark == "" {
			t.Errorf("%s has no colour on dark", name)
		}
	}
}

// The live pages number lines by the same colours, which they have in a script of their own.
func TestLivePagesHaveTheSameColours(t *testing.T) {
	b, err := os.ReadFile("../../telemetry/page/page.js")
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for i := range 8 {
		l := Numbered(i)
		pair := fmt.Sprintf("['%s', '%s']", l.Color, l.Dark)
		k := strings.Index(string(b)[at:], pair)
		if k < 0 {
			t.Fatalf("line %d is not %s", i, pair)
		}
		at += k
	}
}

// Before anybody points at a chart its legend has values: which ones, each kind of chart says.
func TestLegendsHaveValues(t *testing.T) {
	nan := math.NaN()
	named := Axis{Label: "burst, KB", Names: []string{"50", "100"}}
	for _, c := range []struct {
		chart Chart
		said  string
		want  []float64
	}{
		{Chart{Kind: "sweep", X: named, Lines: []Line{{Values: Numbers{1, 2}}, {Values: Numbers{3, nan}}}}, "burst, KB: 100", []float64{2, nan}},
		{Chart{Kind: "cdf", X: Axis{Values: Numbers{10, 20, 30}}, Lines: []Line{{Values: Numbers{0.2, 0.5, 1}}, {Values: Numbers{0, 0.4, 1}}}}, "median", []float64{20, 30}},
		{Chart{Kind: "bars", X: Axis{Names: []string{"a", "b"}}, Lines: []Line{{Values: Numbers{1, nan}}, {Values: Numbers{nan, 4}}}}, "", []float64{1, 4}},
		{Chart{Kind: "bars", X: Axis{Names: []string{"mean", "max"}}, Lines: []Line{{Values: Numbers{1, 2}}, {Values: Numbers{3, 4}}}}, "mean", []float64{1, 3}},
	} {
		c.chart.SetLegendValues()
		if c.chart.Said != c.said {
			t.Errorf("%s: of %q, want %q", c.chart.Kind, c.chart.Said, c.said)
		}
		for i, l := range c.chart.Lines {
			if math.IsNaN(c.want[i]) != (l.Value == nil) || l.Value != nil && l.Value[0] != c.want[i] {
				t.Errorf("%s: line %d has %v, want %v", c.chart.Kind, i, l.Value, c.want[i])
			}
		}
	}
}
