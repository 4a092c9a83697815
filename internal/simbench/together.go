package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// slice is how long one of two runs has the machine before it is the other's turn: so
// short that both see the same speed, which changes within a second, and so long that what
// the other one left of the caches does not count: in twelve turns of hosts1024 and hosts16
// neither took more of the processor in slices of 40 or 100 ms than alone. The ratio of the
// two had a standard deviation of 6 % in slices, and of 15 % one after the other.
const slice = 50 * time.Millisecond

// isReady is the line by which a child says that it is.
const isReady = "ready\n"

// together runs steps, each in a process of its own. If there are two or more, they run
// one at a time, in slices: the others are stopped, which neither their processor time
// nor their wall time has in it. Each gets slices in proportion to the processor time that
// its last run took, so that they end at about the same time. Earlier runs may be missing.
//
// It returns what was measured in the order of the steps.
func together(steps []step, earlier map[step][]measured) ([]measured, error) {
	var children []*child
	defer func() {
		for _, c := range children {
			c.end()
		}
	}()
	for _, s := range steps {
		c, err := begin(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.c.name, err)
		}
		children = append(children, c)
	}
	lengths := shares(steps, earlier)
	for left := len(children); left > 0; {
		for i, c := range children {
			if c.over {
				continue
			}
			err := c.run(lengths[i], left == 1)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", steps[i].c.name, err)
			}
			if c.over {
				left--
			}
		}
	}
	made := make([]measured, len(children))
	for i, c := range children {
		made[i] = c.m
		made[i].Wall -= c.stopped(c.m.Ended)
	}
	return made, nil
}

// shares are the lengths of the steps' slices, one slice on average.
func shares(steps []step, earlier map[step][]measured) []time.Duration {
	lengths := make([]time.Duration, len(steps))
	var sum time.Duration
	for i, s := range steps {
		if runs := earlier[s]; len(runs) > 0 {
			lengths[i] = runs[len(runs)-1].Used
		}
		sum += lengths[i]
	}
	for i := range lengths {
		if lengths[i] == 0 || sum == 0 {
			lengths[i] = slice
		} else {
			lengths[i] = time.Duration(float64(slice) * float64(len(steps)) * float64(lengths[i]) / float64(sum))
		}
	}
	return lengths
}

// child is a process that runs a step.
type child struct {
	cmd    *exec.Cmd
	begins io.WriteCloser // a line here: its clock starts
	ended  chan error     // it is no more, and m is what it printed
	over   bool
	began  bool
	m      measured
	stops  []stop
}

// stop is a time in which a child stood still; to is zero until it goes on.
type stop struct{ from, to time.Time }

// begin has a step's network built, and returns when its clock can start.
func begin(s step) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{ended: make(chan error, 1)}
	c.cmd = exec.Command(self, "-child", "-wait", "-case", s.c.name, fmt.Sprintf("-each=%v", s.each), fmt.Sprintf("-cores=%d", s.cores))
	c.cmd.Stderr = os.Stderr
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it may stand still when this process ends
	if c.begins, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	pipe, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	out := bufio.NewReader(pipe)
	if said, err := out.ReadString('\n'); said != isReady {
		_ = c.cmd.Process.Kill() // it may be no more, which its error says
		return nil, errors.Join(fmt.Errorf("it said %q instead of being ready", said), err, c.cmd.Wait())
	}
	go func() {
		err := json.NewDecoder(out).Decode(&c.m)
		c.ended <- errors.Join(c.cmd.Wait(), err)
	}()
	return c, nil
}

// run lets it run so long, or to its end.
func (c *child) run(length time.Duration, alone bool) error {
	if err := c.resume(); err != nil {
		return err
	}
	var timer <-chan time.Time
	if !alone {
		timer = time.After(length)
	}
	select {
	case err := <-c.ended:
		c.over = true
		return err
	case <-timer:
		c.stops = append(c.stops, stop{from: time.Now()})
		return c.signal(syscall.SIGSTOP)
	}
}

func (c *child) resume() error {
	if !c.began {
		c.began = true
		_, err := io.WriteString(c.begins, "\n")
		return err
	}
	if n := len(c.stops); n > 0 && c.stops[n-1].to.IsZero() {
		c.stops[n-1].to = time.Now()
		return c.signal(syscall.SIGCONT)
	}
	return nil
}

// signal does nothing to a child that is no more: ended has its error.
func (c *child) signal(s syscall.Signal) error {
	if err := c.cmd.Process.Signal(s); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// stopped is how long it stood still before its clock stopped.
func (c *child) stopped(ended time.Time) (sum time.Duration) {
	for _, s := range c.stops {
		if s.from.Before(ended) && !s.to.IsZero() {
			sum += s.to.Sub(s.from)
		}
	}
	return sum
}

// end ends it if it is not over.
func (c *child) end() {
	if !c.over {
		_ = c.cmd.Process.Kill() // it may have ended just now
		<-c.ended
	}
}

// awaitStart is what a child does when its network is built.
func awaitStart(in io.Reader, out io.Writer) error {
	if _, err := io.WriteString(out, isReady); err != nil {
		return err
	}
	if _, err := bufio.NewReader(in).ReadByte(); err != nil {
		return fmt.Errorf("wait for the clock to start: %w", err)
	}
	return nil
}
