package accept

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Stages are those of a run, in their order.
var Stages = []string{"cards", "switch", exchanged, "pacing", "figure11"}

// exchanged is the stage of the switch with the ends of the cables exchanged.
const exchanged = "switch-exchanged"

// ofCards, ofSwitch and ofStage are the steps of stages.
var (
	ofCards  = []string{"link", "flow control", "wiring", "passed up", "not acted on", "line rate", "errors"}
	ofSwitch = []string{"through the switch", "routes", "priorities", "XOFF's effect", "reaction time", "XON's effect",
		"pause's end", "not obeyed", "other priority", "passed up", "headroom", "PFC frames", "marking", "polls",
		"accounts"}
	ofStage = map[string][]string{"cards": ofCards, "switch": ofSwitch, exchanged: ofSwitch, "pacing": {"pacing"},
		"figure11": {"figure 11"}}
)

// Only has the run do these stages and steps alone; none: all. What else a step needs is done, and not told of, unless
// it is why a stage cannot go on.
func (p *Plan) Only(names ...string) error {
	for _, name := range names {
		known := func(stage string) bool { return stage == name || slices.Contains(ofStage[stage], name) }
		if !slices.ContainsFunc(Stages, known) {
			steps := slices.Concat(ofCards, ofSwitch)
			slices.Sort(steps)
			return fmt.Errorf("there is no stage and no step %q: there are the stages %s, and the steps %s",
				name, strings.Join(Stages, ", "), strings.Join(slices.Compact(steps), ", "))
		}
		p.only = append(p.only, name)
	}
	return nil
}

// stages are those that the run has.
func (p *Plan) stages() (all []string) {
	for _, stage := range Stages {
		asked := report{stage: stage, only: p.only}
		if asked.wants(ofStage[stage]...) && (stage != exchanged || p.exchanges()) {
			all = append(all, stage)
		}
	}
	return all
}

const (
	stepsFile   = "steps.jsonl"
	linesFile   = "steps.txt"
	summaryFile = "summary.json"
)

// Summary is what came of a run.
type Summary struct {
	Version     string    `json:"version"` // of photon, Go and DPDK
	Plan        string    `json:"plan"`
	Only        []string  `json:"only,omitempty"` // stages and steps that were asked for; none: all
	Started     time.Time `json:"started"`
	Seconds     float64   `json:"seconds"`
	Passed      int       `json:"passed"`
	Failed      int       `json:"failed"`
	NotPossible int       `json:"not_possible"`
	Steps       []Step    `json:"steps"`
}

// Run runs all stages, each in a process of its own, and leaves what they measured in a folder. Each step is a
// line of out. An error that is a Refusal means that nothing was done.
func (p *Plan) Run(ctx context.Context, dir, version string, out io.Writer) (*Summary, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, Refusal{err}
	}
	for _, name := range []string{stepsFile, linesFile, summaryFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return nil, Refusal{fmt.Errorf("%s has %s of another run: name another folder by --out", dir, name)}
		}
	}
	lines, err := os.Create(filepath.Join(dir, linesFile))
	if err != nil {
		return nil, Refusal{err}
	}
	defer lines.Close()
	s := &Summary{Version: version, Plan: p.file, Only: p.only, Started: time.Now()}
	stages := p.stages()
	for _, stage := range stages {
		err := p.child(ctx, stage, dir, io.MultiWriter(out, lines))
		if refused := (Refusal{}); errors.As(err, &refused) && stage == stages[0] {
			_ = os.Remove(lines.Name()) // nothing was done
			return nil, err
		}
		if err != nil && ctx.Err() == nil {
			r, err2 := newReport(stage, filepath.Join(dir, stepsFile), io.MultiWriter(out, lines))
			if err2 != nil {
				return nil, err2
			}
			err = errors.Join(
				r.add(Step{Name: stage, Asserts: "the stage runs to its end", Measured: err.Error(), Verdict: Failed}),
				r.file.Close(),
			)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			break
		}
	}
	s.Seconds = time.Since(s.Started).Seconds()
	if err := s.read(filepath.Join(dir, stepsFile)); err != nil {
		return nil, err
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	return s, errors.Join(os.WriteFile(filepath.Join(dir, summaryFile), append(b, '\n'), 0o644), ctx.Err())
}

// read takes in the steps of all stages.
func (s *Summary) read(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var step Step
		if err := json.Unmarshal(lines.Bytes(), &step); err != nil {
			return err
		}
		s.Steps = append(s.Steps, step)
		switch step.Verdict {
		case Passed:
			s.Passed++
		case Failed:
			s.Failed++
		default:
			s.NotPossible++
		}
	}
	return nil
}

// child runs a stage in a process of its own.
func (p *Plan) child(ctx context.Context, stage, dir string, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"accept", p.file, "--out", dir, "--stage", stage}
	for _, name := range p.only {
		args = append(args, "--only", name)
	}
	c := exec.CommandContext(ctx, self, args...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 2 * patience
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	var errs bytes.Buffer
	c.Stdout, c.Stderr = out, &errs
	err = c.Run()
	if err == nil {
		return nil
	}
	log, said := errs.String(), errs.String()
	if i := strings.LastIndex(strings.TrimSpace(log), "\n"); i >= 0 {
		said = log[i+1:]
	}
	_ = os.WriteFile(filepath.Join(dir, stage+".stderr"), errs.Bytes(), 0o644) // said has the gist
	said = strings.TrimPrefix(strings.TrimSpace(said), "photon: ")
	if c.ProcessState != nil && c.ProcessState.ExitCode() == 2 {
		return Refusal{errors.New(said)}
	}
	return fmt.Errorf("%w: %s", err, said)
}

// Stage runs one stage, in this process.
func (p *Plan) Stage(ctx context.Context, stage, dir string, out io.Writer) (err error) {
	r, err := newReport(stage, filepath.Join(dir, stepsFile), out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.file.Close()) }()
	r.only = p.only
	if stage != "figure11" && len(p.Cables) == 0 {
		return r.add(
			Step{
				Name:    stage,
				Asserts: "the cards keep what photon relies on",
				Verdict: NotPossible,
				Why:     p.file + " has no `cables:`",
			},
		)
	}
	switch stage {
	case "cards":
		return p.cards(ctx, r, dir)
	case "switch":
		return p.toSwitch(ctx, r, dir, p.turn(false))
	case exchanged:
		return p.toSwitch(ctx, r, dir, p.turn(true))
	case "pacing":
		return p.pacing(ctx, r, dir)
	case "figure11":
		return p.figure11(ctx, r, dir)
	}
	return Refusal{fmt.Errorf("there is no stage %q", stage)}
}

// figure11 repeats PCN's figure 11 on a testbed.
func (p *Plan) figure11(ctx context.Context, r *report, dir string) error {
	step := Step{Name: "figure 11", Asserts: "PCN's figure 11 runs on the testbed, and loses nothing"}
	if !p.Figure11.IsSet() {
		step.Verdict, step.Why = NotPossible, p.file+" names no testbed (`figure11: testbed.yaml`)"
		return r.add(step)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(
		ctx,
		self,
		"replay",
		"pcn/fig11",
		"--world",
		"dpdk",
		"--testbed",
		p.Testbed(),
		"--out",
		filepath.Join(dir, "figure11"),
	)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 2 * patience
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	log, err := os.Create(filepath.Join(dir, "figure11.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c.Stdout, c.Stderr = log, log
	if err = c.Run(); ctx.Err() != nil {
		return ctx.Err()
	}
	step.Verdict, step.Measured = verdict(err == nil), "exit code 0; figure11/report.html has the figure"
	if err != nil {
		step.Measured = err.Error() + "; figure11.log says why"
	}
	return r.add(step)
}
