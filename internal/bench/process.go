package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// patience is for what a busy machine does slowly.
const patience = 3 * time.Minute

func halt(pid int)   { syscall.Kill(pid, syscall.SIGSTOP) }
func resume(pid int) { syscall.Kill(pid, syscall.SIGCONT) }

// usage is the processor time that each thread of a process has had.
type usage map[string]time.Duration

func threads(pid int) (usage, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("process %d has gone", pid)
	}
	u := usage{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // a thread that ended
		}
		var ns int64
		if _, err := fmt.Sscan(string(b), &ns); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		u[f] = time.Duration(ns)
	}
	return u, nil
}

// busiest is what the busiest thread used between two looks.
func (u usage) busiest(later usage) (most time.Duration) {
	for f, ns := range later {
		most = max(most, ns-u[f])
	}
	return most
}

// process is a contestant that is spoken to through its standard input.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	tail  []string // last lines, for an error
}

func startProcess(name string, arguments ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, arguments...), lines: make(chan string, 1024)}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, w := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = w, w
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
		close(p.lines)
	}()
	go func() {
		p.cmd.Wait()
		w.Close()
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) say(s string) error {
	_, err := io.WriteString(p.in, s+"\n")
	return err
}

// expect returns the first line that contains what is wanted.
func (p *process) expect(want string) (string, error) {
	late := time.After(patience)
	for {
		select {
		case l, ok := <-p.lines:
			if !ok {
				return "", fmt.Errorf("it ended: %s", strings.Join(p.tail, " | "))
			}
			if p.tail = append(p.tail, l); len(p.tail) > 8 {
				p.tail = p.tail[1:]
			}
			if strings.Contains(l, want) {
				return l, nil
			}
		case <-late:
			return "", fmt.Errorf("no %q after %v: %s", want, patience, strings.Join(p.tail, " | "))
		}
	}
}

// end waits until the process ends by itself, and ends it if it does not.
func (p *process) end() error {
	p.in.Close()
	late := time.After(patience)
	for {
		select {
		case l, ok := <-p.lines:
			if !ok {
				if code := p.cmd.ProcessState.ExitCode(); code != 0 {
					return fmt.Errorf("exit code %d: %s", code, strings.Join(p.tail, " | "))
				}
				return nil
			}
			p.tail = append(p.tail, l)
		case <-late:
			p.cmd.Process.Kill()
			return errors.New("it did not end")
		}
	}
}

// cores are the first core, for what is not measured, and the last, for what is.
func cores() (others, polling int, err error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0, err
	}
	for l := range strings.Lines(string(b)) {
		if list, ok := strings.CutPrefix(l, "Cpus_allowed_list:"); ok {
			list = strings.TrimSpace(list)
			first := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '-' })
			if len(first) < 2 {
				return 0, 0, errors.New("this needs two cores")
			}
			fmt.Sscan(first[0], &others)
			fmt.Sscan(first[len(first)-1], &polling)
			return others, polling, nil
		}
	}
	return 0, 0, errors.New("/proc/self/status: no Cpus_allowed_list")
}
