package measure

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"

	"photon/units"
)

// Series is what was sampled over time: columns with names.
type Series struct {
	Time  []units.Time
	Names []string
	Value [][]float64 // by column
}

// Column returns the values of a name; nil: there is none.
func (s *Series) Column(name string) []float64 {
	for i, n := range s.Names {
		if n == name {
			return s.Value[i]
		}
	}
	return nil
}

// Columns returns the names that a probe has: its own, or one per flow or port.
func (s *Series) Columns(probe string) (names []string) {
	for _, n := range s.Names {
		if n == probe || len(n) > len(probe) && n[:len(probe)] == probe && n[len(probe)] == '.' {
			names = append(names, n)
		}
	}
	return names
}

// CSV is a series as a table: seconds, then the columns in their units.
func (s *Series) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(append([]string{"time_s"}, s.Names...)) // to memory
	row := make([]string, 1+len(s.Names))
	for i, at := range s.Time {
		row[0] = Float(at.Seconds())
		for k := range s.Names {
			row[1+k] = Float(s.Value[k][i])
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.Bytes()
}

// Float prints a number of a table.
func Float(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// ParseSeries reads the CSV of a series.
func ParseSeries(b []byte) (*Series, error) {
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || len(rows[0]) < 1 {
		return nil, fmt.Errorf("not a series")
	}
	s := &Series{Names: rows[0][1:], Value: make([][]float64, len(rows[0])-1)}
	for _, row := range rows[1:] {
		for i, text := range row {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				s.Time = append(s.Time, units.Time(math.Round(v*float64(units.Second))))
				continue
			}
			s.Value[i-1] = append(s.Value[i-1], v)
		}
	}
	return s, nil
}
