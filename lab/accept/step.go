package accept

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
)

// Verdict is what came of a step.
type Verdict string

// Verdicts.
const (
	Passed      Verdict = "pass"
	Failed      Verdict = "fail"
	NotPossible Verdict = "not possible here"
)

// Step is one assertion, and what was measured.
type Step struct {
	Stage    string             `json:"stage"`
	Name     string             `json:"step"`
	Port     string             `json:"port,omitempty"` // that the step is about
	Asserts  string             `json:"asserts"`
	Measured string             `json:"measured,omitempty"`
	Verdict  Verdict            `json:"verdict"`
	Why      string             `json:"why,omitempty"`    // it is not possible
	Remedy   string             `json:"remedy,omitempty"` // what to do, if it failed
	Values   map[string]float64 `json:"values,omitempty"`
}

func (s *Step) String() string {
	text := fmt.Sprintf("%s  %s: ", s.Verdict, s.Name)
	if s.Port != "" {
		text += s.Port + ": "
	}
	text += s.Asserts
	if s.Measured != "" {
		text += ": " + s.Measured
	}
	if s.Why != "" {
		text += ": " + s.Why
	}
	if s.Remedy != "" {
		text += "; what to do: " + s.Remedy
	}
	return text
}

// report collects the steps of a stage: a line each for the reader, and a file of JSON, one a line.
type report struct {
	stage string
	out   io.Writer
	file  *os.File
	only  []string // stages and steps that are asked for; none: all
}

// wants reports whether one of some steps of the stage is asked for.
func (r *report) wants(steps ...string) bool {
	asked := func(name string) bool { return slices.Contains(r.only, name) }
	return len(r.only) == 0 || asked(r.stage) || r.stage == exchanged && asked("switch") ||
		slices.ContainsFunc(steps, asked)
}

func newReport(stage, file string, out io.Writer) (*report, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	return &report{stage: stage, out: out, file: f}, err
}

func (r *report) add(s Step) error {
	s.Stage = r.stage
	// A stage that cannot go on says so, whatever is asked of it.
	if !r.wants(s.Name) && !(s.Verdict == Failed && (s.Name == "link" || slices.Contains(Stages, s.Name))) {
		return nil
	}
	if s.Verdict == Failed {
		s.Remedy = remedies[s.Name]
	}
	b, err := json.Marshal(&s)
	if err != nil {
		return err
	}
	fmt.Fprintln(r.out, s.String())
	_, err = r.file.Write(append(b, '\n'))
	return err
}

// What helps against several failures.
const (
	cardPauses = "a card that acts on pauses by itself, or keeps them, is none for photon:" +
		" try another driver or firmware (docs/operate.md, what a card does with pauses)"
	notOurs = "if wiring, passed up, not acted on or polls failed, too, mend that first;" +
		" else the switch is at fault: report it to the authors of photon, with all that the run wrote"
	late = "isolate the cores of the run (docs/operate.md, network cards)," +
		" or raise `response` in this plan and in the switch's file"
)

// remedies are what to do after a failure, by the name of the step.
var remedies = map[string]string{
	"link":               "plug in the cable, and see that both cards take the module and have one rate",
	"flow control":       cardPauses,
	"wiring":             "compare the cables with the plan; if frames changed, change the cable or the card",
	"passed up":          cardPauses,
	"not acted on":       cardPauses,
	"line rate":          "if the card missed frames, " + late + "; else change cable, module or slot",
	"errors":             "cards-after.json has each counter; CRC errors are of the cable or the module",
	"through the switch": notOurs,
	"routes":             notOurs + "; compare the routes with the cables",
	"priorities":         notOurs,
	"XOFF's effect":      notOurs,
	"XON's effect":       late,
	"reaction time":      late,
	"pause's end":        notOurs,
	"not obeyed":         notOurs,
	"other priority":     notOurs,
	"PFC frames":         notOurs,
	"headroom":           late,
	"marking":            notOurs,
	"polls":              late,
	"accounts":           notOurs,
	"pacing":             late + ", if packets are late; a rate that is off is the card's clock",
	"figure 11":          "figure11.log says why",
	"cards":              "cards.stderr has all that was said",
	"figure11":           "figure11.stderr has all that was said",
	"switch":             "switch.stderr and accept-switch.log have all that was said",
	"switch-exchanged":   "switch-exchanged.stderr and accept-switch-exchanged.log have all that was said",
}

// verdict of an assertion.
func verdict(ok bool) Verdict {
	if ok {
		return Passed
	}
	return Failed
}
