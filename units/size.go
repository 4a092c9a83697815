package units

// Size is in bytes.
type Size int64

// Sizes.
const (
	Byte Size = 1
	KB        = 1000 * Byte
	MB        = 1000 * KB
	GB        = 1000 * MB
	KiB       = 1024 * Byte
	MiB       = 1024 * KiB
)

var sizeUnits = []unit{
	{"B", 1}, {"KB", int64(KB)}, {"KiB", int64(KiB)}, {"MB", int64(MB)}, {"MiB", int64(MiB)}, {"GB", int64(GB)}, {"GiB", 1024 * int64(MiB)},
}

// ParseSize reads "512KB", "12MB", "64KiB". Units: B KB MB GB (decimal), KiB MiB GiB (binary).
// Errors: ErrSyntax, ErrNoUnit, ErrUnit, ErrInexact (finer than one byte), ErrOverflow.
func ParseSize(s string) (Size, error) {
	v, err := parse("size", s, sizeUnits)
	return Size(v), err
}

// String prints n in decimal units so that ParseSize reads the same value.
func (n Size) String() string { return format(int64(n), sizeUnits) }

// UnmarshalText implements encoding.TextUnmarshaler for configuration files.
func (n *Size) UnmarshalText(b []byte) (err error) { *n, err = ParseSize(string(b)); return err }

// MarshalText implements encoding.TextMarshaler.
func (n Size) MarshalText() ([]byte, error) { return []byte(n.String()), nil }
