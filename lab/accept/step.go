package accept

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
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
	Why      string             `json:"why,omitempty"` // it is not possible
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
	return text
}

// report collects the steps of a stage: a line each for the reader, and a file of JSON, one a line.
type report struct {
	stage string
	out   io.Writer
	file  *os.File
}

func newReport(stage, file string, out io.Writer) (*report, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	return &report{stage, out, f}, err
}

func (r *report) add(s Step) error {
	s.Stage = r.stage
	b, err := json.Marshal(&s)
	if err != nil {
		return err
	}
	fmt.Fprintln(r.out, s.String())
	_, err = r.file.Write(append(b, '\n'))
	return err
}

// verdict of an assertion.
func verdict(ok bool) Verdict {
	if ok {
		return Passed
	}
	return Failed
}
