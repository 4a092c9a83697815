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

// Of an IPv4 header that says it is shorter than any, or longer than the frame, nothing is read.
func TestHeadersOfNoLength(t *testing.T) {
	b := make([]byte, EthernetLen+IPv4Len+UDPLen+12)
	(&RoCE{Src: IP{10: 0xFF, 11: 0xFF, 12: 10, 15: 1}, Dst: IP{10: 0xFF, 11: 0xFF, 12: 10, 15: 2}}).Encode(b, 12)
	for words, want := range map[byte]int{0: 0, 4: 0, 5: EthernetLen, 10: EthernetLen, 11: 0, 15: 0} {
		b[EthernetLen] = 0x40 | words
		var h Header
		if !Parse(b, &h) || h.L3 != want {
			t.Errorf("a header of %d words in a frame that has room for 10: IP is at %d, not at %d", words, h.L3, want)
		}
	}
}

// The addresses of both families are where their headers have them.
func TestAddressesOfHeaders(t *testing.T) {
	for _, ends := range [][2]string{{"10.0.0.1", "192.168.7.9"}, {"fd00::1", "2001:db8::2"}} {
		src, err := ParseIP(ends[0])
		if err != nil {
			t.Fatal(err)
		}
		dst, err := ParseIP(ends[1])
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		(&RoCE{Src: src, Dst: dst}).Encode(b, 12)
		if from, to := Addresses(b[EthernetLen:]); from != src || to != dst {
			t.Errorf("%v > %v is read as %v > %v", src, dst, from, to)
		}
	}
}
