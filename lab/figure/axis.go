package figure

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"photon/lab/web"
)

// setAxes says from where to where axes go, and which values have labels.
func (d *drawing) setAxes(ch *web.Chart) {
	xs := values(&ch.X)
	for _, m := range ch.Paper {
		d.Y.Min, d.Y.Max = min(d.Y.Min, m.Y), max(d.Y.Max, m.Y)
	}
	d.Y.Min = min(0, d.Y.Min)
	if d.Y.Max = max(0, d.Y.Max); d.Y.Max == d.Y.Min {
		d.Y.Max++
	}
	if ch.Kind == "cdf" {
		d.Y.Max = 1
	} else {
		d.Y.Max += 0.06 * (d.Y.Max - d.Y.Min) // room for what is largest
	}
	switch {
	case ch.Kind == "bars":
		beside := 0.5 + max(0, 3-float64(len(xs)))/2 // so that few bars are not wide
		d.X.Min, d.X.Max = -beside, float64(len(xs))-1+beside
		d.name(xs, ch.X.Names)
		return
	case len(ch.X.Range) == 2:
		d.X.Min, d.X.Max = ch.X.Range[0], ch.X.Range[1]
	case ch.X.Log:
		room := math.Pow(d.X.Max/d.X.Min, 0.03)
		if room == 1 {
			room = 2
		}
		d.X.Min, d.X.Max = d.X.Min/room, d.X.Max*room
	default:
		room := 0.03 * (d.X.Max - d.X.Min)
		if room == 0 {
			room = 1
		}
		d.X.Min, d.X.Max = d.X.Min-room, d.X.Max+room
	}
	if ch.X.Log {
		d.X.Scale, d.X.Tick.Marker = plot.LogScale{}, decades{}
	}
	if ch.Kind == "sweep" && ch.X.Names != nil && d.apart(xs) {
		d.name(xs, ch.X.Names)
	}
}

// apart reports whether values are far enough from each other for a name below each.
func (d *drawing) apart(xs []float64) bool {
	for i := range xs[1:] {
		if d.X.Norm(xs[i+1])-d.X.Norm(xs[i]) < 0.06 {
			return false
		}
	}
	return true
}

// across is how many letters there is room for below an axis.
const across = 62

// name puts names below values: in several lines if they are long, and slanted if that is not enough.
func (d *drawing) name(xs []float64, names []string) {
	most := max(1, across/max(1, len(names)))
	var marks []plot.Tick
	fits := true
	for i, n := range names {
		lines := wrapped(n, most)
		for _, l := range lines {
			fits = fits && len([]rune(l)) <= most
		}
		fits = fits && len(lines) <= 3
		marks = append(marks, plot.Tick{Value: xs[i], Label: strings.Join(lines, "\n")})
	}
	if !fits {
		for i := range marks {
			marks[i].Label = names[i]
		}
		d.X.Tick.Label.Rotation, d.X.Tick.Label.XAlign = math.Pi/8, draw.XRight
	}
	d.X.Tick.Marker = plot.ConstantTicks(marks)
}

// wrapped breaks a name into lines of so many letters, where it has a joint.
func wrapped(name string, most int) (lines []string) {
	line := ""
	for name != "" {
		n := strings.IndexAny(name, "_@+- ") + 1
		if n == 0 {
			n = len(name)
		}
		word := name[:n]
		name = name[n:]
		if line != "" && len([]rune(strings.TrimRight(line+word, " "))) > most {
			lines, line = append(lines, strings.TrimRight(line, " ")), ""
		}
		line += word
	}
	return append(lines, line)
}

// ticks are some five round values with labels, and values between them without.
type ticks struct{}

func (ticks) Ticks(low, high float64) (list []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/4)))
	between := 5
	for _, by := range []float64{5, 2} { // 1, 2, 5 or 10 of a power of ten
		if (high-low)/(step*by) >= 4 {
			step *= by
			if by == 2 {
				between = 4
			}
			break
		}
	}
	small := step / float64(between)
	first := math.Ceil(low/small-1e-9) + 0 // +0: there is no -0
	if first+1 == first {                  // values that differ in their last digits
		return []plot.Tick{{Value: low, Label: strconv.FormatFloat(low, 'g', 10, 64)}}
	}
	for i := first; i*small <= high+small*1e-9; i++ {
		t := plot.Tick{Value: i * small}
		if math.Mod(i, float64(between)) == 0 {
			t.Label = strconv.FormatFloat(i/float64(between)*step, 'g', 10, 64)
			t.Label = plain(t.Label, t.Value)
		}
		list = append(list, t)
	}
	return list
}

// plain writes numbers of a usual size without a power of ten.
func plain(text string, v float64) string {
	if a := math.Abs(v); strings.Contains(text, "e") && a < 1e7 && a > 1e-5 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return text
}

// decades are the ticks of a logarithmic axis; of a short one, values between powers of ten have
// labels too.
type decades struct{}

func (decades) Ticks(low, high float64) (list []plot.Tick) {
	labels := []int{1}
	switch length := math.Log10(high / low); {
	case length < 0.7:
		labels = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	case length < 2.5:
		labels = []int{1, 2, 5}
	}
	for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
		for digit := 1; digit < 10; digit++ {
			t := plot.Tick{Value: float64(digit) * math.Pow(10, power)}
			if t.Value < low || t.Value > high {
				continue
			}
			if slices.Contains(labels, digit) {
				t.Label = plain(strconv.FormatFloat(t.Value, 'g', 6, 64), t.Value)
			}
			list = append(list, t)
		}
	}
	return list
}
