package workload

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

func named(t testing.TB, name string) *CDF {
	t.Helper()
	c, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNames(t *testing.T) {
	want := []string{"alistorage", "datamining", "googlerpc", "hadoop", "keyvalue", "pcn-w1", "pcn-w2", "websearch"}
	if got := Names(); !slices.Equal(got, want) {
		t.Fatalf("there are %q, want %q", got, want)
	}
	for _, name := range want {
		if c := named(t, name); c.Name != name {
			t.Errorf("%s is called %s", name, c.Name)
		}
	}
	for _, name := range []string{"", "nosuch", "../cdf/hadoop", "hadoop.txt"} {
		_, err := Named(name)
		if err == nil || !strings.Contains(err.Error(), "alistorage, datamining, googlerpc") {
			t.Errorf("Named(%q): %v", name, err)
		}
	}
}

// What a file's header says of it is true, and it says it.
func TestHeaders(t *testing.T) {
	for _, name := range Names() {
		b, err := files.ReadFile("cdf/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b, []byte("\n# source: ")) {
			t.Errorf("%s has no source", name)
		}
		if mean := fmt.Sprintf("\n# mean: %.0f bytes\n", named(t, name).Mean()); !bytes.Contains(b, []byte(mean)) {
			t.Errorf("%s does not say %q", name, mean)
		}
	}
}

// The means that others compute from the same rows.
func TestMeans(t *testing.T) {
	for name, want := range map[string]float64{
		"websearch": 1.711e6, "hadoop": 120.4e3, "datamining": 12.66e6, "pcn-w1": 62.2e3, "pcn-w2": 500e3,
	} {
		if got := named(t, name).Mean(); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%s: mean %v, want %v", name, got, want)
		}
	}
}

// PCN, table 1: percent of the flows and of the bytes. Its columns do not add up
// to 100; the reconstruction meets them once they do, to the last printed digit.
func TestPCNTable1(t *testing.T) {
	bounds := []units.Size{0, 10 * units.KB, 100 * units.KB, units.MB, math.MaxInt64}
	for name, table := range map[string]struct{ count, bytes [4]float64 }{
		"pcn-w1": {count: [4]float64{80.14, 10.32, 9.12, 0.41}, bytes: [4]float64{3.08, 5.89, 83.8, 7.04}},
		"pcn-w2": {count: [4]float64{70.79, 16.59, 3.52, 9.1}, bytes: [4]float64{0.22, 1.56, 1.53, 96.7}},
	} {
		c := named(t, name)
		var counts, bytes float64
		for i := range 4 {
			counts, bytes = counts+table.count[i]/100, bytes+table.bytes[i]/100
		}
		for i := range 4 {
			n, b := c.Share(bounds[i], bounds[i+1])
			if want := table.count[i] / counts; math.Abs(100*n-want) > 0.005 {
				t.Errorf("%s: %.4f %% of the flows are in (%v, %v]; the table has %v, scaled %.4f", name, 100*n, bounds[i], bounds[i+1], table.count[i], want)
			}
			if want := table.bytes[i] / bytes; math.Abs(100*b-want) > 0.005 {
				t.Errorf("%s: %.4f %% of the bytes are in (%v, %v]; the table has %v, scaled %.4f", name, 100*b, bounds[i], bounds[i+1], table.bytes[i], want)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string][]row{
		"0 0\n10 1\n": {{0, 0}, {10, 1}},
		"# head\n\n  # more\n 5\t0.25 \r\n10 1.0": {{5, 0.25}, {10, 1}},
		"100 1":                                {{100, 1}},
		"0 0\n100 22.93\n200 22.93\n300 100\n": {{0, 0}, {100, 22.93 / 100}, {200, 22.93 / 100}, {300, 1}},
		"0 0\n100 0.5\n1000000000000000 1e0\n#end": {{0, 0}, {100, 0.5}, {1e15, 1}},
	} {
		c, err := Parse("a/b.txt", []byte(text))
		if err != nil || !slices.Equal(c.rows, want) || c.Name != "b" {
			t.Errorf("%q: %v, %v; want %v", text, c, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "f.txt:1: no rows",
		"# only\n# comments\n":     "f.txt:1: no rows",
		"0 0\n\n10\n":              "f.txt:3: 1 columns; there are two: bytes and probability",
		"0 0 # start\n10 1":        "f.txt:1: 4 columns; there are two: bytes and probability",
		"0 0\n1.5 1":               `f.txt:2: size "1.5" is not a whole number of bytes up to 1e15`,
		"-1 0\n10 1":               `f.txt:1: size "-1" is not a whole number of bytes up to 1e15`,
		"1000000000000001 1":       `f.txt:1: size "1000000000000001" is not a whole number of bytes up to 1e15`,
		"0 x\n":                    `f.txt:1: probability "x" is not a number from 0 to 1, or to 100 in percent`,
		"0 NaN\n":                  `f.txt:1: probability "NaN" is not a number from 0 to 1, or to 100 in percent`,
		"0 -0.1\n":                 `f.txt:1: probability "-0.1" is not a number from 0 to 1, or to 100 in percent`,
		"0 0\n9 101\n":             `f.txt:2: probability "101" is not a number from 0 to 1, or to 100 in percent`,
		"0 0\n10 0.5\n10 1":        "f.txt:3: size 10 does not ascend",
		"0 0\n10 0.5\n\n20 0.4\n#": "f.txt:4: probability 0.4 falls",
		"0 0.1\n10 1":              "f.txt:1: flows of 0 bytes",
		"0 0\n10 0.99\n#\n":        "f.txt:2: the last probability is 0.99; it must be 1, or 100 in percent",
		"0 0\n10 99.9":             "f.txt:2: the last probability is 99.9; it must be 1, or 100 in percent",
		"0 0":                      "f.txt:1: the last probability is 0; it must be 1, or 100 in percent",
	} {
		if _, err := Parse("f.txt", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

// HPCC's simulator has the same distribution in percent.
func TestParsePercent(t *testing.T) {
	c, err := Parse("WebSearch_distribution.txt", []byte(`0 0
10000 15
20000 20
30000 30
50000 40
80000 53
200000 60
1000000 70
2000000 80
5000000 90
10000000 97
30000000 100
`))
	if err != nil || !slices.Equal(c.rows, named(t, "websearch").rows) {
		t.Fatalf("%v, %v", c, err)
	}
}

func TestQuantile(t *testing.T) {
	c, err := Parse("c", []byte("100 0.5\n200 0.5\n1000 0.75\n2000 1"))
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[float64]units.Size{
		-1: 100, 0: 100, 0.3: 100, 0.5: 100, 0.625: 600, 0.75: 1000, 0.8125: 1250, 1: 2000, 2: 2000,
	} {
		if got := c.Quantile(p); got != want {
			t.Errorf("Quantile(%v) = %v, want %v", p, got, want)
		}
	}
	if got := named(t, "keyvalue").Quantile(0); got != 1 {
		t.Errorf("the smallest flow has %v", got)
	}
	if got := c.Mean(); got != 0.5*100+0.25*600+0.25*1500 {
		t.Errorf("mean %v", got)
	}
}

func TestShare(t *testing.T) {
	c, err := Parse("c", []byte("100 0.5\n200 0.5\n1000 0.75\n2000 1"))
	if err != nil {
		t.Fatal(err)
	}
	mean := c.Mean()
	for _, x := range []struct {
		from, to     units.Size
		count, bytes float64
	}{
		{0, 99, 0, 0},
		{0, 100, 0.5, 50}, // the step is at 100, and within (0, 100]
		{100, 200, 0, 0},
		{99, 600, 0.625, 50 + 0.125*400},
		{600, 1000, 0.125, 0.125 * 800},
		{1000, math.MaxInt64, 0.25, 0.25 * 1500},
		{2000, 3000, 0, 0},
		{500, 500, 0, 0},
		{500, 400, 0, 0},
		{-5, 5000, 1, mean},
	} {
		n, b := c.Share(x.from, x.to)
		if math.Abs(n-x.count) > 1e-12 || math.Abs(b-x.bytes/mean) > 1e-12 {
			t.Errorf("Share(%d, %d) = %v, %v; want %v, %v", x.from, x.to, n, b, x.count, x.bytes/mean)
		}
	}
}

// drawCDF makes a distribution, and its text.
func drawCDF(t *rapid.T) (*CDF, string) {
	sizes := rapid.SliceOfNDistinct(rapid.Int64Range(1, 1e9), 1, 12, rapid.ID).Draw(t, "sizes")
	parts := rapid.SliceOfN(rapid.IntRange(0, 1000), len(sizes), len(sizes)).Draw(t, "parts")
	slices.Sort(sizes)
	parts[len(parts)-1]++ // so that there is something to divide by
	sum, so := 0, 0
	for _, n := range parts {
		sum += n
	}
	var text strings.Builder
	for i, size := range sizes {
		so += parts[i]
		fmt.Fprintf(&text, "%d %v\n", size, float64(so)/float64(sum))
	}
	c, err := Parse("drawn.txt", []byte(text.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, &text)
	}
	return c, text.String()
}

// The slow twin of Mean and Share adds up quantiles.
func TestAgainstQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, _ := drawCDF(t)
		largest := c.rows[len(c.rows)-1].size
		from := units.Size(rapid.Int64Range(-1, int64(largest)).Draw(t, "from"))
		to := units.Size(rapid.Int64Range(int64(from), int64(largest)+1).Draw(t, "to"))
		const steps = 2000
		var sum, n, in float64
		for i := range steps {
			size := c.Quantile((float64(i) + 0.5) / steps)
			sum += float64(size)
			if from < size && size <= to {
				n, in = n+1, in+float64(size)
			}
		}
		// Each row and each bound may be a step off, and each size half a byte.
		slack := float64(len(c.rows)+2) / steps
		if math.Abs(sum/steps-c.Mean()) > largest*slack+0.5 {
			t.Fatalf("mean %v, by quantiles %v", c.Mean(), sum/steps)
		}
		if c.rows[0].size < 1e4 {
			return // half a byte may be much of a narrow distribution
		}
		count, bytes := c.Share(from, to)
		half := 0.0 // what rounding moves across the bounds
		for _, x := range []units.Size{from, to} {
			p0, _ := c.below(float64(x) - 0.5)
			p1, _ := c.below(float64(x) + 0.5)
			half += p1 - p0
		}
		if math.Abs(n/steps-count) > slack+half {
			t.Fatalf("%v of the flows, by quantiles %v", count, n/steps)
		}
		if math.Abs(in/steps-bytes*c.Mean()) > largest*(slack+half)+0.5 {
			t.Fatalf("%v bytes, by quantiles %v", bytes*c.Mean(), in/steps)
		}
	})
}

func TestCDFProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, _ := drawCDF(t)
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		q := rapid.Float64Range(p, 1).Draw(t, "q")
		a, b := c.Quantile(p), c.Quantile(q)
		if a < 1 || a > b || float64(b) > c.rows[len(c.rows)-1].size {
			t.Fatalf("Quantile(%v) = %v, Quantile(%v) = %v", p, a, q, b)
		}
		if m := c.Mean(); m < c.rows[0].size || m > c.rows[len(c.rows)-1].size {
			t.Fatalf("mean %v", m)
		}
		n0, b0 := c.Share(0, a)
		n1, b1 := c.Share(a, b)
		n2, b2 := c.Share(b, math.MaxInt64)
		if math.Abs(n0+n1+n2-1) > 1e-9 || math.Abs(b0+b1+b2-1) > 1e-9 || min(n0, n1, n2, b0, b1, b2) < 0 {
			t.Fatalf("parts %v %v %v, bytes %v %v %v", n0, n1, n2, b0, b1, b2)
		}
	})
}

// sampled draws n sizes and returns their mean.
func sampled(s Sizes, n int) float64 {
	random := rand.New(rand.NewPCG(1, 2))
	sum := 0.0
	for range n {
		sum += float64(s.Quantile(random.Float64()))
	}
	return sum / float64(n)
}

// Within five standard errors, and what rounding to bytes may do.
func TestSampledMeans(t *testing.T) {
	const n = 200_000
	for _, name := range Names() {
		c := named(t, name)
		square := c.rows[0].p * c.rows[0].size * c.rows[0].size
		for i, b := range c.rows[1:] {
			a := c.rows[i]
			square += (b.p - a.p) * (a.size*a.size + a.size*b.size + b.size*b.size) / 3
		}
		deviation := math.Sqrt(square - c.Mean()*c.Mean())
		if got, slack := sampled(c, n), 5*deviation/math.Sqrt(n)+0.5; math.Abs(got-c.Mean()) > slack {
			t.Errorf("%s: %v by sampling, %v computed, more than %v apart", name, got, c.Mean(), slack)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("# c\n0 0\n10 0.5\n20 1\n"))
	f.Add([]byte("0 0\n10 97.5\n20 100\n"))
	f.Add([]byte("5 1"))
	f.Add([]byte("0 0\n1 0x1p-2\n2 1e0\r\n"))
	f.Add([]byte("0 0\n10 nan\n\xff \x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Parse("f.txt", b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.txt:") || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		if !(c.Mean() > 0) {
			t.Fatalf("mean %v", c.Mean())
		}
		last := units.Size(1)
		for p := 0.0; p <= 1; p += 1.0 / 64 {
			size := c.Quantile(p)
			if size < last {
				t.Fatalf("Quantile(%v) = %v after %v", p, size, last)
			}
			last = size
		}
		if n, bytes := c.Share(0, math.MaxInt64); math.Abs(n-1) > 1e-9 || math.Abs(bytes-1) > 1e-9 {
			t.Fatalf("all is %v of the flows and %v of the bytes", n, bytes)
		}
	})
}
