package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A second Ctrl-C ends a command that does not heed the first, as one that waits for a file or runs a scheme without
// end.
func TestSecondInterruptEnds(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	pipe := filepath.Join(t.TempDir(), "experiment.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	c, said := photon(ctx, nil, "check", pipe)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var writer *os.File // once there is one photon reads, and waits for what is never written
	for writer == nil {
		writer, _ = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		select {
		case err := <-ended:
			t.Fatalf("it does not read the file: %v\n%s", err, said)
		case <-time.After(5 * time.Millisecond):
		}
	}
	defer writer.Close()
	for {
		_ = c.Process.Signal(syscall.SIGINT) // it may have ended
		select {
		case <-ended:
			if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGINT {
				t.Errorf("it ended with %v\n%s", c.ProcessState, said)
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
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		pipe := filepath.Join(t.TempDir(), "experiment.yaml")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		c, said := photon(ctx, nil, "check", pipe)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // once there is one photon reads, and waits for more
		if err != nil {
			t.Fatal(err)
		}
		defer writer.Close()
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // by a signal
		if end, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || !end.Signaled() || ctx.Err() != nil {
			t.Errorf("after %v: it ended with %v", s, c.ProcessState)
		}
		if all := fmt.Sprint(said); !strings.Contains(all, "goroutine ") {
			t.Errorf("after %v it said nothing of where it was: %q", s, all)
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
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	c, said := photon(ctx, nil, "check", pipe)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when it reads, and then it waits for what nobody writes
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if s := c.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != syscall.SIGTERM {
		t.Errorf("photon check ended with %v: %s", c.ProcessState, said)
	}
}
