package lab

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"

	"photon/units"
)

// parseSeries reads the CSV of a series.
func parseSeries(b []byte) (*Series, error) {
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || len(rows[0]) < 3 {
		return nil, fmt.Errorf("not a series")
	}
	s := &Series{Flow: make([][]float64, len(rows[0])-3)}
	for _, row := range rows[1:] {
		var v [3]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(row[i], 64); err != nil {
				return nil, err
			}
		}
		s.Time = append(s.Time, units.Time(math.Round(v[0]*float64(units.Second))))
		s.Rate = append(s.Rate, v[1])
		s.Queue = append(s.Queue, units.Size(v[2]))
		for i := range s.Flow {
			f, err := strconv.ParseFloat(row[3+i], 64)
			if err != nil {
				return nil, err
			}
			s.Flow[i] = append(s.Flow[i], f)
		}
	}
	return s, nil
}
