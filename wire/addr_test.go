package wire

import "testing"

// An address that is understood is one that is printed the same way.
func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"02:00:00:00:00:01", "01-80-c2-00-00-01", "10.9.0.1", "10.9.0.256", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if m, err := ParseMAC(s); err == nil {
			if again, err := ParseMAC(m.String()); err != nil || again != m {
				t.Fatalf("%q is %v, which is %v, %v", s, m, again, err)
			}
		}
		if a, err := ParseIP(s); err == nil {
			if again, err := ParseIP(a.String()); err != nil || again != a {
				t.Fatalf("%q is %v, which is %v, %v", s, a, again, err)
			}
		}
	})
}
