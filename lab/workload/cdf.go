package workload

import (
	"embed"
	"fmt"
	"math"
	"path"
	"sort"
	"strconv"
	"strings"

	"photon/units"
)

// CDF is a distribution of flow sizes: linear between its rows. If the first
// row's probability is not 0, that part of the flows has exactly its size.
type CDF struct {
	Name string

	rows []row
	mean float64
}

// row says that a part p of the flows is no larger than size.
type row struct {
	size, p float64
}

// maxSize is far beyond any flow, and within what a float64 holds exactly.
const maxSize = 1e15

// Parse reads a distribution. A line is a size in bytes and a cumulative
// probability; lines that start with # and empty lines are left out. Sizes must
// ascend, probabilities must not fall and must end at 1, or at 100: then all of
// them are percent, as in the files of HPCC's simulator. The CDF is named after
// the file.
//
// An error is one line: "file:line: what".
func Parse(file string, b []byte) (*CDF, error) {
	c := &CDF{Name: strings.TrimSuffix(path.Base(file), ".txt")}
	number, last := 0, 1 // of this line and of the last row's
	fail := func(format string, args ...any) (*CDF, error) {
		return nil, fmt.Errorf("%s:%d: %s", file, last, fmt.Sprintf(format, args...))
	}
	for line := range strings.Lines(string(b)) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		last = number
		if len(fields) != 2 {
			return fail("%d columns; there are two: bytes and probability", len(fields))
		}
		size, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil || size < 0 || size > maxSize {
			return fail("size %q is not a whole number of bytes up to 1e15", fields[0])
		}
		p, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || !(p >= 0 && p <= 100) {
			return fail("probability %q is not a number from 0 to 1, or to 100 in percent", fields[1])
		}
		r := row{float64(size), p}
		switch n := len(c.rows); {
		case n == 0 && r.size == 0 && r.p > 0:
			return fail("flows of 0 bytes")
		case n > 0 && r.size <= c.rows[n-1].size:
			return fail("size %s does not ascend", fields[0])
		case n > 0 && r.p < c.rows[n-1].p:
			return fail("probability %s falls", fields[1])
		}
		c.rows = append(c.rows, r)
	}
	if len(c.rows) == 0 {
		return fail("no rows")
	}
	switch end := c.rows[len(c.rows)-1].p; end {
	case 1:
	case 100:
		for i := range c.rows {
			c.rows[i].p /= 100
		}
	default:
		return fail("the last probability is %v; it must be 1, or 100 in percent", end)
	}
	_, c.mean = c.below(math.Inf(1))
	return c, nil
}

//go:embed cdf/*.txt
var files embed.FS

// Named returns an embedded distribution. The file in cdf says where it comes
// from. The error lists what there is.
func Named(name string) (*CDF, error) {
	b, err := files.ReadFile("cdf/" + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("there is no workload %q (there is %s)", name, strings.Join(Names(), ", "))
	}
	return Parse(name+".txt", b)
}

// Names lists the embedded distributions in alphabetical order.
func Names() []string {
	entries, err := files.ReadDir("cdf")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".txt"))
	}
	return names
}

// Mean is the mean size in bytes.
func (c *CDF) Mean() float64 { return c.mean }

// Quantile returns the size that a part p of the flows does not exceed, rounded
// to bytes; p in [0,1], what is outside counts as 0 or 1. It is at least 1 byte.
func (c *CDF) Quantile(p float64) units.Size {
	i := sort.Search(len(c.rows), func(i int) bool { return c.rows[i].p >= p })
	switch i {
	case 0:
		return whole(c.rows[0].size)
	case len(c.rows):
		return whole(c.rows[i-1].size)
	}
	a, b := c.rows[i-1], c.rows[i]
	// The conversion keeps compilers from fusing product and sum, which would
	// round differently on some machines.
	return whole(a.size + float64((p-a.p)/(b.p-a.p)*(b.size-a.size)))
}

// Share returns the part of the flows, and the part of all bytes, that flows
// with from < size <= to make up, each 0 to 1. It is computed, not sampled.
func (c *CDF) Share(from, to units.Size) (count, bytes float64) {
	if to <= from {
		return 0, 0
	}
	p0, b0 := c.below(float64(from))
	p1, b1 := c.below(float64(to))
	return p1 - p0, (b1 - b0) / c.mean
}

// below returns the part of the flows that are no larger than x, and the mean
// over all flows of the bytes in those.
func (c *CDF) below(x float64) (p, bytes float64) {
	first := c.rows[0]
	if x < first.size {
		return 0, 0
	}
	p, bytes = first.p, first.p*first.size
	for i, b := range c.rows[1:] {
		a := c.rows[i]
		if x < b.size {
			part := (b.p - a.p) * (x - a.size) / (b.size - a.size)
			return p + part, bytes + part*(a.size+x)/2
		}
		p, bytes = b.p, bytes+(b.p-a.p)*(a.size+b.size)/2
	}
	return p, bytes
}
