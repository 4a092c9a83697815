package main

import (
	"bufio"
	"bytes"
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

func resume(pid int) { syscall.Kill(pid, syscall.SIGCONT) }

// halt stops a process, and returns when all its threads stand still.
func halt(pid int) {
	syscall.Kill(pid, syscall.SIGSTOP)
	for late := time.Now().Add(patience); running(pid) && time.Now().Before(late); {
		time.Sleep(50 * time.Microsecond)
	}
}

func running(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		if at := bytes.LastIndexByte(b, ')'); at > 0 && !bytes.HasPrefix(b[at:], []byte(") T")) {
			return true
		}
	}
	return false
}

// wait tries until it is done.
func wait(done func() error) (err error) {
	for late := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if err = done(); err == nil || time.Now().After(late) {
			return err
		}
	}
}

// process is a contestant that is spoken to through its standard input.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	tail  []string // last lines, for an error
}

func startProcess(environment []string, name string, arguments ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, arguments...), lines: make(chan string, 1024)}
	p.cmd.Env = environment
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
