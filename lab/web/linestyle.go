package web

import "fmt"

// LineStyle is how a line is drawn: a colour on a light ground and one on a dark ground, and a dash pattern in pixels.
type LineStyle struct {
	Color string `json:"color"`
	Dark  string `json:"dark,omitempty"`
	Dash  []int  `json:"dash,omitempty"`
}

// Colours that colour-blind readers can distinguish, too: Okabe's and Ito's,
// without yellow, which is too faint for lines on white, and darker and lighter
// ones of the same hues.
const (
	black     = "#000000"
	grey      = "#7a7a7a"
	blue      = "#0072b2"
	vermilion = "#d55e00"
	green     = "#009e73"
	purple    = "#cc79a7"
	orange    = "#e69f00"
	sky       = "#56b4e9"

	brown     = "#7a3300"
	peach     = "#f2a273"
	darkGreen = "#00513b"
	plum      = "#6f2a53"
	indigo    = "#332288"
)

// onDark are the same colours as a dark page shows them: as light as its text, and distinguishable for colour-blind readers
// at least as well as those on white.
var onDark = map[string]string{
	black: "#f2f4f6", grey: "#87919b", blue: "#3d97d8", vermilion: "#ff6f2c", green: "#14b584", purple: "#e79cc5", orange: "#f5b31a", sky: "#a3d9fb",
	brown: "#c4956c", peach: "#ffc9a8", darkGreen: "#b5e3c4", plum: "#a8447f", indigo: "#8f7bff",
}

var (
	dashed = []int{8, 4}
	dotted = []int{2, 3}
)

// schemeStyles are fixed: schemes that derive from another have a shade of its colour.
var schemeStyles = map[string]LineStyle{
	"none":           {Color: grey},
	"dcqcn":          {Color: vermilion},
	"dcqcn+":         {Color: brown, Dash: dashed},
	"dcqcn-mlx":      {Color: peach, Dash: dotted},
	"pcn":            {Color: blue},
	"qcn":            {Color: green},
	"af-qcn":         {Color: darkGreen, Dash: dashed},
	"timely":         {Color: purple},
	"timely-patched": {Color: plum, Dash: dashed},
	"hpcc":           {Color: orange},
	"powertcp":       {Color: orange, Dash: dashed},
	"swift":          {Color: purple, Dash: dotted},
	"pacc":           {Color: black},
	"tcd+dcqcn":      {Color: sky},
	"tcd+timely":     {Color: indigo, Dash: dashed},
	"ibcc":           {Color: brown},
	"tcd+ibcc":       {Color: darkGreen},
}

// otherStyles are for all other schemes, in the order of their names.
var otherStyles = []LineStyle{
	{Color: black, Dash: dashed}, {Color: blue, Dash: dashed}, {Color: grey, Dash: dashed},
	{Color: green, Dash: dotted}, {Color: sky, Dash: dotted}, {Color: orange, Dash: dotted},
	{Color: black, Dash: dotted}, {Color: blue, Dash: dotted},
	{Color: green, Dash: dashed}, {Color: vermilion, Dash: dashed}, {Color: sky, Dash: dashed}, {Color: grey, Dash: dotted},
	{Color: vermilion, Dash: dotted}, {Color: plum, Dash: dotted}, {Color: brown, Dash: dotted}, {Color: indigo, Dash: dotted},
}

// LineStyles gives every scheme a style that is the same in all charts of all reports.
// names are all schemes there are, in an order that does not change.
func LineStyles(names []string) map[string]LineStyle {
	styles := map[string]LineStyle{}
	unknown := 0
	for _, name := range names {
		look, ok := schemeStyles[name]
		if !ok {
			look = otherStyles[unknown%len(otherStyles)]
			unknown++
		}
		look.Dark = onDark[look.Color]
		styles[name] = look
	}
	return styles
}

// Numbered is the look of the i-th line of a chart of one scheme.
func Numbered(i int) LineStyle {
	colors := []string{blue, vermilion, green, purple, orange, sky, black, grey}
	color := colors[i%len(colors)]
	return LineStyle{color, onDark[color], [][]int{nil, dashed, dotted}[i/len(colors)%3]}
}

// SVG is the dash pattern as an attribute of a line.
func (l LineStyle) SVG() string {
	if l.Dash == nil {
		return "none"
	}
	return fmt.Sprintf("%d %d", l.Dash[0], l.Dash[1])
}
