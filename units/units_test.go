package units

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{
		"50us": 50e6, "50\u00b5s": 50e6, "50\u03bcs": 50e6,
		"1.5ms": 1.5e9, "0.1us": 1e5, "12.8 us": 12.8e6, "300s": 300e12, "2m": 120e12,
		"0.5m": 30e12, "1.000ps": 1, "0": 0, "-3ns": -3000,
	} {
		if got, err := ParseTime(text); err != nil || int64(got) != want {
			t.Errorf("ParseTime(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]int64{"10Gbps": 1e10, "2.5Gbps": 25e8, "1Tbps": 1e12, "999bps": 999} {
		if got, err := ParseRate(text); err != nil || int64(got) != want {
			t.Errorf("ParseRate(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]int64{"512KB": 512000, "512KiB": 524288, "12MB": 12e6, "64B": 64} {
		if got, err := ParseSize(text); err != nil || int64(got) != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"": ErrSyntax, "us": ErrSyntax, ".us": ErrSyntax, "1e3us": ErrSyntax, "1.2.3us": ErrSyntax, "5": ErrNoUnit, "5 parsecs": ErrUnit,
		"0.5ps": ErrInexact, "1.0005ns": ErrInexact, "107000000s": ErrOverflow, "99999999999999999999999ps": ErrOverflow,
		"9223372.036854775808s": ErrOverflow,
	} {
		if _, err := ParseTime(text); !errors.Is(err, want) {
			t.Errorf("ParseTime(%q): %v; want %v", text, err, want)
		}
	}
	if _, err := ParseSize("1.005B"); !errors.Is(err, ErrInexact) {
		t.Errorf("1.005B: %v", err)
	}
	if _, err := ParseRate("10000000000Gbps"); !errors.Is(err, ErrOverflow) {
		t.Errorf("10000000000Gbps: %v", err)
	}
}

func TestPrintsWhatItReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64Range(-math.MaxInt64, math.MaxInt64-1).Draw(t, "v")
		if got, err := ParseTime(Time(v).String()); err != nil || got != Time(v) {
			t.Fatalf("%d -> %q -> %d, %v", v, Time(v), got, err)
		}
		if got, err := ParseRate(Rate(v).String()); err != nil || got != Rate(v) {
			t.Fatalf("%d -> %q -> %d, %v", v, Rate(v), got, err)
		}
		if got, err := ParseSize(Size(v).String()); err != nil || got != Size(v) {
			t.Fatalf("%d -> %q -> %d, %v", v, Size(v), got, err)
		}
	})
}

// The slow twin is arithmetic without bounds.
func TestArithmeticAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, math.MaxInt64).Draw(t, "n")
		r := rapid.Int64Range(1, math.MaxInt64).Draw(t, "r")
		eight := big.NewInt(8 * int64(Second))
		product := new(big.Int).Mul(big.NewInt(n), eight)

		up := new(big.Int).Add(product, big.NewInt(r-1))
		if want := saturated(up.Div(up, big.NewInt(r))); int64(Rate(r).Serialize(Size(n))) != want {
			t.Fatalf("Serialize(%d at %d) = %d, want %d", n, r, Rate(r).Serialize(Size(n)), want)
		}
		near := new(big.Int).Add(product, big.NewInt(r/2))
		if want := saturated(near.Div(near, big.NewInt(r))); int64(RateOf(Size(n), Time(r))) != want {
			t.Fatalf("RateOf(%d in %d) = %d, want %d", n, r, RateOf(Size(n), Time(r)), want)
		}
		carried := new(big.Int).Mul(big.NewInt(n), big.NewInt(r))
		if want := saturated(carried.Div(carried, eight)); int64(Rate(r).Bytes(Time(n))) != want {
			t.Fatalf("Bytes(%d for %d) = %d, want %d", r, n, Rate(r).Bytes(Time(n)), want)
		}
		if sum := Time(n).Add(Time(r)); n > math.MaxInt64-r && sum != Never || n <= math.MaxInt64-r && sum != Time(n+r) {
			t.Fatalf("%d+%d = %d", n, r, sum)
		}
	})
}

func saturated(v *big.Int) int64 {
	if !v.IsInt64() {
		return math.MaxInt64
	}
	return v.Int64()
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"50us", "10Gbps", "512KB", "1.5", "-0.0ms", "9223372036854775807ps"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := ParseTime(s); err == nil {
			if again, err := ParseTime(v.String()); v != Never && (err != nil || again != v) {
				t.Fatalf("%q -> %v -> %v, %v", s, v, again, err)
			}
		}
		_, _ = ParseRate(s)
		_, _ = ParseSize(s)
	})
}

func Example() {
	rate, _ := ParseRate("10Gbps")
	fmt.Println(rate.Serialize(1082), rate.Bytes(500*Microsecond), Time(12_800_000))
	// Output: 865.6ns 625KB 12.8us
}
