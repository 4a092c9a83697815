package accept

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"photon/telemetry/client"
	"photon/telemetry/show"
)

// child is a photon of a run: a switch, an agent.
type child struct {
	*client.Client
	name  string
	dir   string // of the run
	cmd   *exec.Cmd
	log   string // its file
	sock  string // folder of its socket: the path of a socket is short
	ended chan error
}

// start starts a photon with a configuration, and waits until it answers.
func start(ctx context.Context, dir, kind, name, text string) (_ *child, err error) {
	c := &child{name: name, dir: dir, log: filepath.Join(dir, name+".log"), ended: make(chan error, 1)}
	if c.sock, err = os.MkdirTemp("", "photon"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = c.stop() // err says more
		}
	}()
	socket, file := filepath.Join(c.sock, "s"), filepath.Join(dir, name+".yaml")
	text += fmt.Sprintf("name: %s\nadmin: %s\nmetrics: \"off\"\n", name, socket)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return nil, err
	}
	log, err := os.Create(c.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, kind, "-c", file)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		// The child is killed when the thread that started it ends, as that of a worker of DPDK does:
		// this one is the child's own.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	c.cmd = cmd
	c.Client = client.At(socket) // which it has not made yet
	err = eventually(ctx, func() bool {
		if _, err := c.Node(ctx); err == nil {
			return true
		}
		select {
		case failed := <-c.ended:
			c.ended <- failed
			return true
		default:
			return false
		}
	})
	if err == nil {
		_, err = c.Node(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("photon %s -c %s does not start: %s", kind, file, c.lastWords())
	}
	return c, nil
}

// lastWords is the last line of the child's log.
func (c *child) lastWords() string {
	b, _ := os.ReadFile(c.log)
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	return string(lines[len(lines)-1])
}

// stop ends the child. The error is of one that does not account for its frames.
func (c *child) stop() error {
	if c.Client != nil {
		c.Close()
	}
	defer os.RemoveAll(c.sock)
	if c.cmd == nil {
		return nil
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-c.ended:
		if err != nil {
			return fmt.Errorf("%s: %w: %s", c.name, err, c.lastWords())
		}
		return nil
	case <-time.After(patience):
		_ = c.cmd.Process.Kill()
		<-c.ended
		return fmt.Errorf("%s did not stop by SIGTERM", c.name)
	}
}

// topics are what is kept of a child before and after its steps.
var topics = []string{"ports", "pfc counters", "pfc history", "buffer", "queues", "marking", "losses", "events"}

// saveTopics writes what the child shows to files of the run.
func (c *child) saveTopics(ctx context.Context, when string) error {
	for _, name := range topics {
		topic, err := show.FindTopic(name)
		if err != nil {
			return err
		}
		_, raw, err := c.Show(ctx, topic)
		var refused client.Refused
		if errors.As(err, &refused) {
			continue // an agent has no buffer
		}
		if err != nil {
			return err
		}
		file := fmt.Sprintf("%s-%s-%s.json", c.name, when, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(filepath.Join(c.dir, file), raw, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// shown asks the child for a topic.
func (c *child) shown(ctx context.Context, name string, into any) error {
	topic, err := show.FindTopic(name)
	if err != nil {
		return err
	}
	_, raw, err := c.Show(ctx, topic)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// capture records a port into a file of the run until stop is called, or so many frames came; stop tells how it ended.
func (c *child) capture(
	ctx context.Context,
	port, file string,
	snap, frames int,
) (stop func() (client.Captured, error), err error) {
	f, err := os.Create(filepath.Join(c.dir, file))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	begun, done := make(chan struct{}), make(chan struct{})
	var got client.Captured
	var failed error
	go func() {
		defer close(done)
		got, failed = c.Capture(ctx, port, snap, frames, f, func() { close(begun) })
	}()
	select {
	case <-begun:
	case <-done:
	}
	return func() (client.Captured, error) {
		cancel()
		<-done
		return got, errors.Join(failed, f.Close())
	}, nil
}
