package units

import (
	"math"
	"math/bits"
)

// Rate is in bits per second. Rates of links and of rate limiters count the
// bits of a frame on the wire: preamble, frame, FCS and inter-frame gap.
type Rate int64

// Rates.
const (
	BitPerSecond Rate = 1
	Kbps              = 1000 * BitPerSecond
	Mbps              = 1000 * Kbps
	Gbps              = 1000 * Mbps
)

var rateUnits = []unit{
	{"bps", int64(BitPerSecond)}, {"Kbps", int64(Kbps)}, {"Mbps", int64(Mbps)}, {"Gbps", int64(Gbps)}, {"Tbps", 1000 * int64(Gbps)},
}

// ParseRate reads "10Gbps", "2.5Gbps", "5Mbps". Units: bps Kbps Mbps Gbps Tbps, decimal.
// Errors: ErrSyntax, ErrNoUnit, ErrUnit, ErrInexact (finer than 1 bit/s), ErrOverflow.
func ParseRate(s string) (Rate, error) {
	v, err := parse("rate", s, rateUnits)
	return Rate(v), err
}

// String prints r so that ParseRate reads the same value.
func (r Rate) String() string { return format(int64(r), rateUnits) }

// Serialize returns how long n bytes take at rate r, rounded up to a
// picosecond so that a link never exceeds its rate. It is Never for a rate of
// zero or less and for spans beyond the range of Time.
func (r Rate) Serialize(n Size) Time {
	if r <= 0 {
		return Never
	}
	if n > 0 && n <= math.MaxInt64/(8*Size(Second)) { // up to 1.15 MB: one division, no 128-bit product
		return Time((int64(n)*8*int64(Second)-1)/int64(r) + 1)
	}
	return mulDiv(int64(n), 8*int64(Second), int64(r))
}

// Bytes returns how many whole bytes rate r carries in d, saturating.
func (r Rate) Bytes(d Time) Size {
	if r <= 0 || d <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(r), uint64(d))
	if hi >= 8*uint64(Second) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, 8*uint64(Second))
	return Size(min(q, math.MaxInt64))
}

// RateOf returns the rate that carries n bytes in d, rounded to the nearest
// bit per second and saturating; zero if d is not positive.
func RateOf(n Size, d Time) Rate {
	if n <= 0 || d <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), 8*uint64(Second))
	lo, carry := bits.Add64(lo, uint64(d)/2, 0)
	hi += carry
	if hi >= uint64(d) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(d))
	return Rate(min(q, math.MaxInt64))
}

// mulDiv returns ceil(a*b/c) for non-negative a and b and positive c; Never if it does not fit.
func mulDiv(a, b, c int64) Time {
	if a < 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, carry := bits.Add64(lo, uint64(c-1), 0)
	hi += carry
	if hi >= uint64(c) {
		return Never
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	if q > math.MaxInt64 {
		return Never
	}
	return Time(q)
}

// UnmarshalText implements encoding.TextUnmarshaler for configuration files.
func (r *Rate) UnmarshalText(b []byte) (err error) { *r, err = ParseRate(string(b)); return err }

// MarshalText implements encoding.TextMarshaler.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
