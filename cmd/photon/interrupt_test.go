package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// reader is a photon that reads a file, and waits for what is never written.
type reader struct {
	*exec.Cmd
	said  *bytes.Buffer
	ended chan error
}

// startReader starts one, and returns when it reads.
func startReader(t *testing.T) *reader {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	t.Cleanup(stop)
	pipe := filepath.Join(t.TempDir(), "experiment.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	r := &reader{ended: make(chan error, 1)}
	if r.Cmd, r.said = photon(ctx, nil, "check", pipe); r.Start() != nil {
		t.Fatal("photon does not start")
	}
	go func() { r.ended <- r.Wait() }()
	for {
		if writer, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // it reads
			t.Cleanup(func() { writer.Close() })
			return r
		}
		select {
		case err := <-r.ended:
			t.Fatalf("it does not read the file: %v\n%s", err, r.said)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// endedBy reports which signal ended it; 0: none did.
func (r *reader) endedBy() syscall.Signal {
	if s, ok := r.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return s.Signal()
	}
	return 0
}

// A second Ctrl-C ends a command that does not heed the first, as one that waits for a file or runs a scheme without
// end.
func TestSecondInterruptEnds(t *testing.T) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT) // in a script's background, programs that the tests start would ignore it
	defer signal.Stop(caught)
	r := startReader(t)
	for {
		_ = r.Process.Signal(syscall.SIGINT) // it may have ended
		select {
		case <-r.ended:
			if r.endedBy() != syscall.SIGINT {
				t.Errorf("it ended with %v\n%s", r.ProcessState, r.said)
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A crash is no mistake of the user, which exit code 2 says: systemd would not restart what ends so (the units'
// RestartPreventExitStatus). SIGABRT is what systemd sends to a switch that hangs, SIGSEGV what broken code gets.
func TestCrashesAreNoMistakes(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGABRT, syscall.SIGSEGV} {
		r := startReader(t)
		if err := r.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		<-r.ended
		if by := r.endedBy(); by == 0 || by == syscall.SIGKILL { // which a test that waits too long sends
			t.Errorf("after %v: it ended with %v", s, r.ProcessState)
		}
		if !strings.Contains(r.said.String(), "goroutine ") {
			t.Errorf("after %v it said nothing of where it was: %q", s, r.said)
		}
	}
}

// The end of its terminal ends a command as Ctrl-C does: it says how to go on. Who started it with nohup wants it to
// live on.
func TestHangupEnds(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP) // under nohup, programs that the tests start would ignore it
	defer signal.Stop(caught)
	dir := t.TempDir()
	for _, nohup := range []bool{false, true} {
		text, file := manyRuns, filepath.Join(dir, "many.yaml")
		if !nohup {
			text = strings.Replace(text, "repeat: 8", "repeat: 8000", 1) // it has not ended when the signal comes
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, fmt.Sprint(nohup))
		c, said := photon(ctx, nil, "run", file, "--out", out)
		if nohup {
			c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh"}, c.Args...)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		until(ctx, t, filepath.Join(out, "test-many", "sim", "runs", "*.run"))
		if err := c.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		want, words := exitFailed, "the same command goes on from there\n"
		if nohup {
			want, words = 0, "report: "
		}
		if got := c.ProcessState.ExitCode(); got != want || !strings.Contains(said.String(), words) {
			t.Errorf("nohup %v: exit code %d, not %d\n%s", nohup, got, want, said)
		}
	}
}

// What only reads ends at once, wherever it is.
func TestAReaderEndsAtOnce(t *testing.T) {
	r := startReader(t)
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if <-r.ended; r.endedBy() != syscall.SIGTERM {
		t.Errorf("photon check ended with %v: %s", r.ProcessState, r.said)
	}
}
